"""Calls for facts that the sheet lacks."""

import sqlite3
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modules.analysis.facts.calls import FactCallRefused, parse_call
from tests.support.cases import assert_each
from tests.unit.analysis.facts.readings import read, rows_of

MONTHS = [
    [f"{year}-{month:02}", region, 100.0 * month + (year - 2025) * 30 + (10 if region == "West" else 0)]
    for year in (2025, 2026)
    for month in range(1, 13)
    for region in ("West", "North")
    if (year, month) < (2026, 12)
]
PER_MONTH = "SELECT month, region, SUM(amount) AS revenue FROM orders GROUP BY 1, 2 ORDER BY 1, 2"
_, OVER_TIME = read(
    rows_of("month:text region:text revenue:number", MONTHS), PER_MONTH, "Revenue per region and month"
)
_, OF_CATEGORIES = read()


@pytest.mark.parametrize(
    ("call", "statement"),
    [
        ('value(revenue, category="tents")', "Revenue of Tents: 150,000.50."),
        ("share(revenue, category=Tents)", "Revenue of Tents: 150,000.50, 33.8% of the total of 443,835.08."),
        (
            "gap(revenue, category='Shoes', category='Tents')",
            "Tents is 100,000.25 ahead of Shoes in revenue, 22.5 points of the total.",
        ),
        (
            'gap(revenue, category="Hats", category="Shoes")',
            "Hats and Shoes have the same revenue: 50,000.25.",
        ),
        ("total(revenue)", "The total of revenue is 443,835.08."),
        ("median(Revenue)", "The median of revenue over 4 rows is 100,000.38."),
        ("lowest(revenue)", "**Shoes** and **Hats** share the lowest revenue: 50,000.25 each."),
        ('count(category="Tents")', "1 of 4 rows has category Tents."),
    ],
)
def test_a_call_is_answered_by_a_statement(call: str, statement: str) -> None:
    assert OF_CATEGORIES.answer(call).statement == statement


@pytest.mark.parametrize(
    ("call", "statement"),
    [
        (
            'total(revenue, month="2026-06".."2026-10")',
            "For June to October 2026: The total of revenue is 8,350.",
        ),
        (
            'total(revenue, month="2026-06..2026-10")',
            "For June to October 2026: The total of revenue is 8,350.",
        ),
        (
            'change(revenue, "2025-10", "2026-10")',
            "Revenue in October 2026 rose by 3% on October 2025, from 2,010 to 2,070.",
        ),
        (
            'change(revenue, "2026-01".."2026-10", "2025-01".."2025-10")',
            (
                "Revenue of January to October 2026 rose by 5.4% on January to October 2025, "
                "from 11,100 to 11,700."
            ),
        ),
        ('highest(revenue, month="2026-10")', "For October 2026: **West** has the highest revenue: 1,040."),
        ("rises(revenue)", "Revenue rose on the period before in 20 of 21 months."),
    ],
)
def test_a_call_may_name_periods_and_ranges(call: str, statement: str) -> None:
    assert OVER_TIME.answer(call).statement == statement


def test_a_call_that_has_no_fact_is_refused_with_its_reason() -> None:
    def check(call: str, reason: str) -> None:
        with pytest.raises(FactCallRefused, match=reason.replace("(", r"\(")):
            OVER_TIME.answer(call)

    assert_each(
        [
            ("profit(revenue)", "no statement of this kind can be called for"),
            ("total(profit)", "there is no column profit"),
            ("total(region)", "region is no measure"),
            ("total()", "it names no measure"),
            ('total(revenue, region="Sued")', "no row has this region"),
            ('value(revenue, region="West")', "23 rows meet its conditions"),
            ('change(revenue, "2025-11", "2026-11")', "one of its periods is not whole"),
            ('change(revenue, "2025-03", "2026-10")', "a season may lie between its periods"),
            ('change(revenue, "2025-03", "2026")', "its periods differ in length"),
            ('change(revenue, "2024-03", "2025-03")', "one of its periods has no row"),
            ('change(revenue, "2025-03")', "it needs two periods, or two ranges of them"),
            ('gap(revenue, region="West")', "it needs two labels of one column"),
            ("share(revenue)", "a share of it has no meaning"),
            ("count()", "it needs a condition"),
            ("total(revenue, ", "it is no call"),
            ("total(revenue=)", "its arguments cannot be read"),
            ("total(" + "a" * 300 + ")", "it is longer than 300 characters"),
        ],
        check,
    )


