"""Run the statement; one that fails goes back to the writer with the database's words, once a turn."""

from langgraph.runtime import Runtime

from graph.errors import StatementFailed
from graph.events import ResultsChunk, Status
from graph.ports import Ports
from graph.state import Repair, SessionState


async def run_sql(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    sql = state["draft_sql"] or ""
    repair = state["repair"]
    if repair is not None and repair["sql"] == sql:
        # The writer knows nothing better. To run it again would cost time and give the same error.
        raise StatementFailed("\n".join(repair["reasons"]))
    runtime.stream_writer(Status(step="executing_sql", message="Running the query", run_id=state["run_id"]))
    try:
        rows = await runtime.context.runner.run(sql)
    except StatementFailed as failure:
        if repair is not None:
            raise
        return {"repair": Repair(sql=sql, cause="error", reasons=[failure.detail])}
    runtime.stream_writer(ResultsChunk(content=rows))
    return {
        "current_sql": sql,
        "current_author": state["author"],
        "current_results": rows,
        "results_message_id": state["message_id"],
        "repair": None,
    }
