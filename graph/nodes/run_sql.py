"""Run the statement; one that fails goes back to the writer with the database's words, at most twice."""

from langgraph.runtime import Runtime

from graph.errors import StatementFailed
from graph.events import ResultsChunk, Status
from graph.ports import Ports
from graph.state import SessionState

MAX_REPAIRS = 2


async def run_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    sql = state["draft_sql"] or ""
    runtime.stream_writer(Status(step="executing_sql", message="Running the query", run_id=state["run_id"]))
    try:
        rows = await runtime.context.runner.run(sql)
    except StatementFailed as failure:
        if len(state["failures"]) == MAX_REPAIRS:
            raise
        return {"failures": [*state["failures"], {"sql": sql, "error": failure.detail}]}
    runtime.stream_writer(ResultsChunk(content=rows))
    return {
        "current_sql": sql,
        "current_author": state["author"],
        "current_results": rows,
        "results_message_id": state["message_id"],
        "failures": [],
    }
