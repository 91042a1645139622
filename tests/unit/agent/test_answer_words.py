"""What remains of an answer's words when the sentences that a gate refuses are left out."""

import pytest

from app.modules.agent.answer_words import keep_words


def find_fault(sentence: str) -> str | None:
    return "a figure" if any(map(str.isdigit, sentence)) else None


@pytest.mark.parametrize(
    ("text", "kept", "left_out"),
    [
        ("It may be a discount. It was 12 units.", "It may be a discount.", 1),
        ("It was\n12 units. It may be\na discount.", "It may be a discount.", 1),
        ("1. Look at it.\n2. It was 12.\n", "1. Look at it.", 1),
        ("# Causes\nIt was 12.\n\n# Open\nThe reason.", "# Open\nThe reason.", 1),
        ("## 12 causes\nA discount.", "A discount.", 1),
        ("| a | b |\n|---|---|\n| x | 12 |\n\nOpen.", "Open.", 1),
        ("| a | b |\n|---|---|\n| x | 12 |\n| y | z |", "| a | b |\n|---|---|\n| y | z |", 1),
        ("```sql\nSELECT 12\n```\nRun it.", "```sql\nSELECT 12\n```\nRun it.", 0),
        ("```\nrevenue 12\n```\nOpen.", "Open.", 1),
        ("See [the page](https://example.org/12).", "See [the page](https://example.org/12).", 0),
        ("See [12 pages](https://example.org).", "", 1),
        ("12", "", 1),
    ],
)
def test_a_text_keeps_its_form_without_the_sentences_that_are_refused(
    text: str, kept: str, left_out: int
) -> None:
    found = keep_words(text, find_fault)
    assert (found.text, len(found.faults)) == (kept, left_out)


@pytest.mark.parametrize(("text", "begins"), [("So it is.", True), ("- So it is.", False), ("# So", False)])
def test_a_text_that_begins_with_a_sentence_is_known(text: str, begins: bool) -> None:
    assert keep_words(f"{text}\nIt is.", find_fault).begins_with_sentence == begins
