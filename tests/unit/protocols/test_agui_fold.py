"""The events of a run as events of AG-UI, held to its validator."""

import json
from typing import Any

from ag_ui_validate.pytest_plugin import assert_valid_agui

from app.modules.protocols.agui.fold import EventFold
from graph.events import (
    AnalysisChunk,
    Reset,
    SessionEvent,
    SqlChunk,
    Status,
    TextChunk,
    ToolCalled,
    ToolReturned,
)
from tests.unit.protocols.said import (
    ANALYSIS,
    ASKED,
    CHART,
    HEADLINE,
    LEFT_OUT,
    MODEL_DOWN,
    PARTS,
    PIECES,
    REFERENCES,
    ROWS,
    RUN,
    SQL,
    SUGGESTIONS,
    done,
    step,
)

AGAIN = Reset(reason="The worker has died.")
CALLED = ToolCalled(tool_call_id="call", step=1, name="sample", category="read", arguments={"n": 1})
RETURNED = ToolReturned(tool_call_id="call", status="done", content="1 row", is_error=False, elapsed_ms=1)


def folded(*events: SessionEvent) -> list[Any]:
    """The events of a whole run, which the validator has nothing against."""
    fold = EventFold(RUN, "thread", "client-run")
    frames = [*fold.begin(), *(frame for event in events for frame in fold.frames(event))]
    found = [json.loads(each.data) for each in frames]
    assert_valid_agui(found, max_warnings=0)
    return found


def kinds(found: list[Any]) -> list[str]:
    return [each["type"] for each in found]


def of_kind(found: list[Any], kind: str) -> list[Any]:
    return [each for each in found if each["type"] == kind]


def test_a_run_is_steps_a_call_a_text_a_chart_and_suggestions() -> None:
    found = folded(
        step("generating_sql"),
        PIECES[0],
        SQL,
        step("executing_sql"),
        ROWS,
        step("analyzing"),
        *PIECES[1:],
        ANALYSIS,
        CHART,
        SUGGESTIONS,
        done(),
    )
    assert kinds(found) == [
        "RUN_STARTED",
        "CUSTOM",
        "STEP_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TOOL_CALL_RESULT",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "ACTIVITY_SNAPSHOT",
        "CUSTOM",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ]
    assert found[0] == {
        "type": "RUN_STARTED",
        "threadId": "thread",
        "runId": "client-run",
        "protocolVersion": "1.0",
    }
    assert found[1] == {"type": "CUSTOM", "name": "kai.session", "value": {"session_id": "session"}}
    assert found[-1]["outcome"] == {"type": "success"}
    assert found[-1]["result"] == {"session_id": "session", "run_id": "run", "message_id": "answer"}
    assert found[-1]["usage"][0]["totalTokens"] == 7


def test_ids_are_those_of_the_messages() -> None:
    found = folded(*PARTS, done())
    (call,), (result,) = of_kind(found, "TOOL_CALL_START"), of_kind(found, "TOOL_CALL_RESULT")
    assert (call["toolCallId"], call["parentMessageId"]) == ("call_answer", "answer-sql")
    assert (result["toolCallId"], result["messageId"]) == ("call_answer", "answer-rows")
    assert json.loads(result["content"])["row_count"] == 3
    assert {each["messageId"] for each in of_kind(found, "TEXT_MESSAGE_CONTENT")} == {"answer"}
    (chart,) = of_kind(found, "ACTIVITY_SNAPSHOT")
    assert (chart["activityType"], chart["content"]) == ("kai.chart", CHART.content)


def test_what_statements_were_computed_from_is_in_events_of_their_own() -> None:
    found = folded(*PIECES, HEADLINE, ANALYSIS, REFERENCES, LEFT_OUT, done())
    assert {each["name"]: each["value"] for each in of_kind(found, "CUSTOM")[1:]} == {
        "kai.headline": "Ada has one",
        "kai.references": REFERENCES.content,
        "kai.left_out": LEFT_OUT.content,
    }
    assert of_kind(found, "TEXT_MESSAGE_START") == [
        {"type": "TEXT_MESSAGE_START", "messageId": "answer", "role": "assistant"}
    ]


