"""Reasoning between think tags is not shown, however the stream cuts it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.thinking import VisibleText


def visible(pieces: list[str]) -> str:
    filtered = VisibleText()
    return "".join(map(filtered.feed, pieces)) + filtered.end()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("<think>hidden</think>shown", "shown"),
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("<think>never closed", ""),
        ("1 < 2 and <thin", "1 < 2 and <thin"),
        ("", ""),
    ],
)
def test_what_lies_outside_the_tags_is_shown(text: str, shown: str) -> None:
    assert visible([text]) == shown


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "think", ">", "a", " ", "</"]), max_size=12).map(
        "".join
    ),
    st.data(),
)
def test_any_cutting_shows_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert visible(pieces) == visible([text])
