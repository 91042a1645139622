"""Answers to interrupts as decisions about calls. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.core.errors import Conflict, Invalid
from app.http.routes import is_storable
from app.modules.protocols.agui.schemas import InterruptAnswer
from app.modules.records.steps import CallRecord
from app.modules.session.confirmations import Verdict

_MAX_REASON_CHARACTERS = 1_000
_FORM = (
    'The payload of an answer is {"type": "approve"}, {"type": "reject", "message": ...} or {"type": "edit", '
    '"edited_action": {"name": ..., "args": ...}}, or {"decisions": [...]} with one of these; or '
    '{"approved": true}, {"approved": true, "editedArgs": ...} or {"approved": false, "reason": ...}. An '
    "edit names the tool of the call that waits."
)


class ResumeMismatch(Conflict):
    """The answers are not those to the open interrupts. `open` has their ids."""

    problem = "resume-mismatch"
    title = "Other interrupts are open"

    def __init__(self, waiting: Sequence[str]) -> None:
        detail = "No interrupt of this thread is open: ask a question instead of a `resume`."
        if waiting:
            detail = f"`resume` must answer exactly the open interrupts: {', '.join(waiting)}."
        super().__init__(detail, open=[*waiting])


class PayloadUnsupported(Invalid):
    """An answer is no decision."""

    problem = "decision-unsupported"
    title = "No decision"

    def __init__(self) -> None:
        super().__init__(_FORM)


@dataclass(frozen=True)
class AguiDecision:
    """A decision about a call. `call_hash` is that of the call that was shown."""

    call: CallRecord
    verdict: Verdict
    reason: str | None
    call_hash: str
    edited: dict[str, JsonValue] | None = None
    """The arguments with which the call is to run. None: those that it has."""


def decisions_of(answers: Sequence[InterruptAnswer], waiting: Sequence[CallRecord]) -> list[AguiDecision]:
    """Returns the decision about each call that waits.

    Raises `ResumeMismatch` if others are answered, and `PayloadUnsupported`.
    """
    calls = {call.id: call for call in waiting}
    named = [each.interrupt_id for each in answers]
    if not calls or sorted(named) != sorted(calls):
        raise ResumeMismatch([*calls])
    return [_decision(each, calls[each.interrupt_id]) for each in answers]


def _decision(answer: InterruptAnswer, call: CallRecord) -> AguiDecision:
    if answer.status == "cancelled":
        return AguiDecision(call, "deny", None, call.call_hash)
    payload = _single(answer.payload)
    shown = payload.get("call_hash")
    call_hash = shown if isinstance(shown, str) else call.call_hash
    match payload:
        case {"type": "approve"}:
            return AguiDecision(call, "approve", None, call_hash)
        case {"type": "reject", "message": str() as message}:
            return AguiDecision(call, "deny", _reason(message) or None, call_hash)
        case {"approved": True, **rest} if not rest.keys() - {"call_hash"}:
            return AguiDecision(call, "approve", None, call_hash)
        case {"approved": True, "editedArgs": dict() as arguments, **rest} if not rest.keys() - {"call_hash"}:
            return AguiDecision(call, "approve", None, call_hash, arguments)
        case {"approved": False, "reason": str() as reason}:
            return AguiDecision(call, "deny", _reason(reason) or None, call_hash)
        case {"approved": False} if "reason" not in payload:
            return AguiDecision(call, "deny", None, call_hash)
        case {"type": "reject"} if "message" not in payload:
            return AguiDecision(call, "deny", None, call_hash)
        case {"type": "edit", "edited_action": {"name": call.tool, "args": dict() as arguments}}:
            return AguiDecision(call, "approve", None, call_hash, arguments)
        case _:
            raise PayloadUnsupported


def _single(payload: JsonValue) -> dict[str, JsonValue]:
    match payload:
        case {"decisions": [dict() as decision]}:
            return decision
        case dict():
            return payload
        case _:
            raise PayloadUnsupported


def _reason(text: str) -> str:
    if len(text) > _MAX_REASON_CHARACTERS or not is_storable(text):
        raise PayloadUnsupported
    return text
