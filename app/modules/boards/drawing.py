"""The chart of fresh rows, chosen by program: no model is asked."""

import asyncio
from datetime import UTC, datetime

from pydantic import JsonValue

from app.core.clock import as_datetime
from app.modules.analysis.analyst import with_whole_names
from app.modules.analysis.chart import choose_chart
from app.modules.analysis.computed import ChartOption, ComputedChart, computed_or_refused
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.coverage import key_columns
from app.modules.boards.model import Pin
from app.modules.database_connection.repository import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.prompt_rows import without_secrets
from graph.state import Rows


async def draw_chart(
    connections: DatabaseConnections, connection: Connection, question: str, *, sql: str, rows: Rows
) -> dict[str, JsonValue] | None:
    """Returns the chart that an answer with these rows would have. None where a table says as much.

    Raises `StatementRefused` or `DatabaseUnavailable`.
    """
    schema = await connections.schema(connection)
    keys = await connections.examine(sql, key_columns, sql, schema)
    shown = with_whole_names(without_secrets(rows))
    return await asyncio.to_thread(_draw, question, sql, connection.dialect, rows=shown, keys=keys)


async def compute_option(
    option: ChartOption, pin: Pin, rows: Rows, *, chart: dict[str, JsonValue] | None, ran_at: int
) -> ComputedChart:
    """Returns the chart with what is computed from rows of the pin, or why the rows do not allow it."""
    ran = as_datetime(ran_at).date()
    return await asyncio.to_thread(
        computed_or_refused, rows, option, chart, sql=pin.sql, dialect=pin.dialect, today=ran
    )


def _draw(
    question: str, sql: str, dialect: str, *, rows: Rows, keys: frozenset[str]
) -> dict[str, JsonValue] | None:
    found = figures(question, sql, dialect, rows=rows, keys=keys, today=datetime.now(UTC).date())
    return choose_chart(question, rows, found)
