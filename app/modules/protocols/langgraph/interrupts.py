"""Calls that wait for a person, as the interrupt of LangChain's human-in-the-loop middleware.

All calls that wait are one interrupt: clients that know this form answer the requests of one together.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.modules.agent.records import CallRecord

Requests = Mapping[str, dict[str, JsonValue]]
"""What is asked for, by the ids of the calls, in their order."""


def request_of(
    tool: str, arguments: Mapping[str, JsonValue], *, description: str, warnings: Sequence[str]
) -> dict[str, JsonValue]:
    """Returns what is asked for by one call."""
    return {"name": tool, "args": dict(arguments), "description": "\n\n".join([description, *warnings])}


def interrupts_of(requests: Requests) -> list[dict[str, JsonValue]]:
    """Returns the interrupt of all requests, with the id of the first call; without requests, none."""
    if not requests:
        return []
    value: dict[str, JsonValue] = {
        "action_requests": [*requests.values()],
        "review_configs": [
            {"action_name": request["name"], "allowed_decisions": ["approve", "edit", "reject"]}
            for request in requests.values()
        ],
    }
    return [{"id": next(iter(requests)), "value": value}]


def requests_of(waiting: Sequence[CallRecord]) -> Requests:
    """Returns what stored calls that wait ask for."""
    return {
        call.id: request_of(call.tool, call.arguments, description=call.description, warnings=call.warnings)
        for call in waiting
    }
