"""Readings of questions over a real server: full periods, the end asked for, and what a model is shown."""

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks

FIRST, LAST = date(2024, 6, 30), date(2025, 9, 12)
PER_MONTH = (
    "SELECT STRFTIME('%Y-%m', o.day) AS month, SUM(l.amount) AS revenue "
    "FROM orders o JOIN lines l ON l.order_id = o.id GROUP BY 1 ORDER BY 1"
)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An order of 10 a day from the first to the last day, of one of three regions."""
    path: Path = tmp_path_factory.mktemp("readings") / "shop.db"
    days = [FIRST + timedelta(days=at) for at in range((LAST - FIRST).days + 1)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE, region TEXT)")
        connection.execute(
            "CREATE TABLE lines (order_id INTEGER REFERENCES orders (id), amount NUMERIC, channel_id INTEGER)"
        )
        orders = [(at, str(day), ("North", "South", "West")[at % 3]) for at, day in enumerate(days)]
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", orders)
        connection.executemany("INSERT INTO lines VALUES (?, 10, 1)", [(at,) for at, _ in enumerate(days)])
    return f"sqlite:///{path}"


async def read(client: Client, database: str, question: str, sql: str) -> str:
    session = await client.open_session(await client.connect(database))
    events = await client.ask(session, question, sql=sql)
    (text,) = chunks(events, "analysis")
    assert isinstance(text, str)
    return text


async def test_the_database_itself_tells_which_months_are_whole(plain: Client, shop: str) -> None:
    text = await read(plain, shop, "revenue per month", PER_MONTH)
    assert "July to August 2025 and July to August 2024 have the same revenue: 620." in text
    assert "June 2024 (10) is partial." in text
    assert "September 2025 (120) is partial." in text


async def test_a_statements_own_dates_make_its_first_month_partial(plain: Client, shop: str) -> None:
    within = PER_MONTH.replace("GROUP BY", "WHERE o.day >= '2025-01-16' GROUP BY")
    text = await read(plain, shop, "revenue per month", within)
    assert "January 2025 (160) is partial: only its days from 16 January 2025 on are counted." in text
    assert "2024" not in text


async def test_the_lowest_that_was_asked_for_comes_first(plain: Client, shop: str) -> None:
    counted = "SELECT region, COUNT(*) AS orders FROM orders"
    sql = f"{counted} WHERE day < '2024-07-09' GROUP BY region ORDER BY 2 DESC"
    text = await read(plain, shop, "Which region has the fewest orders?", sql)
    assert text == "All 3 have the same number of orders: 3. The total number of orders is 9."
    sql = sql.replace("07-09", "07-08")
    text = await read(plain, shop, "Which region has the fewest orders?", sql)
    assert text.startswith("**West** has the fewest orders: 2, 25% of the total of 8.")


async def test_a_reference_that_the_schema_declares_is_no_measure(plain: Client, shop: str) -> None:
    sql = "SELECT o.region, l.order_id FROM lines l JOIN orders o ON o.id = l.order_id LIMIT 5"
    text = await read(plain, shop, "regions and orders", sql)
    assert text == "5 rows with region, order id."


async def test_a_model_chooses_from_statements_on_all_rows(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    model.say("f1")
    text = await read(kai, shop, "revenue per month", PER_MONTH)
    assert text == "July to August 2025 and July to August 2024 have the same revenue: 620."
    (shown,) = [asked.text for asked in model.requests if "## Statements" in asked.text]
    assert "June 2024 (10) is partial." in shown
    assert "The total of revenue over the 16 months is 4,400." in shown
