"""Step `reply`: answer without SQL, by a question back to the user or by small talk."""

from langgraph.runtime import Runtime

from graph.answer import Offer
from graph.chunks import clarification_chunk
from graph.events import AnalysisChunk
from graph.nodes.question import with_exchange
from graph.ports import Ports
from graph.state import SessionState


async def reply(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    text = state["reply"]
    is_question_back = state["route"] == "clarify"
    if is_question_back:
        runtime.stream_writer(clarification_chunk(text, Offer(options=state["options"])))
    else:
        runtime.stream_writer(AnalysisChunk(content=text))
    answered = state.get("answered_turn", 0) if is_question_back else state["turns"]
    return {
        "answered_turn": answered,
        "messages": with_exchange(state, sql=None, results_summary=None, analysis=text),
    }
