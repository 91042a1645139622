"""Step `analyse`: describe the rows by a text, a chart and suggested questions."""

from dataclasses import replace

from langgraph.runtime import Runtime

from graph.answer import draft_of
from graph.chunks import analysis_chunks
from graph.events import Status
from graph.nodes.question import question_with_memory, standalone_question, with_exchange
from graph.ports import Ports
from graph.state import Rows, SessionState


async def analyse(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """Emit the analysis of all stored rows of the result, and remember the exchange."""
    emit = runtime.stream_writer
    sql = state.get("current_sql")
    emit(Status(step="analyzing", message=_message(state), run_id=state["run_id"]))
    rows = await _all_rows(state, runtime.context)
    question = await question_with_memory(state, runtime.context)
    draft = draft_of(state)
    question = replace(
        question,
        text=standalone_question(state),
        author=state.get("current_author"),
        corrections=[] if draft is None else draft.corrections,
    )
    with runtime.context.observer.observe_step("analyzing"):
        read = await runtime.context.analyst.analyse(question, sql or "", rows, emit=emit)
    for chunk in analysis_chunks(read.analysis.text, read.analysis):
        emit(chunk)
    return {
        "current_analysis": read.analysis.model_dump(),
        "answered_turn": state["turns"],
        "tokens_used": state["tokens_used"] + read.tokens_used,
        "messages": with_exchange(
            state, sql=sql, results_summary=read.results_summary, analysis=read.analysis.text
        ),
    }


async def _all_rows(state: SessionState, ports: Ports) -> Rows:
    head = state.get("current_results")
    if head is None:
        return Rows(columns=[], rows=[], row_count=0, truncated=False)
    return await ports.results.read(state["results_message_id"], head)


def _message(state: SessionState) -> str:
    return "Reading the rows already fetched" if state["route"] == "rows" else "Reading the rows"
