"""Each tool of investigations, called by the model, on real databases."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import JsonValue

from tests.e2e.test_investigations import PLAN, QUESTION, calls, finish, named
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks

Calls = tuple[str, dict[str, JsonValue]]

SALES = """
CREATE TABLE regions (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE sales (id INTEGER, region_id INTEGER REFERENCES regions (id), sold_on DATE, amount DOUBLE,
    currency TEXT, note TEXT);
INSERT INTO regions VALUES (1, 'West'), (2, 'East');
"""


def defective() -> list[str]:
    """Sixty days of sales with one defect of each kind."""
    rows = []
    for number in range(60):
        day = date(2025, 1, 1) + timedelta(days=number + (20 if number >= 40 else 0))
        amount = 1_000_000 if number == 7 else 100 + number % 9
        region = 9 if number == 3 else 1 + number % 2
        rows.append(f"({number}, {region}, '{day}', {amount}, 'EUR', NULL)")
    rows += [rows[5], f"(60, 1, '{datetime.now(UTC).date() + timedelta(days=400)}', 100, 'EUR', 'later')"]
    return [SALES, f"INSERT INTO sales VALUES {', '.join(rows)};"]


def sqlite_of(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "sales.db")) as made:
        made.executescript("".join(defective()))
    return f"sqlite:///{folder}/sales.db"


def duckdb_of(folder: Path) -> str:
    with duckdb.connect(str(folder / "sales.duckdb")) as made:
        # DuckDB keeps foreign keys: an orphan cannot be stored under a declared one.
        script = "".join(defective()).replace(" REFERENCES regions (id)", "")
        made.execute(script)
    return f"duckdb:///{folder}/sales.duckdb"


async def use(kai: Client, model: ScriptedModel, url: str, *made: Calls) -> tuple[list[dict[str, Any]], Any]:
    """The results of the calls, one a step, and all events."""
    session = await kai.open_session(await kai.connect(url))
    model.say(PLAN, *(calls(each) for each in made), finish("Done.", main_result="r1.1"))
    events = await kai.ask(session, QUESTION)
    return named(events, "tool_result"), events


@pytest.mark.parametrize("database", [sqlite_of, duckdb_of])
async def test_check_data_finds_each_planted_defect_and_no_other(
    kai: Client, model: ScriptedModel, tmp_path: Path, database: Any
) -> None:
    (checked,), events = await use(kai, model, database(tmp_path), ("check_data", {"table": "sales"}))
    assert checked["status"] == "done", checked["content"]
    found = {(row[0], row[1]): row[2] for row in chunks(events, "results")[0]["rows"]}
    everything = "id, region_id, sold_on, amount, currency, note"
    expected = {
        ("nulls", "note"): 61,
        ("constant", "currency"): 62,
        ("duplicates", everything): 1,
        ("duplicates", "id"): 1,
        ("future dates", "sold_on"): 1,
        ("outliers", "amount"): 1,
    }
    if database is sqlite_of:
        expected["orphans", "region_id"] = 1
    gaps = [key for key in found if key[0] == "gap"]
    assert {key: count for key, count in found.items() if key not in gaps} == expected
    assert "no row between 2025-02-09 and 2025-03-02" in checked["content"]


async def test_profile_table_counts_what_each_column_holds(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    (profiled,), events = await use(kai, model, shop, ("profile_table", {"table": "Orders"}))
    assert "orders has 4 rows." in profiled["content"]
    rows = {row[0]: row[2:] for row in chunks(events, "results")[0]["rows"]}
    assert rows["customer_id"] == [4, 0, 3, "1", "3"]
    assert [float(each) for each in rows["amount"][3:]] == [5.5, 30]


async def test_tables_values_and_rows_are_found_and_read(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    statement = "SELECT id, order_date, amount FROM orders ORDER BY id"
    results, events = await use(
        kai,
        model,
        shop,
        ("run_sql", {"sql": statement, "purpose": "All orders"}),
        ("find_tables", {"words": "customer country"}),
        ("describe_tables", {"names": ["orders", "CUSTOMERS"]}),
        ("find_values", {"words": "brazil"}),
        ("read_rows", {"result": "r1.1", "start": 2, "count": 1}),
        ("show_chart", {"result": "r1.1", "mark": "line", "x": "order_date", "y": "amount"}),
        ("search_examples", {"words": "orders"}),
        ("search_glossary", {"words": "orders"}),
    )
    assert [each["status"] for each in results] == ["done"] * 8, results
    ran, tables, described, values, read, *_ = [each["content"] for each in results]
    assert "amount: from 5.5 to 30, sum 65.5" in ran
    assert tables.startswith("- customers (table")
    assert "CREATE TABLE orders" in described
    assert "CREATE TABLE customers" in described
    assert values == "- customers.country holds 'Brazil'"
    assert read.startswith("Rows 2 to 2 of r1.1:")
    (chart,) = chunks(events, "chart")
    assert (chart["usermeta"]["kai"]["mark"], len(chart["data"]["values"])) == ("line", 4)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (("run_sql", {"sql": "SELECT 1 AS one", "database": "payroll"}), "There is no database 'payroll'"),
        (("describe_tables", {"names": ["payroll"]}), "There is no table payroll"),
        (("profile_table", {"table": "sqlite_master"}), "There is no table 'sqlite_master'"),
        (("read_rows", {"result": "r9.9"}), "There is no result 'r9.9'"),
        (("show_chart", {"result": "r0.1", "mark": "bar", "x": "a", "y": "b"}), "There is no result"),
        (("run_sql", {"sql": "SELECT nothing FROM orders"}), "nothing"),
    ],
)
async def test_a_tool_says_what_is_wrong_with_its_arguments(
    kai: Client, model: ScriptedModel, shop: str, call: Calls, complaint: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(PLAN, calls(call), finish("Done."))
    (returned,) = named(await kai.ask(session, QUESTION), "tool_result")
    assert (returned["status"], returned["is_error"]) == ("failed", True)
    assert complaint in returned["content"]


async def test_the_third_call_with_the_same_arguments_gets_the_earlier_result(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    same: Calls = ("run_sql", {"sql": "SELECT count(*) AS orders FROM orders"})
    results, _ = await use(kai, model, shop, same, same, same)
    assert [("was made before" in each["content"]) for each in results] == [False, False, True]


async def test_earlier_answers_of_the_same_user_are_found_by_words_and_no_others(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    earlier = await kai.open_session(await kai.connect(shop))
    model.say(
        "```sql\nSELECT count(*) AS n FROM customers WHERE country = 'Brazil'\n```",
        "1",
    )
    await kai.ask(earlier, "How many zebra customers are Brazilian?")
    found, nothing, remembered = (
        await use(
            kai,
            model,
            shop,
            ("recall", {"words": "zebra Brazilian"}),
            ("recall", {"words": "unheard-of"}),
            ("search_conversation_history", {"search_query": "unheard-of", "limit": 1}),
        )
    )[0]
    assert "question: How many zebra customers are Brazilian?" in found["content"]
    assert "country = 'Brazil'" in found["content"]
    assert "Answer: **Number of customers: 2**." in found["content"]
    assert nothing["content"] == "No earlier question is like this."
    assert remembered["content"] == "No earlier conversation is like this."


HIDDEN = """
CREATE TABLE parts (id INTEGER PRIMARY KEY, code TEXT, measured_at TIMESTAMP, noted TEXT, since DATE,
    weight NUMERIC, unit TEXT);
"""


def hidden() -> str:
    """Defects that hide: behind a key, behind each other, in times, and in dates that are texts."""
    rows = []
    for at in range(300):
        day = date(2024, 1, 1) + timedelta(days=at + (4 if at >= 100 else 0))
        weight = 50_000 + at if at % 15 == 0 else 40 + at % 13
        since = "1970-01-01" if at < 9 else "2023-06-01" if at % 4 else str(day)
        unit = "NULL" if at < 5 else "'kg'"
        code = f"C{at if at % 100 else 7}"
        rows.append(f"({at}, '{code}', '{day} 13:00:00', '{day}', '{since}', {weight}, {unit})")
    return f"{HIDDEN} INSERT INTO parts VALUES {', '.join(rows)};"


async def test_check_data_finds_defects_that_hide(kai: Client, model: ScriptedModel, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "parts.db")) as made:
        made.executescript(hidden())
    url = f"sqlite:///{tmp_path}/parts.db"
    (checked,), events = await use(kai, model, url, ("check_data", {"table": "parts"}))
    assert "Not checked" not in checked["content"]
    found = {(row[0], row[1]): row[2] for row in chunks(events, "results")[0]["rows"]}
    assert found.pop(("gap", "since"))  # between the placeholder and the rest
    assert found == {
        ("nulls", "unit"): 5,
        ("constant", "unit"): 295,
        ("duplicates", "code"): 3,
        ("outliers", "weight"): 20,
        ("gap", "measured_at"): 4,
        ("gap", "noted"): 4,
        ("placeholder dates", "since"): 9,
        ("constant dates", "since"): 219,
    }
