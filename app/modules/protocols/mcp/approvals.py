"""Calls that wait for a person as requests for input (MCP 2026-07-28): the form that a client shows, and what
came back. Pure.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponse,
)
from pydantic import BaseModel, JsonValue

from app.http.routes import is_storable
from app.modules.agent.records import CallRecord
from app.modules.protocols.mcp.asking import WAITS
from app.modules.session.confirmations import Verdict

_MAX_REASON_CHARACTERS = 1_000
_FORM: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]},
        "reason": {
            "type": "string",
            "title": "Reason",
            "description": "What the model reads of a call that is denied.",
            "maxLength": _MAX_REASON_CHARACTERS,
        },
    },
    "required": ["decision"],
}


class AskedCalls(BaseModel):
    """The state of a request for input: a session, and the digests of the calls that were shown, by id."""

    session_id: str
    hashes: dict[str, str]


@dataclass(frozen=True)
class CallDecision:
    """A decision about a call. `call_hash` is that of the call that was shown."""

    call_id: str
    call_hash: str
    verdict: Verdict
    reason: str | None


def request_for(session_id: str, calls: Sequence[CallRecord]) -> InputRequiredResult:
    """Returns the request to decide about calls."""
    asked = AskedCalls(session_id=session_id, hashes={call.id: call.call_hash for call in calls})
    return InputRequiredResult(
        input_requests={call.id: _form_of(call) for call in calls}, request_state=asked.model_dump_json()
    )


def _form_of(call: CallRecord) -> ElicitRequest:
    lines = [
        f"KAI asks to call {call.tool}: {call.description}",
        *([f"Where: {call.destination}"] if call.destination else []),
        f"Arguments: {json.dumps(call.arguments, ensure_ascii=False, indent=2)}",
        *call.warnings,
    ]
    return ElicitRequest(params=ElicitRequestFormParams(message="\n".join(lines), requested_schema=_FORM))


def decisions_of(asked: AskedCalls, responses: Mapping[str, InputResponse]) -> list[CallDecision]:
    """Returns the decisions about the calls that were shown; about one without a response there is none.

    Raises `ToolError` for a response that is no decision, and if a form was closed without one.
    """
    return [_decision(asked, call_id, responses[call_id]) for call_id in asked.hashes if call_id in responses]


def _decision(asked: AskedCalls, call_id: str, response: InputResponse) -> CallDecision:
    call_hash = asked.hashes[call_id]
    if not isinstance(response, ElicitResult):
        raise _NoDecision(asked.session_id)
    if response.action == "cancel":
        raise ToolError(waiting_words(asked.session_id))
    if response.action == "decline":
        return CallDecision(call_id, call_hash, "deny", None)
    content = response.content or {}
    reason = content.get("reason")
    if reason is not None and not _can_be_kept(reason):
        raise _NoDecision(asked.session_id)
    match content.get("decision"):
        case "approve":
            return CallDecision(call_id, call_hash, "approve", str(reason or "") or None)
        case "deny":
            return CallDecision(call_id, call_hash, "deny", str(reason or "") or None)
        case _:
            raise _NoDecision(asked.session_id)


def _can_be_kept(reason: object) -> bool:
    return isinstance(reason, str) and len(reason) <= _MAX_REASON_CHARACTERS and is_storable(reason)


class _NoDecision(ToolError):
    """A response to a form has another shape."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            'The answer about a call is {"decision": "approve" or "deny", "reason": a text of at most '
            f"{_MAX_REASON_CHARACTERS} characters, or none}}. {waiting_words(session_id)}"
        )


def waiting_words(session_id: str) -> str:
    """Returns where calls are decided that are not decided here."""
    return f"{WAITS} Session: {session_id}"
