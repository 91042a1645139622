"""Step `approve`: join the calls of a step, and wait for people. It is the only step that interrupts.

Decisions are records. What `interrupt` returns is ignored and no value is ever given to it, because a value
that was used once would answer the next question, too. The run ends while calls wait; another one goes on
from here, and finds them decided.
"""

from collections.abc import Sequence

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from graph.events import Status
from graph.nodes.investigate import investigation_of, investigator_of
from graph.ports import Ports
from graph.state import SessionState, ToolCallRef


def open_calls(state: SessionState) -> Sequence[ToolCallRef]:
    """Returns the calls of the present step that have not ended, in the model's order."""
    return [call for call in investigation_of(state)["calls"] if call["id"] not in state["done"]]


async def approve(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """All calls of the step that ask are asked for together."""
    asking = [call for call in open_calls(state) if call["gate"] == "asks"]
    if not asking:
        return {}
    emit = runtime.stream_writer
    investigator = investigator_of(runtime.context)
    while undecided := await investigator.find_undecided(asking, emit):
        message = "Waiting for your approval"
        emit(Status(step="waiting_for_approval", message=message, run_id=state["run_id"]))
        interrupt(list(undecided))
    return {}
