"""Step `use_tool`: make one call of a tool. It is the only step with effects.

The free calls of a step run at the same time, and those that a person has approved one after another.
"""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from graph.events import Status
from graph.nodes.investigate import investigator_of
from graph.ports import Ports
from graph.state import SessionState, ToolCallRef


class ToolTask(TypedDict):
    """The input of the step: the call, and the run that makes it."""

    call: ToolCallRef
    run_id: str


async def use_tool(state: ToolTask, runtime: Runtime[Ports]) -> SessionState:
    """What the call returns is stored as a document."""
    call = state["call"]
    runtime.stream_writer(Status(step="using_tool", message=f"Using {call['tool']}", run_id=state["run_id"]))
    with runtime.context.observer.observe_step("using_tool") as step:
        step.set_attribute("kai.tool", call["tool"])
        outcome = await investigator_of(runtime.context).use(call, runtime.stream_writer)
        step.set_attribute("kai.outcome", outcome)
    return {"done": {call["id"]: outcome}}
