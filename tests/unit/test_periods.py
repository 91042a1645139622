"""Statements of pins take a period by their syntax tree, or say why they do not."""

from datetime import date

import pytest

from app.modules.boards.period import Days, NotByPeriod, PeriodStatement
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn

DAYS = Days.last(90, date(2026, 11, 23))


def table(name: str, *columns: str, refers_to: tuple[str, ...] = ()) -> Table:
    """Columns that end in _date or _at hold dates."""
    described = [
        TableColumn(
            name=each,
            type="date" if each.endswith(("_date", "_at")) else "text",
            database_type="",
            minimum="2024-01-01",
            maximum="2026-11-20",
        )
        for each in columns
    ]
    keys = [ForeignKey([f"{each[:-1]}_id"], each, ["id"]) for each in refers_to]
    return Table(name=name, kind="table", columns=described, foreign_keys=keys)


TABLES = [
    table("customers", "id", "segment", "signup_date"),
    table("orders", "id", "customer_id", "order_date", "status", refers_to=("customers",)),
    table("lines", "order_id", "product_id", "amount", refers_to=("orders", "products")),
    table("products", "id", "name", "launch_date"),
    table("visits", "id", "begun_at", "ended_at"),
]
ALL = "FROM lines l JOIN orders o ON o.id = l.order_id JOIN products p ON p.id = l.product_id"
MONTHS = "WITH m AS (SELECT substr(order_date, 1, 7) AS month, count(*) AS n FROM orders GROUP BY 1)"


def test_whole_days_that_are_over_are_compared_with_as_many_before() -> None:
    assert (DAYS.since, DAYS.last_day, DAYS.until) == (
        date(2026, 8, 25),
        date(2026, 11, 22),
        date(2026, 11, 23),
    )
    assert DAYS.before() == Days(date(2026, 5, 27), date(2026, 8, 25))


@pytest.mark.parametrize(
    ("dialect", "quote", "day"),
    [
        ("sqlite", '"', "'{}'"),
        ("postgres", '"', "CAST('{}' AS DATE)"),
        ("mysql", "`", "CAST('{}' AS DATE)"),
        ("duckdb", '"', "CAST('{}' AS DATE)"),
    ],
)
def test_the_period_takes_the_place_of_the_range_that_a_statement_has(
    dialect: str, quote: str, day: str
) -> None:
    ranged = "order_date BETWEEN '2025-01-01' AND '2025-12-31' AND '2020-01-01' < order_date"
    other = "(status = 'a' OR status = 'b')"
    schema = Schema(dialect, TABLES)
    restricted = PeriodStatement(f"SELECT COUNT(*) FROM orders WHERE {ranged} AND {other}", schema).restrict(
        DAYS
    )
    column = f"orders.{quote}order_date{quote}"
    since, until = day.format("2026-08-25"), day.format("2026-11-23")
    conditions = f"{other} AND {column} >= {since} AND {column} < {until}"
    assert restricted == f"SELECT COUNT(*) FROM orders WHERE {conditions}"
    assert "2026-08-25" in check(restricted, schema)


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT count(*) FROM orders", "orders.order_date"),
        (
            "SELECT segment, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1",
            "orders.order_date",
        ),
        (
            f"SELECT substr(o.order_date, 1, 7) AS month, sum(amount) {ALL} GROUP BY month",
            "orders.order_date",
        ),
        (
            f"SELECT p.name, sum(amount) {ALL} WHERE o.order_date >= date('now', '-1 year') GROUP BY 1",
            "orders.order_date",
        ),
        (f"{MONTHS} SELECT month, n FROM m ORDER BY n", "orders.order_date"),
        ("SELECT n FROM (SELECT count(*) AS n FROM customers) AS x", "customers.signup_date"),
    ],
)
def test_a_statement_tells_the_column_that_its_rows_belong_to(sql: str, column: str) -> None:
    assert PeriodStatement(sql, Schema("sqlite", TABLES)).column == column


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT sum(amount) FROM lines", "None of its tables has dates"),
        (f"SELECT sum(amount) {ALL}", "the rows of lines have none"),
        ("SELECT count(*) FROM visits", "visits has several: begun_at, ended_at"),
        ("SELECT 1 FROM orders, customers WHERE order_date < signup_date", "by several dates"),
        ("SELECT 1 FROM orders WHERE substr(order_date, 1, 4) = '2025'", "no period can replace"),
        ("SELECT 1 FROM orders WHERE order_date > '2025-01-01' OR status = 'a'", "no period can replace"),
        ("SELECT sum(CASE WHEN order_date > '2025' THEN 1 END) FROM orders", "no period can replace"),
        ("SELECT status FROM orders GROUP BY 1 HAVING max(order_date) < '2025'", "no period can replace"),
        (
            "SELECT c.id, count(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY 1",
            "An outer join gives rows without",
        ),
        ("SELECT 1 FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)", "in several of its"),
        ("SELECT 1 FROM lines WHERE order_id IN (SELECT id FROM orders)", "inside a condition"),
        (f"{MONTHS} SELECT month FROM m WHERE month > '2025-01'", "filters again"),
        ("SELECT 1 FROM orders UNION ALL SELECT 2 FROM lines", "no plain SELECT"),
        ("WITH orders AS (SELECT 1 AS order_date) SELECT * FROM orders", "has the name of a table"),
        ("SELECT 1 FROM orders a JOIN orders b ON a.id = b.id", "several tables could give one"),
        ("SELECT (", "cannot read"),
    ],
)
def test_a_statement_that_a_period_would_make_mean_something_else_takes_none(sql: str, reason: str) -> None:
    with pytest.raises(NotByPeriod, match=reason):
        PeriodStatement(sql, Schema("sqlite", TABLES))


def test_a_person_may_choose_among_the_dates_of_the_tables() -> None:
    schema = Schema("sqlite", TABLES)
    with pytest.raises(NotByPeriod) as refused:
        PeriodStatement(f"SELECT sum(amount) {ALL}", schema)
    assert refused.value.choices == ["orders.order_date", "products.launch_date"]
    chosen = PeriodStatement(f"SELECT sum(amount) {ALL}", schema, "orders.order_date")
    assert """WHERE o."order_date" >= '2026-08-25'""" in chosen.restrict(DAYS)
    outer = "SELECT 1 FROM customers c LEFT JOIN orders o ON o.customer_id = c.id"
    with pytest.raises(NotByPeriod, match="An outer join"):
        PeriodStatement(outer, schema, "orders.order_date")


def test_days_that_sqlite_stores_as_numbers_are_no_dates() -> None:
    numbered = TableColumn(name="at", type="date", database_type="DATE", minimum="1700000000", maximum="18")
    tables = [Table(name="events", kind="table", columns=[numbered])]
    with pytest.raises(NotByPeriod, match="None of its tables"):
        PeriodStatement("SELECT count(*) FROM events", Schema("sqlite", tables))
