"""Answers that earlier commits have stored, with claims and findings of their form, are read as text."""

import json

from pydantic import JsonValue, TypeAdapter

from app.core.bus.event_log import LogEntry
from app.modules.protocols.frame_stream import events_of
from app.modules.records.model import Message
from app.modules.records.repository import document
from app.modules.records.steps import StepRecord
from graph.answer import Analysis
from graph.events import ActionChunk, FindingsChunk, SuggestionsChunk

CLAIMS: JsonValue = [
    {"text": "3", "span": [10, 11], "status": "checked", "from": {"column": "n", "row": 0, "how": "cell"}},
    {"text": "4", "span": [20, 21], "status": "not_found", "from": None},
]


def old_finding(claim: str, status: str) -> dict[str, JsonValue]:
    return {
        "claim": claim,
        "value": "3",
        "result_id": "c1",
        "where": "n",
        "status": status,
        "how": "n of row 1",
    }


FINDINGS: JsonValue = [
    old_finding("There are 3.", "checked"),
    old_finding("There were 4.", "not_found"),
    old_finding("There are 5.", "contradicted"),
]
READ: list[dict[str, JsonValue]] = [
    {"text": "There are 3.", "reading": None, "references": []},
    {"text": "There were 4.", "reading": None, "references": []},
]


STEP: dict[str, JsonValue] = {
    "id": "x",
    "owner": "ada",
    "session_id": "s1",
    "message_id": "m1",
    "step": 2,
    "kind": "answer",
    "text": "There are 3.",
    "call_ids": [],
    "created_at": 1,
}
MESSAGE: dict[str, JsonValue] = {
    "id": "m1",
    "run_id": "r1",
    "role": "assistant",
    "query": "How many?",
    "owner": "ada",
    "session_id": "s1",
    "created_at": 1,
    "sequence": 3,
}


def test_a_stored_message_has_no_references_and_the_findings_that_no_result_contradicted() -> None:
    stored = {**MESSAGE, "analysis": "There are 3.", "claims": CLAIMS, "findings": FINDINGS}
    read = TypeAdapter(Message).validate_python(stored)
    assert (read.analysis, read.headline, read.references, read.left_out) == ("There are 3.", None, [], [])
    assert read.findings == READ
    assert TypeAdapter(Message).validate_python(document(read)) == read


def test_the_analysis_of_a_state_is_read() -> None:
    found = Analysis.model_validate({"text": "There are 3.", "claims": CLAIMS, "findings": FINDINGS})
    assert (found.text, found.references, found.findings) == ("There are 3.", [], READ)


def test_findings_of_a_step_and_of_a_log_are_read() -> None:
    assert TypeAdapter(StepRecord).validate_python({**STEP, "findings": FINDINGS}).findings == READ
    assert FindingsChunk.model_validate({"content": FINDINGS}).content == READ


def test_claims_in_the_log_of_an_earlier_worker_are_passed_over() -> None:
    claims = {"event": "chunk", "type": "claims", "content": CLAIMS}
    suggestions = {"event": "chunk", "type": "suggestions", "content": ["claims"]}
    found = [
        events_of(LogEntry(at, "chunk", json.dumps(each))) for at, each in enumerate((claims, suggestions))
    ]
    assert found == [[], [SuggestionsChunk(content=["claims"])]]


def test_an_action_that_opens_a_table_is_read_with_the_present_name_of_its_connection() -> None:
    earlier = {
        "label": "Orders",
        "action": "open_table",
        "payload": {"connection_id": "c1", "table": "orders"},
    }
    expected = {"db_connection_id": "c1", "table": "orders"}
    message = TypeAdapter(Message).validate_python({**MESSAGE, "action": [earlier]})
    step = TypeAdapter(StepRecord).validate_python({**STEP, "action": [earlier]})
    (logged,) = events_of(
        LogEntry(1, "chunk", json.dumps({"event": "chunk", "type": "action", "content": [earlier]}))
    )
    assert isinstance(logged, ActionChunk)
    for actions in (message.action, step.action, logged.content):
        assert [each["payload"] for each in actions] == [expected]
