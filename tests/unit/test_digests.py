"""Conversations in short lines, and texts cut at a sentence."""

import pytest

from app.core.llm.tokens import approximate_tokens
from app.modules.run.summary import MAX_TOKENS, cut_at_sentence, digest, kept_statements
from graph.state import PastExchange


def exchange(
    query: str, sql: str | None = None, found: str | None = None, said: str = "Fine."
) -> PastExchange:
    return PastExchange(
        id="m",
        role="assistant",
        query=query,
        sql=sql,
        results_summary=found,
        analysis=said,
        timestamp="2026-01-01T00:00:00Z",
    )


COUNTED = exchange("How many orders?", "SELECT count(*) FROM orders", "1 row of n: 4")


def test_a_digest_says_what_was_asked_found_and_run() -> None:
    assert digest(None, [COUNTED]) == (
        "Asked: How many orders? Found: 1 row of n: 4 SQL: SELECT count(*) FROM orders"
    )


def test_a_digest_goes_on_from_an_earlier_one_and_from_a_models_words() -> None:
    assert digest("The analyst counts.", [COUNTED]).splitlines()[0] == "The analyst counts."
    assert digest(digest(None, [COUNTED]), [COUNTED]).splitlines() == 2 * [digest(None, [COUNTED])]


def test_statements_go_first_then_findings_and_questions_last() -> None:
    long = exchange("How many orders came in that month?", "SELECT 1 " * 20, "1 row of n: 4")
    made = digest(None, 15 * [long])
    assert made.startswith("Asked: How many orders came in that month? Found: 1 row of n: 4\n")
    assert "SQL: " in made.splitlines()[-1]
    assert digest(None, 36 * [long]).splitlines()[0] == "Asked: How many orders came in that month?"


@pytest.mark.parametrize(
    "said",
    [
        "Only consider orders from 2025 from now on.",
        "Ignore cancelled orders.",
        "By revenue I mean net of tax",
        "Remember that our fiscal year starts in April",
        "Can you leave out Norway in all answers?",
        "We do not count test customers",
        "The euro is our currency",
    ],
)
def test_what_an_analyst_laid_down_stays_the_longest(said: str) -> None:
    made: str | None = None
    for number in range(60):
        made = digest(
            made, [exchange(said if number == 1 else f"How many orders were there in week {number}?")]
        )
    assert made is not None
    assert f"Asked: {said}" in made
    assert "Asked: How many orders were there in week 59?" in made
    assert approximate_tokens(made) <= MAX_TOKENS


def test_a_digest_is_bounded_whatever_was_said() -> None:
    endless = [exchange("Always use euros. " * 400, "SELECT 1 " * 900, "n: 1 " * 900, "so " * 900)]
    assert approximate_tokens(digest("word " * 3_000, 40 * endless)) <= MAX_TOKENS


def test_what_was_laid_down_is_kept_in_the_analysts_words() -> None:
    rule = exchange("From now on ignore returns.", "SELECT 1", said="I will.")
    assert kept_statements(None, [rule, COUNTED, rule]) == ["Asked: From now on ignore returns."]
    assert kept_statements(digest(None, [rule]), [COUNTED]) == ["Asked: From now on ignore returns."]
    many = [exchange(f"From now on ignore returns of shop {number}.") for number in range(100)]
    assert 5 < len(kept_statements(None, many)) < 20


def test_a_text_is_cut_after_its_last_whole_sentence_or_line() -> None:
    assert cut_at_sentence("One is 1.5 long. Two follows. Thr", 100) == "One is 1.5 long. Two follows."
    assert cut_at_sentence("One. Two is rather long.", 3) == "One."
    assert cut_at_sentence("- one thing\n- another thing\n- a thi", 100) == "- one thing\n- another thing"
    assert cut_at_sentence("word " * 30, 5) == "word word word word"
    assert cut_at_sentence("x" * 100, 5) == "x" * 20
    assert cut_at_sentence("順番です。次です。そし", 100) == "順番です。次です。"
