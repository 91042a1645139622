"""The statement that asks for the first and last day of the data behind periods, and the keys of tables."""

import pytest

from app.modules.analysis.figures.coverage import key_columns, read_span, span_statement
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn

ORDERS = Table(
    name="orders",
    kind="table",
    columns=[
        TableColumn(name="id", type="integer", database_type="", primary_key=True),
        TableColumn(name="day", type="date", database_type=""),
        TableColumn(name="status", type="text", database_type=""),
    ],
)
LINES = Table(
    name="lines",
    kind="table",
    columns=[
        TableColumn(name="order_id", type="integer", database_type=""),
        TableColumn(name="amount", type="number", database_type=""),
    ],
    foreign_keys=[ForeignKey(["order_id"], "orders", ["id"])],
)


JOINED = "FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.day >= '2025-01-16' AND l.amount > 3"
MONTHS = "SELECT DATE_TRUNC('month', day) AS m, amount FROM orders JOIN lines ON order_id = id"


def statement(sql: str, dialect: str = "sqlite") -> str | None:
    return span_statement(sql, Schema(dialect, [ORDERS, LINES]))


@pytest.mark.parametrize(
    ("dialect", "sql", "asked"),
    [
        (
            "sqlite",
            f"SELECT STRFTIME('%Y-%m', o.day), SUM(l.amount) {JOINED} GROUP BY 1",
            "SELECT MIN(o.day), MAX(o.day), COUNT(o.day) FROM orders AS o WHERE o.day >= '2025-01-16'",
        ),
        (
            "postgres",
            f"WITH m AS ({MONTHS}) SELECT m, SUM(amount) FROM m GROUP BY m",
            "SELECT MIN(day), MAX(day), COUNT(day) FROM orders",
        ),
        (
            "mysql",
            "SELECT DATE_FORMAT(day, '%Y-%m') AS m, COUNT(*) FROM orders WHERE status = 'x' GROUP BY m",
            "SELECT MIN(day), MAX(day), COUNT(day) FROM orders",
        ),
        (
            "duckdb",
            "SELECT DATE_TRUNC('year', day) AS y, COUNT(*) FROM orders GROUP BY ALL",
            "SELECT MIN(day), MAX(day), COUNT(day) FROM orders",
        ),
    ],
)
def test_the_dates_are_asked_of_their_own_table_under_their_own_conditions(
    dialect: str, sql: str, asked: str
) -> None:
    assert statement(sql, dialect) == asked


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM orders",
        "SELECT DATE(day) AS d, COUNT(*) FROM orders GROUP BY 1",
        "SELECT status, MAX(day) FROM orders GROUP BY 1",
        "SELECT status || day, COUNT(*) FROM orders GROUP BY 1",
        "no sql (((",
    ],
)
def test_without_dates_that_are_cut_nothing_is_asked(sql: str) -> None:
    assert statement(sql) is None


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        ([["2024-06-30", "2026-06-30T10:00:00", 5]], True),
        ([[None, None, 0]], False),
        ([["01/02/2024", "03/04/2025", 5]], False),
        ([[1719705600, 1782777600, 5]], False),
        ([], False),
    ],
)
def test_only_dates_in_isos_form_make_a_span(rows: list[list[str | int | None]], known: bool) -> None:
    assert (read_span(rows) is not None) is known


def test_keys_and_references_of_the_tables_that_are_read() -> None:
    schema = Schema("sqlite", [ORDERS, LINES])
    assert key_columns("SELECT * FROM lines", schema) == {"order_id"}
    assert key_columns("SELECT * FROM lines JOIN orders ON order_id = id", schema) == {"order_id", "id"}
    assert key_columns("no sql (((", schema) == frozenset()
