"""Calls that wait for a person, as the interrupt of LangChain's human-in-the-loop middleware.

All calls that wait are one interrupt: clients that know this form answer the requests of one together. Its id
is a digest of the calls: another call, or another set of them, is another interrupt.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.core.ids import digest
from app.modules.records.steps import CallRecord
from graph.events import Confirmation

Requests = Mapping[str, dict[str, JsonValue]]
"""What is asked for, by the ids of the calls, in their order."""


def request_of(call: CallRecord | Confirmation) -> dict[str, JsonValue]:
    """Returns what is asked for by one call."""
    if isinstance(call, CallRecord):
        name, call_id = call.tool, call.id
    else:
        name, call_id = call.tool_name, call.confirmation_id
    return {
        "name": name,
        "args": dict(call.arguments),
        "description": "\n\n".join([call.description, *call.warnings]),
        "id": call_id,
        "call_hash": call.call_hash,
    }


def interrupts_of(requests: Requests) -> list[dict[str, JsonValue]]:
    """Returns the interrupt of all requests; without requests, none."""
    if not requests:
        return []
    value: dict[str, JsonValue] = {
        "action_requests": [*requests.values()],
        "review_configs": [
            {"action_name": request["name"], "allowed_decisions": ["approve", "edit", "reject"]}
            for request in requests.values()
        ],
    }
    shown = digest({"calls": [[call, request["call_hash"]] for call, request in requests.items()]})
    return [{"id": shown[:32], "value": value}]


def requests_of(waiting: Sequence[CallRecord]) -> Requests:
    """Returns what stored calls that wait ask for."""
    return {call.id: request_of(call) for call in waiting}
