"""Answers are made of all rows kept, not of those the stream shows first."""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.sample_data.build import build_sample
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks

DAYS = 731
ORDERS = 20_204
PER_DAY = "SELECT day, orders FROM days ORDER BY day"


@pytest.fixture(scope="session")
def calendar(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with a row a day: the n-th day has n orders."""
    path: Path = tmp_path_factory.mktemp("calendar") / "calendar.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE days (day DATE PRIMARY KEY, orders INTEGER NOT NULL)")
        connection.executemany(
            "INSERT INTO days VALUES (date('2024-01-01', ?), ?)",
            [(f"+{number} days", number + 1) for number in range(DAYS)],
        )
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample business, of two years and a day."""
    path = tmp_path_factory.mktemp("sample") / "sample.db"
    build_sample(path, date(2026, 11, 21))
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def readings(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with 12,000 readings, more than are kept of a result."""
    path: Path = tmp_path_factory.mktemp("readings") / "readings.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE readings (id INTEGER PRIMARY KEY, station TEXT, amount NUMERIC)")
        connection.executemany(
            "INSERT INTO readings VALUES (?, ?, ?)",
            [(number, f"Station {number:05}", 0.1) for number in range(1, 12_001)],
        )
    return f"sqlite:///{path}"


def points(chart: dict[str, Any]) -> int:
    return len(chart["data"]["values"])


def note(chart: dict[str, Any]) -> Any:
    return chart["usermeta"]["kai"]


async def test_orders_per_day_of_two_years_are_read_and_drawn_whole(plain: Client, sample: str) -> None:
    session = await plain.open_session(await plain.connect(sample))
    events = await plain.ask(session, "Number of orders per day")
    (results,), (chart,), (text,) = (chunks(events, kind) for kind in ("results", "chart", "analysis"))
    assert (results["row_count"], results["truncated"], results["cut_by"]) == (DAYS, False, None)
    day, orders = f"c{note(chart)['across']}", f"c{note(chart)['values'][0]['column']}"
    days = [datum[day] for datum in chart["data"]["values"]]
    assert (days[0][:10], days[-1][:10], len(days)) == ("2024-11-21", "2026-11-21", DAYS)
    assert sum(datum[orders] for datum in chart["data"]["values"]) == ORDERS
    assert (note(chart)["rows"], note(chart)["shown"], note(chart)["how"]) == (DAYS, DAYS, [])
    assert "December 2025 to October 2026 rose by 21.7% on December 2024 to October 2025" in text
    assert "**13 December 2025** has the most orders: 70." in text


async def test_a_result_of_more_rows_than_are_kept_says_so_everywhere(
    kai: Client, model: ScriptedModel, readings: str
) -> None:
    session = await kai.open_session(await kai.connect(readings))
    model.say(FIRST)
    statement = "SELECT station, SUM(amount) AS amount FROM readings GROUP BY station ORDER BY station"
    events = await kai.ask(session, "Amount per station", sql=statement)
    (results,), (chart,), (text,) = (chunks(events, kind) for kind in ("results", "chart", "analysis"))
    assert text.startswith("The result was cut off at 10,000 rows")
    message = (await kai.session(session))["messages"]["items"][-1]
    for said in (results, message):
        assert (said["row_count"], said["truncated"], said["cut_by"]) == (10_000, True, "rows")
    assert "The result was cut off at 10,000 rows" in model.requests[0].text
    for drawn in (chart, message["chart"]):
        assert note(drawn)["how"][0].startswith("Only the first 10,000 rows are kept")
        assert drawn["title"]["subtitle"][0].startswith("Only the first 10,000 rows are kept")
    url = f"/sessions/{session}/messages/{message['id']}/rows"
    for file_format in ("csv", "parquet"):
        file = await kai.http.get(url, params={"format": file_format})
        assert file.headers["X-Truncated"] == "true"
        assert f'-truncated.{file_format}"' in file.headers["Content-Disposition"]


async def test_the_first_sentence_of_a_cut_result_says_so_without_a_model(
    plain: Client, readings: str
) -> None:
    session = await plain.open_session(await plain.connect(readings))
    statement = "SELECT station, amount FROM readings"
    (text,) = chunks(await plain.ask(session, "Amount per station", sql=statement), "analysis")
    assert "10,000 rows" in text.split(". ")[0]


async def test_a_statement_with_a_limit_of_its_own_is_not_cut(plain: Client, readings: str) -> None:
    session = await plain.open_session(await plain.connect(readings))
    for limit, truncated in ((10_000, False), (11_000, True)):
        statement = f"SELECT station, amount FROM readings LIMIT {limit}"
        (results,) = chunks(await plain.ask(session, "Some", sql=statement), "results")
        assert (results["row_count"], results["truncated"]) == (10_000, truncated)


async def test_a_long_value_is_cut_and_said_to_be_and_no_row_is_said_to_be_missing(
    plain: Client, readings: str
) -> None:
    session = await plain.open_session(await plain.connect(readings))
    statement = "SELECT group_concat(station) AS body FROM readings"
    events = await plain.ask(session, "Body", sql=statement)
    (results,), (text,) = chunks(events, "results"), chunks(events, "analysis")
    assert (results["truncated"], results["cut_by"]) == (True, "values")
    assert text.startswith("Some values are too long to be kept whole")


async def test_a_sum_of_floats_has_no_noise_in_the_stream_the_chart_and_the_file(
    plain: Client, readings: str
) -> None:
    session = await plain.open_session(await plain.connect(readings))
    statement = "SELECT id % 2 AS half, SUM(amount) AS amount FROM readings GROUP BY 1"
    events = await plain.ask(session, "amount per half", sql=statement)
    assert chunks(events, "results")[0]["rows"] == [[0, 600], [1, 600]]
    url = f"/sessions/{session}/messages/{events[-1].data['message_id']}/rows"
    file = await plain.http.get(url, params={"format": "csv"})
    assert file.text.splitlines() == ["half,amount", "0,600.0", "1,600.0"]


async def test_the_preview_of_a_table_says_when_there_are_more_rows(
    plain: Client, readings: str, shop: str
) -> None:
    for url, table, truncated, count in ((readings, "readings", True, 20), (shop, "customers", False, 3)):
        connection = await plain.connect(url)
        sample = (await plain.http.get(f"/database-connections/{connection}/tables/{table}/sample")).json()
        assert (len(sample["rows"]), sample["truncated"]) == (count, truncated)


async def test_the_reading_and_the_chart_cover_rows_that_the_stream_does_not_show(
    plain: Client, calendar: str
) -> None:
    session = await plain.open_session(await plain.connect(calendar))
    events = await plain.ask(session, "orders per day", sql=PER_DAY)
    (results,), (chart,), (text,) = (chunks(events, kind) for kind in ("results", "chart", "analysis"))
    assert (len(results["rows"]), results["row_count"]) == (100, DAYS)
    assert points(chart) == DAYS
    assert "731" in text
    assert "first 100" not in text


async def test_a_follow_up_about_the_rows_covers_all_of_them_also_in_a_fork_whose_origin_is_deleted(
    kai: Client, model: ScriptedModel, calendar: str
) -> None:
    origin = await kai.open_session(await kai.connect(calendar))
    model.say("Up.")
    events = await kai.ask(origin, "orders per day", sql=PER_DAY)
    answer = f"/sessions/{origin}/messages/{events[-1].data['message_id']}"
    assert (await kai.http.post(f"{answer}/versions", json={"sql": "SELECT 7 AS n"})).status_code == 201
    past = (await kai.http.get(f"/sessions/{origin}/checkpoints")).json()["items"]
    forked = await kai.http.post(f"/sessions/{origin}/checkpoints/{past[0]['id']}/fork")
    assert forked.status_code == 201
    await kai.http.delete(f"/sessions/{origin}")
    copies = (await kai.http.get(f"/sessions/{forked.json()['id']}")).json()["messages"]["items"]
    version = f"/sessions/{forked.json()['id']}/messages/{copies[-1]['id']}/versions/2/rows"
    assert (await kai.http.get(version)).json()["items"] == [[7]]
    model.say("ROWS", "Up and up.")
    events = await kai.ask(forked.json()["id"], "What stands out?")
    (chart,) = chunks(events, "chart")
    assert points(chart) == DAYS