def test_the_text_is_the_analysis_with_and_without_pieces() -> None:
    for events in ([ANALYSIS], [*PIECES, ANALYSIS]):
        said = of_kind(folded(*events, done()), "TEXT_MESSAGE_CONTENT")
        assert "".join(each["delta"] for each in said) == "Ada has one."


def test_an_analysis_that_differs_from_its_pieces_is_a_text_of_its_own() -> None:
    found = folded(*PIECES, AnalysisChunk(content="None at all."), done())
    assert [each["messageId"] for each in of_kind(found, "TEXT_MESSAGE_START")] == ["answer", "answer-2"]
    assert of_kind(found, "TEXT_MESSAGE_CONTENT")[-1]["delta"] == "None at all."


def test_after_a_reset_everything_has_ids_of_its_own() -> None:
    found = folded(*PARTS[:4], AGAIN, *PARTS, done())
    assert [each["toolCallId"] for each in of_kind(found, "TOOL_CALL_START")] == [
        "call_answer",
        "call_answer-r1",
    ]
    assert [each["messageId"] for each in of_kind(found, "TEXT_MESSAGE_START")] == ["answer", "answer-r1"]
    assert {"type": "CUSTOM", "name": "kai.reset", "value": {"reason": AGAIN.reason}} in found


def test_a_reset_before_everything_changes_no_id() -> None:
    assert of_kind(folded(AGAIN, *PARTS, done()), "TEXT_MESSAGE_START")[0]["messageId"] == "answer"


def test_a_statement_that_failed_has_its_error_as_its_result() -> None:
    repairing = Status(step="repairing_sql", message="", run_id="run", failed_sql="x", error="No such column")
    found = folded(SQL, repairing, SqlChunk(content="SELECT 2"), ROWS, done())
    results = of_kind(found, "TOOL_CALL_RESULT")
    assert [each["toolCallId"] for each in results] == ["call_answer", "call_answer-2"]
    assert results[0]["content"] == "No such column"


def test_calls_of_an_investigation_are_calls() -> None:
    thought = TextChunk(content="I look at the rows.", channel="investigation")
    found = folded(thought, CALLED, RETURNED, thought, ANALYSIS, done())
    assert [each["toolCallName"] for each in of_kind(found, "TOOL_CALL_START")] == ["sample"]
    assert of_kind(found, "TOOL_CALL_RESULT")[0]["content"] == "1 row"
    assert [each["messageId"] for each in of_kind(found, "TEXT_MESSAGE_START")] == [
        "answer-step-1",
        "answer-step-2",
        "answer",
    ]


def test_the_result_of_a_call_of_an_earlier_run_belongs_to_it_if_the_client_shows_it() -> None:
    found = folded(RETURNED, done())
    assert [each["name"] for each in of_kind(found, "CUSTOM")] == ["kai.session", "kai.tool_result"]
    (frame,) = EventFold(RUN, "thread", "client-run", known_calls=["call"]).frames(RETURNED)
    result = json.loads(frame.data)
    assert (result["type"], result["toolCallId"]) == ("TOOL_CALL_RESULT", "call")


def test_calls_that_wait_are_interrupts() -> None:
    found = folded(CALLED, ASKED, done("awaiting_approval"))
    outcome = found[-1]["outcome"]
    assert outcome["type"] == "interrupt"
    (interrupt,) = outcome["interrupts"]
    assert (interrupt["id"], interrupt["toolCallId"], interrupt["message"]) == (
        "call",
        "call",
        "Save an example",
    )
    assert interrupt["metadata"]["action_requests"][0]["args"] == {"question": "How many?"}


def test_a_failed_run_ends_with_its_error_and_a_cancelled_one_says_so() -> None:
    failed = folded(step("generating_sql"), MODEL_DOWN, done("failed"))
    assert (failed[-1]["type"], failed[-1]["code"]) == ("RUN_ERROR", "urn:kai:model-unavailable")
    assert folded(*PIECES, done("cancelled"))[-1]["outcome"] == {"type": "cancelled"}


def test_an_error_of_a_run_that_has_an_answer_is_not_shown() -> None:
    assert folded(MODEL_DOWN, ANALYSIS, done())[-1]["outcome"] == {"type": "success"}
