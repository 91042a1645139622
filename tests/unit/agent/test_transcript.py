"""The prompt of a step within the room of a model's window."""

from collections.abc import Sequence
from datetime import date

import pytest

from app.core.llm.model import PromptMessage
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.transcript import investigation_messages
from app.modules.prompts.budget import prompt_tokens
from app.modules.records.steps import CallRecord, KeptResult, StepRecord
from graph.ports import Question
from graph.state import Context, PastExchange

TODAY = date(2026, 11, 22)
CONTEXT = Context(
    schema="## Schema\n" + "\n".join(f"CREATE TABLE table_{number} (id integer);" for number in range(150)),
    details="## Glossary\n" + "\n".join(f"- term {number}: a meaning" for number in range(60)),
    page="## What the page shows\n" + "\n".join(f"- statement {number}" for number in range(60)),
    precedents=[],
    rules="## Rules\n" + "\n".join(f"Rule {number} holds." for number in range(60)),
    rules_left_out=[],
    used=None,
)
EXCHANGES = [
    PastExchange(
        id=str(number),
        role="assistant",
        query=f"Earlier question {number}?",
        sql=None,
        results_summary=None,
        analysis=f"Earlier answer {number}. " * 20,
        timestamp="",
    )
    for number in range(5)
]
QUESTION = Question(text="Why did revenue fall?", exchanges=EXCHANGES, summary="They spoke of revenue. " * 20)
ROWS = KeptResult(
    sql="SELECT 1",
    database="shop",
    dialect="sqlite",
    columns=[],
    row_count=100,
    truncated=False,
    cut_by=None,
)


def step(number: int, *, text: str = "", context: Context | None = None) -> StepRecord:
    return StepRecord(
        id=f"step {number}",
        owner="ada",
        session_id="s",
        message_id="m",
        step=number,
        kind="opening" if number == 0 else "calls",
        text=text or f"Thought {number}.",
        call_ids=[f"{number}.0", f"{number}.1"] if number else [],
        created_at=0,
        findings=[],
        options=[],
        context=context,
    )


def call(number: int, position: int, rows: int = 60, sql: str = "SELECT 1") -> CallRecord:
    lines = "\n".join(f"result {number}.{position} row {row}" for row in range(rows))
    return CallRecord(
        id=f"{number}.{position}",
        owner="ada",
        session_id="s",
        message_id="m",
        run_id="r",
        step=number,
        position=position,
        tool="run_sql",
        category="read",
        arguments={"sql": sql},
        status="done",
        text=f"{lines}\nlast row of {number}.{position}",
        result=ROWS,
        created_at=0,
    )


def prompt(
    room: int | None, count: int = 6, *, context: Context = CONTEXT, rows: int = 60, sql: str = "SELECT 1"
) -> list[PromptMessage]:
    taken = [step(0, text="1. Totals", context=context), *(step(number) for number in range(1, count + 1))]

    def calls_of(of: StepRecord) -> Sequence[CallRecord]:
        return [call(of.step, position, rows, sql) for position in range(len(of.call_ids))]

    return investigation_messages(
        QUESTION, taken, calls_of, today=TODAY, limits=InvestigationLimits(), room=room
    )


def text_of(messages: Sequence[PromptMessage]) -> str:
    return "\n".join(message.content for message in messages)


WHOLE = prompt(None)
TOKENS = prompt_tokens(WHOLE)
FIXED = 900
"""More than the instructions take."""


def test_a_prompt_that_fits_is_the_one_without_a_known_window() -> None:
    assert prompt(TOKENS) == WHOLE
    assert prompt(120_000) == WHOLE
    assert prompt(TOKENS - 1) != WHOLE


@pytest.mark.parametrize("count", [0, 1, 9])
@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT 'a long text' " * 200])
@pytest.mark.parametrize("rows", [3, 300])
def test_no_prompt_is_over_its_room(count: int, sql: str, rows: int) -> None:
    for room in (FIXED + 200, 1_700, 3_000, 6_000):
        messages = prompt(room, count, rows=rows, sql=sql)
        assert prompt_tokens(messages) <= room
        assert "Why did revenue fall?" in text_of(messages)


@pytest.mark.parametrize("room", [0, 300, 1_100, 2_000, 4_000, 8_000])
def test_each_call_that_is_shown_is_answered(room: int) -> None:
    messages = prompt(room)
    asked = [made.id for message in messages for made in message.calls]
    assert asked == [message.call_id for message in messages if message.role == "tool"]


def test_what_is_cut_first_has_the_least_right() -> None:
    signs = {
        "conversation": "(cut: there is no room for earlier messages)",
        "page": "the rest of what the page shows)",
        "knowledge": "the rest of what was looked up for the question)",
        "schema": "the rest of the schema)",
        "steps": "(cut: there is no room for step",
        "rules": "the rest of the rules)",
    }
    first: dict[str, int] = {}
    for room in range(TOKENS, 300, -200):
        shown = text_of(prompt(room))
        for name, sign in signs.items():
            if sign in shown:
                first.setdefault(name, room)
    assert list(first) == list(signs)
    assert sorted(first.values(), reverse=True) == list(first.values())


def test_the_newest_results_stay_whole_while_the_schema_is_cut() -> None:
    shown = text_of(prompt(5_000))
    assert "the rest of the schema)" in shown
    assert "last row of 6.0" in shown
    assert "last row of 6.1" in shown
    assert "last row of 5.0" not in shown
    assert "result 1.0 row 0\n" in shown
    assert "(cut: this result is older. read_rows shows rows of r1.1 again.)" in shown


def test_older_results_are_whole_as_far_as_the_others_leave_room() -> None:
    small = Context(**{**CONTEXT, "schema": "", "details": "", "page": "", "rules": ""})
    whole = prompt_tokens(prompt(None, context=small))
    shown = text_of(prompt(whole - 300, context=small))
    assert "last row of 6.0" in shown
    assert "last row of 5.0" in shown
    assert "last row of 1.1" not in shown


def test_steps_without_room_are_left_out_with_the_names_of_their_results() -> None:
    shown = text_of(prompt(FIXED + 1_700, 12))
    assert "(cut: there is no room for steps 1 to " in shown
    assert " read_rows shows rows of their results: " in shown
    assert "Thought 12." in shown
    assert "Thought 1." not in shown


def test_a_step_larger_than_the_room_is_cut_with_lines_that_say_so() -> None:
    shown = text_of(prompt(FIXED + 1_500, 1, rows=600, sql="SELECT 'a long text' " * 200))
    assert "result 1.0 row 0" in shown
    assert "result 1.1 row 0" in shown
    assert "(cut: there is no room for the rest of this result; read_rows shows rows of r1.1)" in shown
