"""Run the statement. One that fails, or whose result has warnings, goes back to its writer once a turn."""

from typing import Literal

from langgraph.runtime import Runtime

from graph.answer import before_repair, understanding_of
from graph.chunks import sql_chunk
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.events import ResultsChunk, Status
from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import Repair, Rows, SessionState


async def run_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    sql = state["draft_sql"] or ""
    repair = state["repair"]
    first_stands = repair is not None and repair["cause"] == "warnings"
    if repair is not None and repair["sql"] == sql:
        # The writer knows nothing better. To run it again would cost time and give the same.
        if first_stands:
            return _keep_first(state, repair, runtime)
        raise StatementFailed("\n".join(repair["reasons"]))
    try:
        rows = await runtime.context.runner.kept(sql) or await _run(sql, state, runtime)
    except (StatementFailed, DatabaseUnavailable) as failure:
        if repair is not None and first_stands:
            return _keep_first(state, repair, runtime)
        if repair is not None or isinstance(failure, DatabaseUnavailable):
            raise
        return {"repair": _repair_of(state, "error", [failure.detail])}
    reasons = await _reasons(state, runtime.context, sql, rows=rows)
    if repair is not None and first_stands and not _is_better(rows, reasons, state, repair=repair):
        return _keep_first(state, repair, runtime)
    await runtime.context.runner.keep()
    answered = SessionState(
        current_sql=sql,
        current_author=state["author"],
        current_results=rows,
        results_message_id=state["message_id"],
    )
    if repair is None and reasons:
        return {**answered, "repair": _repair_of(state, "warnings", reasons)}
    runtime.stream_writer(ResultsChunk(content=rows))
    return {**answered, "repair": None}


async def _run(sql: str, state: SessionState, runtime: Runtime[Ports]) -> Rows:
    runtime.stream_writer(Status(step="executing_sql", message="Running the query", run_id=state["run_id"]))
    with runtime.context.observer.observe_step("executing_sql"):
        return await runtime.context.runner.run(sql)


def _repair_of(state: SessionState, cause: Literal["error", "warnings"], reasons: list[str]) -> Repair:
    understanding = understanding_of(state)
    return Repair(
        sql=state["draft_sql"] or "",
        sql_pretty=understanding.sql_pretty,
        cause=cause,
        reasons=reasons,
        corrections=understanding.corrections,
    )


async def _reasons(state: SessionState, ports: Ports, sql: str, *, rows: Rows) -> list[str]:
    """Returns the reasons to repair a statement that ran. Empty for a statement that no model wrote, and
    after the repair of an error: a turn has at most one repair.
    """
    repair = state["repair"]
    if state["author"] != "model" or (repair is not None and repair["cause"] == "error"):
        return []
    return await ports.checker.find_reasons(question_of(state), sql, rows)


def _is_better(rows: Rows, reasons: list[str], state: SessionState, *, repair: Repair) -> bool:
    """True if a repaired result has fewer warnings, and has rows if the first result had any."""
    first = state.get("current_results")
    has_lost_rows = first is not None and first["row_count"] > 0 and rows["row_count"] == 0
    return len(reasons) < len(repair["reasons"]) and not has_lost_rows


def _keep_first(state: SessionState, repair: Repair, runtime: Runtime[Ports]) -> SessionState:
    """The first result stands, with its warnings; its rows are still those kept for the message."""
    understanding = before_repair(understanding_of(state), repair)
    runtime.stream_writer(sql_chunk(repair["sql"], understanding))
    if (first := state.get("current_results")) is not None:
        runtime.stream_writer(ResultsChunk(content=first))
    return {"draft_sql": repair["sql"], "understanding": understanding.model_dump(), "repair": None}
