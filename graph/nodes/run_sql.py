"""Run the statement. One that fails, or whose result has warnings, goes back to its writer once a turn. One
that would read much waits for a person before it runs.
"""

from langgraph.runtime import Runtime

from graph.answer import Draft, Repair, draft_of, interpretation_of, repair_of
from graph.chunks import sql_chunk
from graph.errors import DatabaseUnavailable, StatementFailed, StatementNeedsApproval
from graph.events import ResultsChunk, Status
from graph.nodes.approve import open_calls, statements_of
from graph.nodes.investigate import NO_OUTCOMES, investigation_of
from graph.nodes.question import question_of
from graph.ports import Ports
from graph.state import CallOutcome, Rows, SessionState, ToolCallRef


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
    except StatementNeedsApproval as needed:
        if repair is not None and first_stands:
            return _keep_first(state, repair.first, runtime)
        if runtime.context.statements is None:
            raise
        step = investigation_of(state)["step"] + 1
        call = await runtime.context.statements.ask(sql, needed.why, step, emit=runtime.stream_writer)
        return _waiting_state(state, call)
    except (StatementFailed, DatabaseUnavailable) as failure:
        if repair is not None and first_stands:
            return _keep_first(state, repair.first, runtime)
        if repair is not None or isinstance(failure, DatabaseUnavailable):
            raise
        return {
            "repair": Repair(first=draft, cause="error", reasons=[failure.detail]).model_dump(),
            **_end_of_call(state),
        }
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
        **_end_of_call(state),
    )
    if repair is None and reasons:
        return {**answered, "repair": Repair(first=draft, cause="warnings", reasons=reasons).model_dump()}
    runtime.stream_writer(ResultsChunk(content=rows))
    return {**answered, "repair": None}


async def _run(sql: str, state: SessionState, runtime: Runtime[Ports]) -> Rows:
    runtime.stream_writer(Status(step="executing_sql", message="Running the query", run_id=state["run_id"]))
    with runtime.context.observer.observe_step("executing_sql"):
        if asked := open_calls(state):
            return await statements_of(runtime.context).run(asked[0], sql, runtime.stream_writer)
        return await runtime.context.runner.run(sql)


def _waiting_state(state: SessionState, call: ToolCallRef) -> SessionState:
    """Returns the state of a statement that waits for a person, as a step with one call does."""
    before = investigation_of(state)
    return {
        "investigation": {
            **before,
            "step": before["step"] + 1,
            "calls": [call],
            "call_count": before["call_count"] + 1,
        },
        "done": NO_OUTCOMES,
    }


def _end_of_call(state: SessionState) -> SessionState:
    """Returns the end of the call that has asked for the statement, if one has."""
    ended: dict[str, CallOutcome] = {call["id"]: "done" for call in open_calls(state)}
    return {"done": ended} if ended else {}


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
