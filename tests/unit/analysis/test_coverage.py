"""The statement that asks for the first and last day of the data behind periods, and the keys of tables."""

from datetime import date

import pytest
from pydantic import JsonValue

from app.modules.analysis.figures import DataSpan
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
    found = span_statement(sql, Schema(dialect, [ORDERS, LINES]))
    return None if found is None else found.sql


@pytest.mark.parametrize(
    ("rest", "narrowed"),
    [
        ("FROM orders GROUP BY 1", False),
        ("FROM orders WHERE day >= '2026-01-01' AND day < '2026-04-01' GROUP BY 1", False),
        ("FROM orders WHERE day >= '2026-01-01' AND status = 'x' GROUP BY 1", True),
        ("FROM orders WHERE status IS NULL GROUP BY 1", True),
        ("FROM orders JOIN lines ON order_id = id GROUP BY 1", True),
        ("FROM (SELECT day FROM orders WHERE status = 'x') AS o GROUP BY 1", True),
    ],
)
def test_other_conditions_than_those_on_the_dates_narrow_the_rows(rest: str, narrowed: bool) -> None:
    found = span_statement(
        f"SELECT STRFTIME('%Y-%m', day) AS m, COUNT(*) {rest}", Schema("sqlite", [ORDERS, LINES])
    )
    assert found is not None
    assert found.narrowed is narrowed


@pytest.mark.parametrize(
    ("dialect", "sql", "asked"),
    [
        (
            "sqlite",
            f"SELECT STRFTIME('%Y-%m', o.day), SUM(l.amount) {JOINED} GROUP BY 1",
            (
                "SELECT MIN(o.day), MAX(o.day), COUNT(o.day), '2025-01-16', NULL, NULL, "
                "(SELECT MIN(o.day) FROM orders AS o), (SELECT MAX(o.day) FROM orders AS o) "
                "FROM orders AS o WHERE o.day >= '2025-01-16'"
            ),
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


@pytest.mark.parametrize(
    ("dialect", "week"),
    [
        ("sqlite", "DATE(day, 'weekday 0', '-6 days')"),
        ("sqlite", "DATE(day, '-' || ((STRFTIME('%w', day) + 6) % 7) || ' days')"),
        ("mysql", "DATE_SUB(DATE(day), INTERVAL WEEKDAY(day) DAY)"),
        ("mysql", "YEARWEEK(day, 3)"),
        ("postgres", "(day - (EXTRACT(isodow FROM day)::INT - 1))::DATE"),
        ("tsql", "DATEADD(WEEK, DATEDIFF(WEEK, 0, day), 0)"),
    ],
)
def test_dates_set_back_to_the_first_day_of_their_week_are_asked_for(dialect: str, week: str) -> None:
    asked = statement(f"SELECT {week} AS w, COUNT(*) AS n FROM orders GROUP BY {week}", dialect)
    assert asked is not None
    assert asked.startswith("SELECT MIN(day), MAX(day), COUNT(")


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        ("day > '2026-01-05'", "'2026-01-05', NULL, NULL"),
        ("day < DATE('now') AND day >= '2026-01-01'", "'2026-01-01', DATE('now'), NULL"),
        ("day BETWEEN '2026-01-01' AND '2026-03-31'", "'2026-01-01', NULL, '2026-03-31'"),
        ("day <= '2026-03-31' AND status = 'x'", "NULL, NULL, '2026-03-31'"),
    ],
)
def test_the_bounds_of_the_dates_are_asked_for(condition: str, bounds: str) -> None:
    asked = statement(f"SELECT STRFTIME('%Y-%m', day) AS m FROM orders WHERE {condition} GROUP BY 1")
    assert asked is not None
    assert f"COUNT(day), {bounds}, (SELECT MIN(day) FROM orders)" in asked


@pytest.mark.parametrize(
    ("before", "until"),
    [
        ("2026-07-01", date(2026, 6, 30)),
        ("2026-07-01 00:00:00", date(2026, 6, 30)),
        ("2026-07-01T12:00:00", date(2026, 7, 1)),
    ],
)
def test_a_date_before_a_day_is_of_the_day_before_at_the_latest(before: str, until: date) -> None:
    rows: list[list[JsonValue]] = [
        ["2026-01-02", "2026-06-28", 9, "2026-01-01", before, None, "2024-01-01", "2026-11-30"]
    ]
    assert read_span(rows) == DataSpan(
        date(2026, 1, 2),
        date(2026, 6, 28),
        9,
        since=date(2026, 1, 1),
        until=until,
        earliest=date(2024, 1, 1),
        latest=date(2026, 11, 30),
    )
