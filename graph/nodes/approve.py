"""Step `approve`: join the calls of a step, and wait for people. It is the only step that interrupts.

Decisions are records. What `interrupt` returns is ignored and no value is ever given to it, because a value
that was used once would answer the next question, too. The run ends while calls wait; another one goes on
from here, and finds them decided.
"""

from collections.abc import Sequence

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.errors import InvestigationOff
from graph.events import Status
from graph.nodes.investigate import investigation_of, investigator_of
from graph.ports import Ports, StatementAsker
from graph.state import SessionState, ToolCallRef


def open_calls(state: SessionState) -> Sequence[ToolCallRef]:
    """Returns the calls of the present step that have not ended, in the model's order."""
    return [call for call in investigation_of(state)["calls"] if call["id"] not in state["done"]]


def statements_of(ports: Ports) -> StatementAsker:
    """Returns the port. Raises `InvestigationOff` if the turn goes on in a process without it."""
    if ports.statements is None:
        raise InvestigationOff(
            "This answer waited for an approval, and KAI no longer asks for any. Ask again."
        )
    return ports.statements


async def approve(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """All calls of the step that ask are asked for together."""
    asking = [call for call in open_calls(state) if call["gate"] == "asks"]
    if not asking:
        return {}
    emit = runtime.stream_writer
    ports = runtime.context
    asker = statements_of(ports) if state["route"] == "sql" else investigator_of(ports)
    while undecided := await asker.find_undecided(asking, emit):
        message = "Waiting for your approval"
        emit(Status(step="waiting_for_approval", message=message, run_id=state["run_id"]))
        interrupt(list(undecided))
    return {}
