"""The budget of a prompt: what a window leaves, who gets it first, and what a cut text says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.model import PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.prompts.budget import cut, granted, has_room_for, prompt_room, prompt_tokens

WANTED = st.dictionaries(
    st.sampled_from(["rules", "question", "steps", "schema", "page"]), st.integers(0, 900)
)
TEXTS = st.lists(st.text(st.sampled_from("aB 9@#\n.é漢"), max_size=60), max_size=30).map(" ".join)


def test_the_room_is_the_window_without_reply_tools_and_a_tenth() -> None:
    assert prompt_room(32_000, output_tokens=4_096, tools_tokens=2_000) == 32_000 - 4_096 - 2_000 - 3_200


def test_a_reply_takes_at_most_half_of_a_window() -> None:
    assert prompt_room(4_000, output_tokens=4_096) == 4_000 - 2_000 - 400
    assert prompt_room(16, output_tokens=4_096, tools_tokens=500) == 0


@given(WANTED, st.integers(-10, 3_000))
def test_sections_together_never_get_more_than_the_room_nor_one_more_than_it_wants(
    wanted: dict[str, int], room: int
) -> None:
    grants = granted(wanted, room)
    assert sum(grants.values()) <= max(room, 0)
    assert all(0 <= grants[name] <= tokens for name, tokens in wanted.items())
    if sum(wanted.values()) <= room:
        assert grants == wanted


@given(WANTED, st.integers(0, 3_000))
def test_a_later_section_gets_more_than_a_line_only_if_the_earlier_ones_have_all(
    wanted: dict[str, int], room: int
) -> None:
    grants = granted(wanted, room)
    names = list(wanted)
    for at, name in enumerate(names):
        if grants[name] > (200 if name == "question" else 40):
            assert all(grants[earlier] == wanted[earlier] for earlier in names[:at])


def test_every_section_keeps_room_for_a_line_and_the_question_for_more() -> None:
    wanted = {"rules": 2_000, "question": 500, "steps": 900, "schema": 6_000}
    assert granted(wanted, 700) == {"rules": 420, "question": 200, "steps": 40, "schema": 40}


@given(TEXTS, st.integers(0, 200))
def test_a_cut_text_is_within_its_tokens_and_says_what_was_cut(text: str, tokens: int) -> None:
    shown = cut(text, tokens, "the schema")
    assert approximate_tokens(shown) <= tokens
    line = "(cut: there is no room for the rest of the schema)"
    if approximate_tokens(text) <= tokens:
        assert shown == text
    elif tokens >= 40:
        kept = shown.removesuffix(line)
        assert kept != shown
        assert text.startswith(kept.rstrip("\n"))


def test_a_text_is_cut_at_the_end_of_a_line() -> None:
    text = "\n".join(f"line number {number}" for number in range(100))
    *kept, line = cut(text, 60, "the list").splitlines()
    assert kept == text.splitlines()[: len(kept)]
    assert len(kept) > 3
    assert line == "(cut: there is no room for the rest of the list)"


def test_a_long_line_is_cut_at_the_end_of_a_word() -> None:
    kept, _ = cut("word " * 400, 60, "the question").splitlines()
    assert set(kept.split()) == {"word"}
    assert len(kept.split()) > 20


@given(TEXTS, st.integers(0, 4_000))
def test_messages_that_have_room_have_it_by_their_tokens(text: str, room: int) -> None:
    messages = [PromptMessage("user", text)]
    assert has_room_for(messages, room) == (prompt_tokens(messages) <= room)


@pytest.mark.parametrize("character", ["@", "9", "É", "漢", "\U0001f600", " 9"])
def test_no_text_counts_for_more_tokens_than_three_a_character(character: str) -> None:
    for count in (1, 2, 50):
        messages = [PromptMessage("user", character * count)]
        assert prompt_tokens(messages) <= 3 * len(character) * count + 4
