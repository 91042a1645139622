"""An answer as a text that only grows."""

import pytest

from app.modules.protocols.openai.text import AnswerText, cell, fenced, table
from graph.events import AnalysisChunk, ClarificationChunk, Reset, SessionEvent, SqlChunk, TextChunk
from graph.state import Rows
from tests.unit.protocols.said import ANALYSIS, HEAD, PARTS, PIECES, ROWS, SQL

BEGIN_AGAIN = Reset(reason="The worker has died.")


def text_of(*events: SessionEvent) -> str:
    text = AnswerText()
    return "".join(text.add(each) for each in events)


def test_statement_rows_analysis_and_suggestions_follow_each_other() -> None:
    assert text_of(*PARTS) == (
        "```sql\nSELECT name, 1 FROM customers\n```\n\n"
        "| name | n |\n| --- | --- |\n| Ada | 1 |\n| Ben |  |\n\n*1 more row*\n\n"
        "Ada has one."
        "\n\n- How many in Brazil?\n"
    )


def test_the_text_is_that_of_the_analysis_with_and_without_pieces() -> None:
    assert text_of(ANALYSIS) == text_of(*PIECES, ANALYSIS) == "Ada has one."


def test_an_analysis_that_differs_from_its_pieces_follows_them_in_full() -> None:
    assert text_of(*PIECES, AnalysisChunk(content="None at all.")) == "Ada has one\n\n---\n\nNone at all."


def test_what_the_client_has_is_not_repeated_after_a_reset() -> None:
    assert text_of(SQL, ROWS, *PIECES, BEGIN_AGAIN, *PARTS) == text_of(*PARTS)


def test_a_second_reset_while_parts_are_repeated_loses_nothing() -> None:
    assert text_of(SQL, ROWS, *PIECES, BEGIN_AGAIN, SQL, BEGIN_AGAIN, *PARTS) == text_of(*PARTS)


def test_another_answer_after_a_reset_follows_in_full() -> None:
    other = SqlChunk(content="SELECT 2")
    assert text_of(SQL, BEGIN_AGAIN, other) == text_of(SQL) + (
        "\n\n---\n\n*The answer began again.*\n\n" + text_of(other)
    )


def test_a_reset_before_everything_says_nothing() -> None:
    assert text_of(BEGIN_AGAIN, ANALYSIS) == "Ada has one."


def test_a_corrected_statement_is_shown_as_such() -> None:
    assert text_of(SQL, SqlChunk(content="SELECT 2")).endswith(
        "*Corrected statement:*\n\n```sql\nSELECT 2\n```\n\n"
    )


def test_statements_and_rows_of_an_investigation_are_left_out() -> None:
    of_a_call = {"tool_call_id": "call"}
    assert not text_of(SQL.model_copy(update=of_a_call), ROWS.model_copy(update=of_a_call))
    assert not text_of(TextChunk(content="I will look.", channel="investigation"))


def test_readings_of_a_question_back_are_numbered() -> None:
    asked = ClarificationChunk(
        content="Which date?",
        options=[{"label": "order date", "question": "a"}, {"label": "ship date", "question": "b"}],
    )
    assert text_of(asked) == "Which date?\n\n1. order date\n2. ship date\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a|b", r"a\|b"),
        ("two\nlines\u2028more", "two lines more"),
        ("<script>", r"\<script\>"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("`*_~\\", r"\`\*\_\~" + "\\\\"),
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        ("x" * 600, "x" * 499 + "…"),
    ],
)
def test_a_cell_is_one_line_of_plain_text(value: str | float | None, shown: str) -> None:
    assert cell(value) == shown


def test_a_table_has_at_most_twenty_rows() -> None:
    rows: Rows = {**HEAD, "rows": [[f"{number}", number] for number in range(30)], "row_count": 1_234}
    lines = table(rows).splitlines()
    assert len([each for each in lines if each.startswith("|")]) == 22
    assert lines[-2] == "*1,214 more rows*"


def test_a_result_without_columns_is_no_table() -> None:
    assert not table({**HEAD, "columns": [], "rows": []})


def test_no_text_of_a_statement_ends_its_block() -> None:
    assert fenced("SELECT '```'") == "````sql\nSELECT '```'\n````\n\n"
