"""What an overview asks of a schema, and what it makes of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.overview.choosing import OverviewMeasure, groupings, measures
from app.modules.overview.computing import compute_groups, compute_months
from app.modules.sql_generation.builtin.writer import WrittenSql, write
from graph.state import Column, Rows

TODAY = date(2026, 11, 28)


def table(
    name: str, columns: Sequence[TableColumn], keys: Sequence[ForeignKey] = (), *, row_count: int
) -> Table:
    return Table(name=name, kind="table", columns=columns, foreign_keys=keys, row_count=row_count)


def column(name: str, kind: str = "number", **known: object) -> TableColumn:
    return TableColumn(name=name, type=kind, database_type=kind, **known)  # type: ignore[arg-type]


ORDERS = table(
    "orders",
    [
        column("id", "integer", primary_key=True),
        column("order_date", "date"),
        column("status", "text", values=["open", "paid", "sent"]),
        column("api_token", "text", values=["a", "b", "c", "d"]),
    ],
    row_count=500,
)
LINES = table(
    "order_lines",
    [
        column("order_id", "integer"),
        column("quantity", "integer"),
        column("unit_price"),
        column("amount"),
        column("secret_amount"),
        column("product_code", "integer"),
    ],
    [ForeignKey(["order_id"], "orders", ["id"])],
    row_count=900,
)
LINES = replace(LINES, secrets=["secret_amount"])
VISITS = table("visits", [column("seen_at", "datetime"), column("pages", "integer")], row_count=50)
NAMES = table("names", [column("name", "text")], row_count=9_000)
EMPTY = table("refunds", [column("refund_date", "date"), column("amount")], row_count=0)
SCHEMA = Schema("sqlite", [ORDERS, LINES, VISITS, NAMES, EMPTY])


def chosen(schema: Schema = SCHEMA, uses: Mapping[str, int] | None = None) -> list[tuple[str, str]]:
    return [(each.table.name, each.name) for each in measures(schema, uses or {})]


def test_amounts_of_money_come_first_then_rows_then_other_tables() -> None:
    assert chosen() == [
        ("order_lines", "amount"),
        ("orders", "orders"),
        ("visits", "visits"),
        ("order_lines", "quantity"),
    ]


def test_tables_in_use_come_before_larger_ones() -> None:
    assert chosen(uses={"visits": 3})[1] == ("visits", "visits")


def test_secrets_keys_prices_and_tables_without_rows_or_dates_are_never_chosen() -> None:
    names = {name for _, name in chosen()}
    assert not names & {"secret amount", "unit price", "product code", "names", "refunds"}


def test_groups_are_columns_of_few_values_without_secrets() -> None:
    assert [each.name for each in groupings(SCHEMA, OverviewMeasure(LINES, LINES.columns[3]))] == ["status"]
    assert groupings(SCHEMA, OverviewMeasure(VISITS)) == []


@pytest.mark.parametrize(
    ("measure", "by", "english", "german"),
    [
        (
            OverviewMeasure(ORDERS),
            None,
            "Number of orders per month",
            "Anzahl der Zeilen von „orders“ pro Monat",
        ),
        (
            OverviewMeasure(LINES, LINES.columns[3]),
            ORDERS.columns[2],
            "Total amount of order lines per status",
            "Summe von „amount“ in „order lines“ je „status“",
        ),
        (
            OverviewMeasure(ORDERS, column("total")),
            None,
            "Sum of total of orders per month",
            "Summe von „total“ in „orders“ pro Monat",
        ),
    ],
)
def test_a_question_is_said_in_both_languages(
    measure: OverviewMeasure, by: TableColumn | None, english: str, german: str
) -> None:
    assert (measure.asked(by), measure.asked(by, "de")) == (english, german)


@pytest.mark.parametrize("measure", measures(SCHEMA, {}), ids=lambda each: each.name)
def test_the_built_in_writer_understands_each_question_as_it_is_meant(measure: OverviewMeasure) -> None:
    answer = write(measure.asked(None), SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert measure.is_that_of(answer.sql, SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT d, COUNT(o.amount) FROM orders AS o GROUP BY d",
        "SELECT d, SUM(amount) FROM orders GROUP BY d",
        "SELECT d, SUM(order_lines.amount) FROM order_lines WHERE x = 1 GROUP BY d",
        "SELECT d, SUM(order_lines.amount), COUNT(*) FROM order_lines GROUP BY d",
        "SELECT d FROM order_lines",
    ],
)
def test_a_statement_of_another_meaning_is_not_that_of_the_measure(sql: str) -> None:
    assert not OverviewMeasure(LINES, LINES.columns[3]).is_that_of(sql, SCHEMA)


SQL = "SELECT STRFTIME('%Y-%m', order_date) AS month, SUM(amount) AS total_amount FROM orders GROUP BY 1"


def days(first: date, last: date, value: int = 2, **known: object) -> Rows:
    count = (last - first).days + 1
    rows = [[(first + timedelta(days=day)).isoformat(), value] for day in range(count)]
    columns = [Column(name="day", type="text"), Column(name="total_amount", type="integer")]
    return Rows(**{"columns": columns, "rows": rows, "row_count": count, "truncated": False, **known})  # type: ignore[typeddict-item]


MONEY = OverviewMeasure(ORDERS, column("amount", unit="EUR"))


def test_a_figure_is_of_whole_months_and_beside_the_same_months_of_the_year_before() -> None:
    rows = days(date(2025, 2, 10), TODAY)
    series = compute_months(MONEY, "Total amount", rows, sql=SQL, dialect="sqlite", today=TODAY)
    assert series is not None
    figure = series.figure("Total amount", TODAY - timedelta(days=1))
    assert (figure.first_month, figure.last_month, figure.unit) == ("2026-03", "2026-10", "EUR")
    assert (figure.value, figure.before) == (490, 490)  # 245 days each
    assert [figure.months[0].month, figure.months[-1].month] == ["2025-03", "2026-10"]
    assert (figure.latest, figure.usual) == (2, 2)
    assert figure.sql == SQL


def test_without_half_a_year_to_compare_a_figure_is_of_the_last_year_alone() -> None:
    rows = days(date(2025, 9, 1), TODAY)
    series = compute_months(MONEY, "Total amount", rows, sql=SQL, dialect="sqlite", today=TODAY)
    assert series is not None
    figure = series.figure("Total amount", None)
    assert (figure.first_month, figure.last_month, figure.before) == ("2025-11", "2026-10", None)
    assert (figure.latest, figure.usual) == (None, None)


def test_a_month_without_rows_has_no_value_and_the_usual_counts_its_days_as_nothing() -> None:
    rows = days(date(2026, 3, 1), date(2026, 5, 31))
    rows["rows"] += days(date(2026, 8, 1), date(2026, 11, 3))["rows"]
    rows["rows"] = [row for row in rows["rows"] if row[0] != "2026-10-27"]
    series = compute_months(MONEY, "Total amount", rows, sql=SQL, dialect="sqlite", today=TODAY)
    assert series is not None
    figure = series.figure("Total amount", date(2026, 11, 3))
    assert [each.month for each in figure.months if each.value is None] == ["2026-06", "2026-07"]
    assert figure.usual == 1.5


@pytest.mark.parametrize(
    "rows",
    [
        days(date(2026, 9, 1), TODAY),
        days(date(2025, 1, 1), TODAY + timedelta(days=1)),
        days(date(2025, 1, 1), TODAY, truncated=True),
        days(date(2025, 1, 1), TODAY, rows=[["no day", 1]]),
        days(date(2025, 1, 1), TODAY, rows=[["2026-01-01", "no number"]]),
        days(date(2025, 1, 1), TODAY, rows=[]),
    ],
    ids=["two months", "after today", "cut", "no day", "no number", "no rows"],
)
def test_rows_that_give_no_true_figure_give_none(rows: Rows) -> None:
    assert compute_months(MONEY, "Total amount", rows, sql=SQL, dialect="sqlite", today=TODAY) is None


def test_a_finding_is_a_computed_statement_in_the_language_of_the_page() -> None:
    sql = "SELECT status, SUM(amount) AS total_amount FROM orders GROUP BY status"
    rows = Rows(
        columns=[Column(name="status", type="text"), Column(name="total_amount", type="integer")],
        rows=[["paid_late", 60], ["open", 30], ["sent", 10]],
        row_count=3,
        truncated=False,
    )
    asked = compute_groups(MONEY, "Total amount per status", rows, sql=sql, dialect="sqlite", today=TODAY)
    assert asked.finding("en") == "paid_late has the highest total amount: 60, 60% of the total of 100"
    assert asked.finding("de") is not None
    cut = compute_groups(
        MONEY, "?", {**rows, "truncated": True, "cut_by": "rows"}, sql=sql, dialect="sqlite", today=TODAY
    )
    assert cut.finding("en") is None
