"""Step `load_context`: find the parts of the schema and the knowledge that matter to the question."""

from langgraph.runtime import Runtime

from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import SessionState


async def load_context(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    ports = runtime.context
    with ports.observer.observe_step("loading_context"):
        return {"context": await ports.recall.recall(question_of(state))}
