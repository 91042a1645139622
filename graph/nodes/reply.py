"""Step `reply`: answer without SQL, by a question back to the user or by small talk."""

from langgraph.runtime import Runtime

from graph.answer import reply_chunk
from graph.nodes.question import with_exchange
from graph.ports import Ports
from graph.state import SessionState


async def reply(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    text = state["reply"]
    runtime.stream_writer(reply_chunk(state["route"], text, state["options"]))
    answered = state.get("answered_turn", 0) if state["route"] == "clarify" else state["turns"]
    return {
        "answered_turn": answered,
        "messages": with_exchange(state, sql=None, results_summary=None, analysis=text),
    }
