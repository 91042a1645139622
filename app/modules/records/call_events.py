"""Events of calls of tools, from their records."""

from typing import cast

from app.core.clock import as_datetime
from app.modules.records.steps import CallRecord
from graph.events import Confirmation, ConfirmationDecided, SessionEvent, ToolCalled, ToolReturned
from graph.state import CallOutcome


def confirmation_events(call: CallRecord) -> list[SessionEvent]:
    """Returns what was emitted of a call that has asked; nothing for another one."""
    if call.expires_at is None:
        return []
    asked = Confirmation(
        confirmation_id=call.id,
        tool_name=call.tool,
        description=call.description,
        arguments=call.arguments,
        destination=call.destination,
        warnings=call.warnings,
        call_hash=call.call_hash,
        expires_at=as_datetime(call.expires_at),
    )
    return [asked, *decision_events(call)]


def decision_events(call: CallRecord) -> list[SessionEvent]:
    if (decision := call.decision) is None:
        return []
    return [
        ConfirmationDecided(
            confirmation_id=call.id, decision=decision, edited_arguments=call.edited_arguments
        )
    ]


def called_event(call: CallRecord) -> ToolCalled:
    return ToolCalled(
        tool_call_id=call.id,
        step=call.step,
        name=call.tool,
        category=call.category,
        arguments=call.arguments,
        requires_approval=call.gate == "asks",
    )


def returned_event(call: CallRecord) -> ToolReturned:
    return ToolReturned(
        tool_call_id=call.id,
        status=cast("CallOutcome", call.status),
        content=call.text,
        is_error=call.is_error,
        result_id=call.id if call.result is not None else None,
        elapsed_ms=call.elapsed_ms,
    )
