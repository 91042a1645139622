"""Figures over the sample business and Chinook, each computed a second time by other means."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import figures
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.figures.trend import DataSpan
from app.modules.analysis.formats import Formats
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import RawRows, collect
from app.sample_data.build import build_sample
from graph.state import Column, Rows
from tests.unit.builtin.databases import CHINOOK

TODAY = date(2026, 6, 30)
SPAN = DataSpan(date(2024, 6, 30), TODAY, 20_000)
REVENUE = "FROM order_lines l JOIN orders o ON o.id = l.order_id JOIN products p ON p.id = l.product_id"
IN_2025 = "WHERE o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("sample") / "sample.db"
    build_sample(path, TODAY)
    with closing(sqlite3.connect(path)) as connection:
        yield connection


@pytest.fixture
def chinook() -> Iterator[sqlite3.Connection]:
    if not CHINOOK.exists():
        pytest.skip("needs the Chinook database")
    with closing(sqlite3.connect(CHINOOK)) as connection:
        yield connection


def text_of(database: sqlite3.Connection, question: str, sql: str, span: DataSpan | None = None) -> str:
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description]
    result = collect(RawRows(names, [None] * len(names), cursor), StatementLimits())
    columns = [Column(name=column.name, type=column.type) for column in result.columns]
    rows = Rows(columns=columns, rows=result.rows, row_count=len(result.rows), truncated=result.truncated)
    found = figures(question, sql, "sqlite", rows=rows, span=span, today=TODAY)
    return " ".join(
        fact.statement
        for fact in fact_sheet(
            FactTable(question=question, rows=rows, found=found, wording=Wording("en"))
        ).facts
    )


def shown(value: Decimal) -> str:
    return Formats("en").amount(value)


def share(part: Decimal, whole: Decimal) -> str:
    return Formats("en").percent(part / whole)


def month(text: str) -> str:
    return Formats("en").period(Period(date.fromisoformat(f"{text}-01"), "month"))


def day(text: str) -> str:
    return Formats("en").day(date.fromisoformat(text))


def lines(database: sqlite3.Connection) -> list[tuple[str, str, str, Decimal, int]]:
    """Day, category, product, amount and quantity of every order line."""
    found = database.execute(f"SELECT o.order_date, p.category, p.name, l.amount, l.quantity {REVENUE}")
    return [(str(row[0]), row[1], row[2], Decimal(str(row[3])), row[4]) for row in found]


def test_orders_per_day_are_read_to_the_last_of_731_days(sample: sqlite3.Connection) -> None:
    sql = "SELECT order_date AS day, COUNT(*) AS orders FROM orders GROUP BY order_date ORDER BY order_date"
    text = text_of(sample, "Number of orders per day", sql)
    days = Counter(str(day) for (day,) in sample.execute("SELECT order_date FROM orders"))
    ordered = sorted(days)
    assert len(ordered) == 731
    assert f"{day(ordered[-1])} ({days[ordered[-1]]}) is partial: it still runs" in text
    highest = max(ordered[:-1], key=lambda each: days[each])
    assert f"**{day(highest)}** has the most orders: {max(days.values())}." in text
    assert f"The total number of orders over the 731 days is {sum(days.values()):,}." in text


def test_days_are_folded_to_full_months(sample: sqlite3.Connection) -> None:
    sql = "SELECT order_date AS day, COUNT(*) AS orders FROM orders GROUP BY order_date ORDER BY order_date"
    months = Counter(str(day)[:7] for (day,) in sample.execute("SELECT order_date FROM orders"))
    text = text_of(sample, "Number of orders per day", sql)
    latest = sum(count for each, count in months.items() if "2025-07" <= each <= "2026-05")
    before = sum(count for each, count in months.items() if "2024-07" <= each <= "2025-05")
    rose = f"rose by {share(Decimal(latest - before), Decimal(before))} on July 2024 to May 2025"
    assert f"Orders of July 2025 to May 2026 {rose}, from {before:,} to {latest:,}." in text
    assert "fell by" not in text


def test_a_categorys_total_is_that_of_all_its_months(sample: sqlite3.Connection) -> None:
    sql = (
        "SELECT STRFTIME('%Y-%m', o.order_date) AS month, p.category, SUM(l.amount) AS revenue "
        f"{REVENUE} {IN_2025} GROUP BY 1, 2 ORDER BY 1, 2"
    )
    text = text_of(sample, "Show monthly revenue by category in 2025", sql)
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    months: defaultdict[str, Decimal] = defaultdict(Decimal)
    for day, category, _, amount, _ in lines(sample):
        if day.startswith("2025"):
            totals[category] += amount
            months[day[:7]] += amount
    best, second, *_, worst = sorted(totals, key=lambda category: -totals[category])
    whole = sum(totals.values(), Decimal(0))
    led = f"**{best}** has the highest revenue over the 12 months: {shown(totals[best])}"
    assert f"{led}, {share(totals[best], whole)} of the total of {shown(whole)}." in text
    assert f"{second} is second by revenue over the 12 months with {shown(totals[second])}." in text
    assert f"{worst} has the lowest revenue over the 12 months: {shown(totals[worst])}." in text
    low, high = min(months, key=lambda each: months[each]), max(months, key=lambda each: months[each])
    level = f"between {shown(months[low])} ({month(low)}) and {shown(months[high])} ({month(high)})"
    level += f", from {shown(months['2025-01'])} in the first to {shown(months['2025-12'])} in the last"
    assert f"Altogether, revenue in the 12 months: {shown(whole / 12)} on average, {level}." in text
    assert "fell by" not in text


def test_a_month_of_one_day_is_compared_with_nothing(sample: sqlite3.Connection) -> None:
    sql = f"SELECT STRFTIME('%Y-%m', o.order_date) AS month, SUM(l.amount) AS revenue {REVENUE} GROUP BY 1"
    text = text_of(sample, "Revenue per month", sql, SPAN)
    months: defaultdict[str, Decimal] = defaultdict(Decimal)
    for day, _, _, amount, _ in lines(sample):
        months[day[:7]] += amount
    latest = sum((each for at, each in months.items() if "2025-07" <= at <= "2026-05"), Decimal(0))
    before = sum((each for at, each in months.items() if "2024-07" <= at <= "2025-05"), Decimal(0))
    rose = f"rose by {share(latest - before, before)} on July 2024 to May 2025"
    assert f"Revenue of July 2025 to May 2026 {rose}, from {shown(before)} to {shown(latest)}." in text
    begun = f"June 2024 ({shown(months['2024-06'])}) is partial: the data begins on 30 June 2024."
    assert begun in text
    assert f"June 2026 ({shown(months['2026-06'])}) is partial: it still runs on 30 June 2026." in text
    assert "fell by" not in text
    assert "7,894%" not in text


@pytest.mark.parametrize(("question", "order"), [("Top 10 products by revenue", 3), ("by units", 4)])
def test_the_top_ten_are_of_the_measure_asked_for(
    sample: sqlite3.Connection, question: str, order: int
) -> None:
    sql = (
        f"SELECT p.name AS product, SUM(l.amount) AS revenue, SUM(l.quantity) AS units {REVENUE} "
        f"GROUP BY p.name ORDER BY {'revenue' if order == 3 else 'units'} DESC LIMIT 10"
    )
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in lines(sample):
        totals[line[2]] += Decimal(str(line[order]))
    ten = sorted(totals.values(), reverse=True)[:10]
    best = max(totals, key=lambda product: totals[product])
    text = text_of(sample, question, sql)
    value = shown(ten[0]) if order == 3 else f"{ten[0]:,}"
    name = "highest revenue" if order == 3 else "most units"
    assert text.startswith(f"**{best}** has the {name}: {value}.")
    assert "total" not in text
    assert "lowest" not in text


def test_the_lowest_is_the_lowest(sample: sqlite3.Connection) -> None:
    sql = f"SELECT p.name AS product, SUM(l.amount) AS revenue {REVENUE} GROUP BY p.name ORDER BY 2 DESC"
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for _, _, product, amount, _ in lines(sample):
        totals[product] += amount
    worst, best = min(totals, key=lambda one: totals[one]), max(totals, key=lambda one: totals[one])
    text = text_of(sample, "Which of these has the lowest revenue?", sql)
    assert text.startswith(f"**{worst}** has the lowest revenue: {shown(totals[worst])}")
    assert f"{best} has the highest revenue: {shown(totals[best])}." in text


def test_averages_of_regions_and_channels_are_left_alone(sample: sqlite3.Connection) -> None:
    joined = f"{REVENUE} JOIN customers c ON c.id = o.customer_id JOIN regions r ON r.id = c.region_id"
    sql = f"SELECT r.name AS region, o.channel, AVG(l.amount) AS average_amount {joined} GROUP BY 1, 2"
    averages = {f"{region} / {channel}": value for region, channel, value in sample.execute(sql)}
    best = max(averages, key=lambda pair: averages[pair])
    text = text_of(sample, "Average amount by region and channel", sql)
    assert text.startswith(f"**{best}** has the highest average amount: {averages[best]:,.2f}.")
    assert "total" not in text
    assert "%" not in text


def test_chinooks_sparse_months_are_whole(chinook: sqlite3.Connection) -> None:
    sql = "SELECT STRFTIME('%Y-%m', InvoiceDate) AS month, SUM(Total) AS revenue FROM Invoice GROUP BY 1"
    months: defaultdict[str, Decimal] = defaultdict(Decimal)
    for day, total in chinook.execute("SELECT InvoiceDate, Total FROM Invoice"):
        months[day[:7]] += Decimal(str(total))
    *_, before, latest = sorted({each[:4] for each in months})
    years = (before, latest)
    days = chinook.execute("SELECT MIN(date(InvoiceDate)), MAX(date(InvoiceDate)) FROM Invoice").fetchone()
    span = DataSpan(date.fromisoformat(days[0]), date.fromisoformat(days[1]), 412)
    text = text_of(chinook, "Revenue per month", sql, span)
    year = [sum((each for at, each in months.items() if at[:4] == name), Decimal(0)) for name in years]
    assert f"from {shown(year[0])} to {shown(year[1])}" in text
    assert "partial" not in text


def test_all_genres_at_the_low_end_are_counted(chinook: sqlite3.Connection) -> None:
    sql = (
        "SELECT ar.Name, COUNT(*) AS albums FROM Album al JOIN Artist ar USING (ArtistId) "
        "GROUP BY ar.ArtistId, ar.Name"
    )
    counts = Counter(artist for (artist,) in chinook.execute("SELECT ArtistId FROM Album"))
    least = sum(count == 1 for count in counts.values())
    text = text_of(chinook, "Albums per artist", sql)
    most = max(counts.values())
    assert f"has the most albums: {most}, {share(Decimal(most), Decimal(347))} of the total of 347." in text
    assert f" and {least - 3} more share the fewest albums: 1 each." in text
