"""What other programs read of KAI is what `make wire` has recorded."""

import pytest

from tests.support.wire import FOLDER, READERS, description, first_difference, frames


def test_the_description_of_the_api_is_the_recorded_one() -> None:
    difference = first_difference((FOLDER / "openapi.json").read_text(), description())
    assert difference == ""


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_makes_the_recorded_frames_of_the_recorded_runs(reader: str) -> None:
    difference = first_difference((FOLDER / f"{reader}.txt").read_text(), frames(reader))
    assert difference == ""


def test_the_first_line_that_differs_is_named() -> None:
    assert first_difference("a\nb\nc\n", "a\nb\nd\ne\n") == "line 3:\na\nb\nrecorded: c\nfound:    d"
    assert first_difference("a\n", "a\nb\n") == "line 2:\na\nrecorded: None\nfound:    b"
