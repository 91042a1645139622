import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.thinking import VisibleText

PARTS = st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", "<think", "a < b", "\n", "SELECT 1"])


def shown(pieces: list[str]) -> str:
    visible = VisibleText()
    return "".join([*map(visible.feed, pieces), visible.end()])


@given(parts=st.lists(PARTS), cuts=st.sets(st.integers(0, 200)))
def test_what_is_visible_does_not_depend_on_where_the_text_is_cut(parts: list[str], cuts: set[int]) -> None:
    text = "".join(parts)
    bounds = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[start:stop] for start, stop in itertools.pairwise(bounds)]
    assert shown(pieces) == shown([text])


@given(st.text())
def test_text_without_tags_is_visible_as_it_is(text: str) -> None:
    text = text.replace("think", "")
    assert shown(list(text)) == text


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>hm</think>Yes.", "Yes."),
        ("One <think>a</think>two<think>b</think>.", "One two."),
        ("<think>never closed", ""),
        ("3 < 4 and <thin", "3 < 4 and <thin"),
        ("</think>stays", "</think>stays"),
        ("<think>a < b </thin</think>c", "c"),
    ],
)
def test_reasoning_is_hidden_and_nothing_else(text: str, visible: str) -> None:
    assert shown(list(text)) == visible


def test_text_is_shown_as_soon_as_it_cannot_begin_a_tag() -> None:
    visible = VisibleText()
    assert [visible.feed(piece) for piece in ("a <", "t", "h", "e b", "<think>")] == [
        "a ",
        "",
        "",
        "<the b",
        "",
    ]
