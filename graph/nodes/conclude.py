"""Step `conclude`: answer from what an investigation has found."""

from langgraph.runtime import Runtime

from graph.answer import interpretation_of
from graph.chunks import analysis_chunks, sql_chunk
from graph.events import ResultsChunk
from graph.nodes.investigate import investigation_of, investigator_of
from graph.nodes.question import question_of, with_exchange
from graph.ports import Ports
from graph.state import SessionState


async def conclude(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """The result that the answer rests on becomes the current one, so that a follow-up can refer to it."""
    emit = runtime.stream_writer
    investigation = investigation_of(state)
    found = await investigator_of(runtime.context).conclude(question_of(state), investigation["step"])
    draft = found.draft
    if draft is not None:
        emit(sql_chunk(draft.sql, draft, interpretation_of(state)))
    if found.rows is not None:
        emit(ResultsChunk(content=found.rows))
    for chunk in analysis_chunks(found.analysis.text, found.analysis):
        emit(chunk)
    return {
        "investigation": {**investigation, "calls": []},
        "answered_turn": state["turns"],
        "draft": draft.model_dump() if draft else None,
        "current_sql": draft.sql if draft else None,
        "current_author": "model",
        "current_results": found.rows,
        "results_message_id": state["message_id"],
        "current_analysis": found.analysis.model_dump(),
        "messages": with_exchange(
            state,
            sql=draft.sql if draft else None,
            results_summary=found.results_summary,
            analysis=found.analysis.text if found.remembered is None else found.remembered,
        ),
    }
