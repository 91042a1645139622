"""Run the statement. One that fails, or whose result has warnings, goes back to its writer once a turn."""

from langgraph.runtime import Runtime

from graph.answer import Draft, Repair, draft_of, interpretation_of, repair_of
from graph.chunks import sql_chunk
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.events import ResultsChunk, Status
from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import Rows, SessionState


async def run_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    draft = draft_of(state)
    if draft is None:
        raise ValueError("no statement is written")
    sql = draft.sql
    repair = repair_of(state)
    first_stands = repair is not None and repair.cause == "warnings"
    if repair is not None and repair.first.sql == sql:
        # The writer knows nothing better. To run it again would cost time and give the same.
        if first_stands:
            return _keep_first(state, repair.first, runtime)
        raise StatementFailed("\n".join(repair.reasons))
    try:
        rows = await runtime.context.runner.kept(sql) or await _run(sql, state, runtime)
    except (StatementFailed, DatabaseUnavailable) as failure:
        if repair is not None and first_stands:
            return _keep_first(state, repair.first, runtime)
        if repair is not None or isinstance(failure, DatabaseUnavailable):
            raise
        return {"repair": Repair(first=draft, cause="error", reasons=[failure.detail]).model_dump()}
    reasons = await _reasons(state, runtime.context, draft, rows=rows)
    if repair is not None and first_stands and not _is_better(rows, reasons, state, repair=repair):
        return _keep_first(state, repair.first, runtime)
    await runtime.context.runner.keep()
    answered = SessionState(
        current_sql=sql,
        current_author=draft.author,
        current_plan=draft.plan,
        current_results=rows,
        results_message_id=state["message_id"],
    )
    if repair is None and reasons:
        return {**answered, "repair": Repair(first=draft, cause="warnings", reasons=reasons).model_dump()}
    runtime.stream_writer(ResultsChunk(content=rows))
    return {**answered, "repair": None}


async def _run(sql: str, state: SessionState, runtime: Runtime[Ports]) -> Rows:
    runtime.stream_writer(Status(step="executing_sql", message="Running the query", run_id=state["run_id"]))
    with runtime.context.observer.observe_step("executing_sql"):
        return await runtime.context.runner.run(sql)


async def _reasons(state: SessionState, ports: Ports, draft: Draft, *, rows: Rows) -> list[str]:
    """Returns the reasons to repair a statement that ran. Empty for a statement that no model wrote, and
    after the repair of an error: a turn has at most one repair.
    """
    repair = repair_of(state)
    if draft.author != "model" or (repair is not None and repair.cause == "error"):
        return []
    return await ports.checker.find_reasons(question_of(state), draft.sql, rows)


def _is_better(rows: Rows, reasons: list[str], state: SessionState, *, repair: Repair) -> bool:
    """True if a repaired result has fewer warnings, and has rows if the first result had any."""
    first = state.get("current_results")
    has_lost_rows = first is not None and first["row_count"] > 0 and rows["row_count"] == 0
    return len(reasons) < len(repair.reasons) and not has_lost_rows


def _keep_first(state: SessionState, first: Draft, runtime: Runtime[Ports]) -> SessionState:
    """The first result stands, with its warnings; its rows are still those kept for the message."""
    runtime.stream_writer(sql_chunk(first.sql, first, interpretation_of(state)))
    if (rows := state.get("current_results")) is not None:
        runtime.stream_writer(ResultsChunk(content=rows))
    return {"draft": first.model_dump(), "repair": None}
