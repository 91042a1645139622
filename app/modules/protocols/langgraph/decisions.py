"""Decisions in a resume, in the form of LangChain's human-in-the-loop middleware."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.http.routes import is_storable
from app.modules.agent.records import CallRecord
from app.modules.protocols.langgraph.errors import Unsupported
from app.modules.session.confirmations import Verdict

_MAX_REASON_CHARACTERS = 1_000
_FORM = (
    'Send `command.resume` as {"decisions": [...]} with one decision for each request of the interrupt, in '
    "their order; or as a map from the id of the interrupt to that."
)


@dataclass(frozen=True)
class Decision:
    """A decision about a call. `reason` is what the model reads of a call that is refused."""

    verdict: Verdict
    reason: str | None


def decisions_in(resume: JsonValue, waiting: Sequence[CallRecord]) -> list[tuple[CallRecord, Decision]]:
    """Returns the decision about each call that waits. Raises `Unsupported` for another form."""
    if isinstance(resume, dict) and [*resume] == [waiting[0].id]:
        resume = resume[waiting[0].id]
    match resume:
        case {"decisions": list() as decisions}:
            if len(decisions) != len(waiting):
                raise Unsupported(f"{len(waiting)} calls wait, and {len(decisions)} decisions came. {_FORM}")
            return [(call, _decision(each)) for call, each in zip(waiting, decisions, strict=True)]
        case _:
            raise Unsupported(_FORM)


def _decision(given: JsonValue) -> Decision:
    match given:
        case {"type": "approve"}:
            return Decision("approve", None)
        case {"type": "reject", "message": str() as message}:
            return Decision("deny", _reason(message))
        case {"type": "reject"}:
            return Decision("deny", None)
        case {"type": "edit", "edited_action": {"name": str() as name, "args": dict() as arguments}}:
            return Decision("deny", _edit(name, arguments))
        case _:
            raise Unsupported(
                "A decision is {type: approve}, {type: reject, message}, or {type: edit, edited_action: "
                "{name, args}}."
            )


def _edit(name: str, arguments: Mapping[str, JsonValue]) -> str | None:
    """An edit is a new call, which is checked and asked about like every other."""
    reason = f"Call {name} with these arguments instead: {json.dumps(arguments, ensure_ascii=False)}"
    if len(reason) > _MAX_REASON_CHARACTERS:
        raise Unsupported("The edited arguments are too long. Reject the call, and ask for the change.")
    return _reason(reason)


def _reason(message: str) -> str | None:
    if len(message) > _MAX_REASON_CHARACTERS:
        raise Unsupported(f"The message of a decision has at most {_MAX_REASON_CHARACTERS} characters.")
    if not is_storable(message):
        raise Unsupported("The texts of a decision have no NUL and no half surrogate pairs.")
    return message or None
