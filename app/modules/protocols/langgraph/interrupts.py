"""Calls that wait for a person, as LangChain's interrupts."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.modules.agent.records import CallRecord


def interrupt_of(
    confirmation_id: str,
    tool: str,
    arguments: Mapping[str, JsonValue],
    *,
    description: str,
    warnings: Sequence[str],
) -> dict[str, JsonValue]:
    """Returns the interrupt of one call. Its id is that of the confirmation."""
    request: dict[str, JsonValue] = {
        "name": tool,
        "args": dict(arguments),
        "description": "\n\n".join([description, *warnings]),
    }
    review: dict[str, JsonValue] = {
        "action_name": tool,
        "allowed_decisions": ["approve", "edit", "reject"],
    }
    return {"id": confirmation_id, "value": {"action_requests": [request], "review_configs": [review]}}


def interrupts_of(calls: Sequence[CallRecord]) -> list[dict[str, JsonValue]]:
    """Returns the interrupts of calls that wait."""
    return [
        interrupt_of(call.id, call.tool, call.arguments, description=call.description, warnings=call.warnings)
        for call in calls
        if call.status == "waiting"
    ]
