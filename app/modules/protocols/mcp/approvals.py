"""Calls that wait for a person as requests for input (MCP 2026-07-28): the form that a client shows, and what
came back. Pure.

A form has flat fields only, so it has a field for each simple argument; the others run as they are shown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult, InputResponse
from pydantic import BaseModel, JsonValue

from app.http.routes import is_storable
from app.modules.protocols.mcp.asking import WAITS
from app.modules.records.steps import CallRecord
from app.modules.session.confirmations import Verdict

_MAX_REASON_CHARACTERS = 1_000
_MAX_FIELD_CHARACTERS = 1_000
"""Of a text in one field. A longer one is not edited there."""
_MAX_EXACT = 2**53 - 1
"""Clients may read numbers as floats: a greater whole number would come back as another one."""
_ARGUMENT = "argument_"
_DECISION: dict[str, JsonValue] = {
    "decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]},
    "reason": {
        "type": "string",
        "title": "Reason",
        "description": "What the model reads of a call that is denied.",
        "maxLength": _MAX_REASON_CHARACTERS,
    },
}


class AskedCalls(BaseModel):
    """The state of a request for input: a session, and the digests of the calls that were shown, by id."""

    session_id: str
    hashes: dict[str, str]


@dataclass(frozen=True)
class CallDecision:
    """A decision about a call. `call_hash` is that of the call that was shown, `changes` the arguments that
    came back with the form, changed or not.
    """

    call_id: str
    call_hash: str
    verdict: Verdict
    reason: str | None
    changes: Mapping[str, JsonValue] = field(default_factory=dict)

    def edit(self, call: CallRecord) -> dict[str, JsonValue] | None:
        """Returns all arguments of a call that is approved with other ones than its own; else None."""
        edited = {**call.arguments, **self.changes}
        return None if self.verdict == "deny" or edited == call.arguments else edited


def request_for(
    session_id: str, calls: Sequence[CallRecord], refusals: Mapping[str, str]
) -> InputRequiredResult:
    """Returns the request to decide about calls. `refusals`: why edits were refused, by call."""
    asked = AskedCalls(session_id=session_id, hashes={call.id: call.call_hash for call in calls})
    return InputRequiredResult(
        input_requests={call.id: _form_of(call, refusals.get(call.id)) for call in calls},
        request_state=asked.model_dump_json(),
    )


def _form_of(call: CallRecord, refusal: str | None) -> ElicitRequest:
    fields = _fields_of(call.arguments)
    lines = [
        *([refusal] if refusal else []),
        f"KAI asks to call {call.tool}: {call.description}",
        *([f"Where: {call.destination}"] if call.destination else []),
        f"Arguments: {json.dumps(call.arguments, ensure_ascii=False, indent=2)}",
        *call.warnings,
        *(["An approved call runs with the arguments as you leave them in the form."] if fields else []),
    ]
    schema = {"type": "object", "properties": {**_DECISION, **fields}, "required": ["decision"]}
    return ElicitRequest(params=ElicitRequestFormParams(message="\n".join(lines), requested_schema=schema))


def _fields_of(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns the schemas of the fields of simple arguments."""
    types = {name: _type_of(value) for name, value in arguments.items()}
    return {
        f"{_ARGUMENT}{name}": {"type": type_, "title": name, "default": arguments[name]}
        for name, type_ in types.items()
        if type_ is not None
    }


def _type_of(value: JsonValue) -> str | None:
    """Returns the type of the field in which a value is edited. None if no field gives it back as it is."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer" if abs(value) <= _MAX_EXACT else None
        case float():
            return "number"
        case str():
            is_line = len(value) <= _MAX_FIELD_CHARACTERS and value == " ".join(value.splitlines()).strip()
            return "string" if is_line else None
        case _:
            return None


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
            changes = _changes_in(asked, content)
            return CallDecision(call_id, call_hash, "approve", str(reason or "") or None, changes)
        case "deny":
            return CallDecision(call_id, call_hash, "deny", str(reason or "") or None)
        case _:
            raise _NoDecision(asked.session_id)


def _changes_in(asked: AskedCalls, content: Mapping[str, object]) -> dict[str, JsonValue]:
    """Returns the arguments in a form; a field that is left out or null changes nothing."""
    given = {key.removeprefix(_ARGUMENT): each for key, each in content.items() if key.startswith(_ARGUMENT)}
    changes: dict[str, JsonValue] = {}
    for name, value in given.items():
        if not isinstance(value, str | int | float | None) or not is_storable(str(value)):
            raise _NoDecision(asked.session_id)
        if value is not None:
            changes[name] = value
    return changes


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
