"""Decisions in a resume, in the form of LangChain's human-in-the-loop middleware."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.http.routes import is_storable
from app.modules.protocols.langgraph.errors import ApprovalUnclear, ValueUnsupported
from app.modules.protocols.langgraph.interrupts import interrupts_of, requests_of
from app.modules.records.steps import CallRecord
from app.modules.session.confirmations import Verdict

_MAX_REASON_CHARACTERS = 1_000
_NAMES = ("id", "call_hash")
_FORM = (
    'Send `command.resume` as {"decisions": [...]} with one decision for each request of the interrupt, in '
    "their order; or as a map from the id of the interrupt to that."
)


@dataclass(frozen=True)
class ThreadDecision:
    """A decision about a call. `reason` is what the model reads of a call that is refused."""

    verdict: Verdict
    reason: str | None = None
    edited: Mapping[str, JsonValue] | None = None
    """The arguments with which the call is to run. None: those that it has."""


def decisions_in(
    resume: JsonValue, waiting: Sequence[CallRecord], *, is_shown: bool
) -> list[tuple[CallRecord, ThreadDecision]]:
    """Returns the decision about each call that waits.

    Decisions name their calls: all together by the id of the interrupt, or each one by `id` or `call_hash`.
    Those that name none count if these calls alone can be meant (`is_shown`). Raises `ApprovalUnclear` if
    others may be meant, and `ValueUnsupported` for another form.
    """
    interrupts = interrupts_of(requests_of(waiting))
    current = interrupts[0]["id"]
    if isinstance(resume, dict) and "decisions" not in resume and len(resume) == 1:
        ((named, resume),) = resume.items()
        if isinstance(resume, dict) and "decisions" in resume and named != current:
            raise ApprovalUnclear(interrupts)
        is_shown = True
    match resume:
        case {"decisions": list() as decisions}:
            pass
        case _:
            raise ValueUnsupported(_FORM)
    if decisions and all(isinstance(each, dict) and not each.keys().isdisjoint(_NAMES) for each in decisions):
        about = [_named(each, waiting) for each in decisions]
        calls = [call for call in about if call is not None]
        if sorted(call.id for call in calls) != sorted(call.id for call in waiting):
            raise ApprovalUnclear(interrupts)
        return [(call, _decision(each, call)) for call, each in zip(calls, decisions, strict=True)]
    if not is_shown:
        raise ApprovalUnclear(interrupts)
    if len(decisions) != len(waiting):
        raise ValueUnsupported(f"{len(waiting)} calls wait, and {len(decisions)} decisions came. {_FORM}")
    for call, each in zip(waiting, decisions, strict=True):
        if isinstance(each, dict) and not each.keys().isdisjoint(_NAMES) and _named(each, [call]) is None:
            raise ApprovalUnclear(interrupts)
    return [(call, _decision(each, call)) for call, each in zip(waiting, decisions, strict=True)]


def _named(decision: JsonValue, waiting: Sequence[CallRecord]) -> CallRecord | None:
    """Returns the call that a decision names; None if it does not wait."""
    given = decision if isinstance(decision, dict) else {}
    for call in waiting:
        if all(
            given.get(name, own) == own for name, own in zip(_NAMES, (call.id, call.call_hash), strict=True)
        ):
            return call
    return None


def _decision(given: JsonValue, call: CallRecord) -> ThreadDecision:
    match given:
        case {"type": "approve"}:
            return ThreadDecision("approve")
        case {"type": "reject", "message": str() as message}:
            return ThreadDecision("deny", _reason(message))
        case {"type": "reject"}:
            return ThreadDecision("deny")
        case {"type": "edit", "edited_action": {"name": str() as name, "args": dict() as arguments}}:
            if name != call.tool:
                raise ValueUnsupported(
                    f"An edit changes the arguments of {call.tool}, and cannot make another call of it. "
                    "Reject the call, and ask for the other one in the message."
                )
            return ThreadDecision("approve", edited=arguments)
        case _:
            raise ValueUnsupported(
                "A decision is {type: approve}, {type: reject, message}, or {type: edit, edited_action: "
                "{name, args}}."
            )


def _reason(message: str) -> str | None:
    if len(message) > _MAX_REASON_CHARACTERS:
        raise ValueUnsupported(f"The message of a decision has at most {_MAX_REASON_CHARACTERS} characters.")
    if not is_storable(message):
        raise ValueUnsupported("The texts of a decision have no NUL and no half surrogate pairs.")
    return message or None
