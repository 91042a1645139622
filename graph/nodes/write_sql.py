"""Decide what the question is, and write or repair its statement."""

import logging

from langgraph.runtime import Runtime

from graph.answer import Interpretation, Repair, draft_of, interpretation_of, repair_of
from graph.chunks import sql_chunk
from graph.errors import TurnError
from graph.events import ContextChunk, Status
from graph.nodes.question import question_with_memory
from graph.ports import Ports, Written
from graph.state import Context, SessionState, UsedContext

logger = logging.getLogger(__name__)


async def write_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    emit = runtime.stream_writer
    writer = runtime.context.writer
    repair = repair_of(state)
    status = _status(state, repair)
    emit(status)
    try:
        with runtime.context.observer.observe_step(status.step) as step:
            question = await question_with_memory(state, runtime.context)
            written = await writer.write(question, emit)
            step.set_attribute("kai.route", written.route)
    except TurnError as error:
        if repair is None or repair.cause == "error":
            raise
        logger.warning("run %s: the result's warnings were not repaired: %r", state["run_id"], error)
        return {"draft": repair.first.model_dump()}
    tokens_used = state["tokens_used"] + written.tokens_used
    if repair is not None and repair.cause == "warnings" and written.route != "sql":
        # The first answer stands: words do not replace rows.
        return {"draft": repair.first.model_dump(), "tokens_used": tokens_used}
    interpretation: Interpretation = written
    if repair is not None and repair.first.author == "model":
        # A repair changes the statement, not how the question was understood.
        interpretation = interpretation_of(state)
    draft = written.draft(writer.dialect) if written.route == "sql" else None
    if draft is not None:
        emit(sql_chunk(draft.sql, draft, interpretation))
    context = _context_of(written, state)
    if written.route == "sql" and written.author in ("model", "verified") and context["used"] is not None:
        emit(ContextChunk(content=context["used"]))
    update = SessionState(
        context=context,
        route=written.route,
        interpretation=interpretation.model_dump(include=set(Interpretation.model_fields)),
        draft=draft.model_dump() if draft else None,
        options=written.options,
        tokens_used=tokens_used,
    )
    return update if draft is not None else {**update, "reply": written.text}


def _context_of(written: Written, state: SessionState) -> Context:
    """Returns the context of the statement's author: of a verified example, only itself was used."""
    if written.example_id is not None:
        used = UsedContext(tables=[], terms=[], instructions=[], examples=[written.example_id])
        return Context(**{**state["context"], "used": used})
    before = draft_of(state)
    if before is not None and before.author == "verified":
        # Its repair has read a context of its own, which is not kept.
        return Context(**{**state["context"], "used": None})
    return state["context"]


def _status(state: SessionState, repair: Repair | None) -> Status:
    if repair is not None:
        return Status(
            step="repairing_sql",
            message=f"Repairing the SQL: {' '.join(repair.reasons)}",
            run_id=state["run_id"],
            failed_sql=repair.first.sql,
            error="\n".join(repair.reasons),
        )
    return Status(step="generating_sql", message="Working out the question", run_id=state["run_id"])
