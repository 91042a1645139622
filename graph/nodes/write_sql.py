"""Decide what the question is, and write or repair its statement."""

from dataclasses import replace

from langgraph.runtime import Runtime

from graph.events import SqlChunk, Status
from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import SessionState


async def write_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    emit, writer = runtime.stream_writer, runtime.context.writer
    emit(_status(state))
    written = await writer.write(question_of(state), emit)
    if state["repair"] is not None and state["author"] == "model":
        # A repair changes the statement, not how the question was understood.
        written = replace(
            written,
            explanation=state["explanation"],
            standalone_question=state["standalone_question"],
        )
    update = SessionState(
        route=written.route,
        explanation=written.explanation,
        standalone_question=written.standalone_question,
        corrections=list(written.corrections),
        options=list(written.options),
        tokens_used=state["tokens_used"] + written.tokens_used,
    )
    if written.route != "sql":
        return {**update, "reply": written.text}
    emit(
        SqlChunk(
            content=written.text,
            dialect=writer.dialect,
            explanation=written.explanation,
            standalone_question=written.standalone_question,
            corrections=list(written.corrections),
        )
    )
    return {**update, "draft_sql": written.text, "author": written.author, "dialect": writer.dialect}


def _status(state: SessionState) -> Status:
    if (repair := state["repair"]) is not None:
        message = f"Repairing the SQL: {' '.join(repair['reasons'])}"
        return Status(step="repairing_sql", message=message, run_id=state["run_id"])
    return Status(step="generating_sql", message="Working out the question", run_id=state["run_id"])
