"""The charts of fresh rows: the proposed one and the chosen one. No model is asked."""

from app.core.clock import as_datetime
from app.modules.analysis.chart_rules import rule_of
from app.modules.analysis.drawn_result import DrawnResult
from app.modules.boards.model import Pin
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.charts import read_keys
from graph.state import Rows


async def result_of_pin(
    connections: DatabaseConnections, pin: Pin, rows: Rows, *, sql: str, ran_at: int
) -> DrawnResult:
    """The rows that a pin's statement, or the one for its period, has given."""
    return DrawnResult(
        question=pin.question,
        sql=sql,
        dialect=pin.dialect,
        rows=rows,
        today=as_datetime(ran_at).date(),
        rule=None if pin.result is None else rule_of(pin.result.chart),
        keys=await read_keys(connections, pin.owner, pin.db_connection_id, sql=sql),
    )
