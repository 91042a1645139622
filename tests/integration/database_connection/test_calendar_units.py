"""Calendar units of the built-in writer pass the guard and give the same rows in every database."""

from datetime import date

import pytest

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.builtin import WrittenSql, write
from tests.support.corpus import DIALECTS
from tests.support.targets import Target

UNITS = {
    "week": [("2023-01-02", 1), ("2023-03-06", 1), ("2024-02-26", 1)],
    "quarter": [("2023-Q1", 2), ("2024-Q1", 1)],
    "weekday": [("Thursday", 3)],
    "month": [("2023-01", 1), ("2023-03", 1), ("2024-02", 1)],
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_customers_are_counted_by_calendar_unit(dialect: str, unit: str, target: Target) -> None:
    schema = scan(target.database, ConnectionLimits(), Stop())
    question = f"how many customers per {unit}, using signed up"
    answer = write(question, schema, previous=None, today=date(2024, 6, 1))
    assert isinstance(answer, WrittenSql)
    statement = UncheckedStatement(
        sql=answer.sql,
        schema=schema,
        database=target.database,
        limits=StatementLimits(timeout_seconds=60, max_rows=10),
        connect_seconds=60,
    )
    found = statement.run(Stop())
    assert [tuple(row) for row in found.rows] == UNITS[unit]
