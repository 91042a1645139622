"""Step `load_context`: find the parts of the schema and the knowledge that matter to the question."""

from langgraph.runtime import Runtime

from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import SessionState


async def load_context(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    return {"context": await runtime.context.recall.recall(question_of(state))}