def test_of_a_result_that_a_limit_cut_only_values_can_be_called_for() -> None:
    rows = rows_of("country:text revenue:number", [["USA", 50], ["Chad", 40]])
    _, calls = read(rows, "SELECT country, SUM(total) AS revenue FROM i GROUP BY 1 ORDER BY 2 DESC LIMIT 2")
    assert calls.answer('value(revenue, country="Chad")').statement == "Revenue of Chad: 40."
    for call in ("total(revenue)", "lowest(revenue)", 'share(revenue, country="Chad")', "average(revenue)"):
        with pytest.raises(FactCallRefused, match="only a part"):
            calls.answer(call)


def test_what_is_not_additive_has_no_total_and_no_share() -> None:
    rows = rows_of("city:text avg_price:number", [["Oslo", 5.5], ["Rome", 4.5], ["Bonn", 4]])
    _, calls = read(rows, "SELECT city, AVG(price) AS avg_price FROM t GROUP BY 1", "Average price by city")
    for call in ("total(avg_price)", 'share(avg_price, city="Oslo")', "average(avg_price)"):
        with pytest.raises(FactCallRefused):
            calls.answer(call)
    assert "1" in calls.answer('gap(avg_price, city="Oslo", city="Rome")').statement


def test_a_label_that_stands_twice_is_not_called_by_it_alone() -> None:
    rows = rows_of("name:text amount:number", [["Ann", 5], ["Ann", 7], ["Bob", 3]])
    _, calls = read(rows, "SELECT name, amount FROM orders", "amount by name")
    with pytest.raises(FactCallRefused, match="2 rows"):
        calls.answer('value(amount, name="Ann")')


@given(
    st.sampled_from(["West", "North", None]),
    st.integers(0, 22),
    st.integers(0, 22),
    st.sampled_from(["total", "average", "highest", "lowest", "count"]),
)
def test_the_value_of_a_call_is_that_of_a_query(region: str | None, start: int, end: int, kind: str) -> None:
    names = sorted({str(row[0]) for row in MONTHS})
    first, last = names[min(start, end)], names[max(start, end)]
    conditions = [f'month="{first}".."{last}"', *([f'region="{region}"'] if region else [])]
    arguments = conditions if kind == "count" else ["revenue", *conditions]
    try:
        fact = OVER_TIME.answer(f"{kind}({', '.join(arguments)})")
    except FactCallRefused:
        return
    where = f"month BETWEEN '{first}' AND '{last}'" + (f" AND region = '{region}'" if region else "")
    by = "region" if region is None else "month"
    whole = " AND month < '2026-11'" if by == "month" else ""
    queries = {
        "total": f"SELECT SUM(revenue) FROM r WHERE {where}",
        "average": f"SELECT AVG(revenue) FROM r WHERE {where}",
        "count": f"SELECT COUNT(*) FROM r WHERE {where}",
        "highest": f"SELECT SUM(revenue) FROM r WHERE {where}{whole} GROUP BY {by} ORDER BY 1 DESC LIMIT 1",
        "lowest": f"SELECT SUM(revenue) FROM r WHERE {where}{whole} GROUP BY {by} ORDER BY 1 LIMIT 1",
    }
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE r (month TEXT, region TEXT, revenue REAL)")
    database.executemany("INSERT INTO r VALUES (?, ?, ?)", MONTHS)
    (value,) = database.execute(queries[kind]).fetchone()
    database.close()
    assert isinstance(fact.value, Decimal)
    assert float(fact.value) == pytest.approx(value)


@given(
    st.text(max_size=320)
    | st.lists(st.sampled_from(list("total(),=\"..revenue'West \\“”")), max_size=60).map("".join)
)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_call(text)
        OVER_TIME.answer(text)
    except FactCallRefused:
        pass


def test_the_value_of_a_single_row_can_be_called_for() -> None:
    _, single = read(
        rows_of("revenue:number orders:integer", [[1234.5, 7]]),
        "SELECT SUM(a) AS revenue, COUNT(*) AS orders FROM t",
    )
    assert single.answer("value(revenue)").statement == "**Revenue: 1,234.50**."
    assert single.answer("value(orders)").statement == "**Orders: 7**."
