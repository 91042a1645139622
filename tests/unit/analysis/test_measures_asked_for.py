"""A chart draws what the question asks for, whatever the order of the result's columns is."""

from itertools import permutations
from typing import Any

import pytest
from pydantic import JsonValue

from app.modules.analysis.chart import choose_chart
from app.modules.analysis.figures import figures
from graph.state import Column, Rows
from tests.support.cases import assert_each

COLUMNS = {
    "product": "name AS product",
    "category": "category",
    "units": "SUM(quantity) AS units",
    "revenue": "SUM(amount) AS revenue",
    "price": "AVG(price) AS price",
}
TYPES = {"product": "text", "category": "text", "units": "integer", "revenue": "number", "price": "number"}
ROWS: list[dict[str, JsonValue]] = [
    {
        "product": f"P{at:02}",
        "category": "tools" if at % 3 else "toys",
        "units": at + 1,
        "revenue": 1000.5 - at,
        "price": 3.5 + at % 4,
    }
    for at in range(10)
]
ORDERS = list(permutations(COLUMNS))


def drawn(question: str, order: tuple[str, ...], *, sorted_by: str) -> Any:
    sql = (
        f"SELECT {', '.join(COLUMNS[name] for name in order)} FROM lines GROUP BY name, category "
        f"ORDER BY {sorted_by} DESC LIMIT 10"
    )
    rows = Rows(
        columns=[Column(name=name, type=TYPES[name]) for name in order],
        rows=[[row[name] for name in order] for row in ROWS],
        row_count=len(ROWS),
        truncated=False,
        cut_by=None,
    )
    return choose_chart(question, rows, figures(question, sql, "sqlite", rows=rows))


def named(chart: Any, order: tuple[str, ...]) -> tuple[str, str, list[JsonValue]]:
    """The names of the columns of the values and of the names, and the values."""
    note = chart["usermeta"]["kai"]
    value = note["values"][0]["column"]
    values = [datum[f"c{value}"] for datum in chart["data"]["values"]]
    return order[value], order[note["across"]], values


def test_the_top_ten_by_revenue_are_drawn_by_revenue_for_every_order_of_columns() -> None:
    def check(order: tuple[str, ...]) -> None:
        chart = drawn("Top 10 products by revenue", order, sorted_by="revenue")
        assert named(chart, order) == ("revenue", "product", [row["revenue"] for row in ROWS])

    assert_each(ORDERS, check, ids="-".join)


def test_the_measure_named_in_the_question_goes_before_the_one_sorted_by() -> None:
    def check(order: tuple[str, ...]) -> None:
        chart = drawn("How many units of each product?", order, sorted_by="revenue")
        assert named(chart, order)[:2] == ("units", "product")

    assert_each(ORDERS, check, ids="-".join)


def test_without_a_named_measure_the_one_sorted_by_is_drawn() -> None:
    def check(order: tuple[str, ...]) -> None:
        chart = drawn("The best products", order, sorted_by="revenue")
        assert named(chart, order)[:2] == ("revenue", "product")

    assert_each(ORDERS, check, ids="-".join)


def test_without_a_named_or_sorted_measure_the_first_one_is_drawn() -> None:
    def check(order: tuple[str, ...]) -> None:
        chart = drawn("What about the products?", order, sorted_by="product")
        first = next(name for name in order if TYPES[name] != "text")
        assert named(chart, order)[0] == first

    assert_each(ORDERS, check, ids="-".join)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which regions grew the most?", "revenue_growth"),
        ("Where did sales rise most between the years?", "growth_pct"),
        ("Which region declined most?", "change"),
        ("Which regions had the strongest increase?", "percentage change"),
        ("What is the growth per region?", "growth"),
    ],
)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_what_grew_is_drawn_by_its_growth_wherever_its_column_stands(
    question: str, named: str, at: int
) -> None:
    names = ["region", "orders_2025", "orders_2026"]
    names.insert(at, named)
    rows = Rows(
        columns=[Column(name=name, type="text" if name == "region" else "number") for name in names],
        rows=[[f"R{row}" if name == "region" else row + 0.5 for name in names] for row in range(4)],
        row_count=4,
        truncated=False,
        cut_by=None,
    )
    columns = ", ".join(f'MAX(x{place}) AS "{name}"' for place, name in enumerate(names[1:]))
    sql = f"SELECT region, {columns} FROM sales GROUP BY region"
    main = figures(question, sql, "sqlite", rows=rows).main
    assert main is not None
    assert main.name == named
