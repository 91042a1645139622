"""Answers are made of all rows kept, not of those the stream shows first."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks

DAYS = 731
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


def points(chart: dict[str, object]) -> int:
    data = chart["data"]
    assert isinstance(data, dict)
    return len(data["values"])


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
    await kai.ask(origin, "orders per day", sql=PER_DAY)
    past = (await kai.http.get(f"/sessions/{origin}/checkpoints")).json()["items"]
    forked = await kai.http.post(f"/sessions/{origin}/checkpoints/{past[0]['id']}/fork")
    assert forked.status_code == 201
    await kai.http.delete(f"/sessions/{origin}")
    model.say("ROWS", "Up and up.")
    events = await kai.ask(forked.json()["id"], "What stands out?")
    (chart,) = chunks(events, "chart")
    assert points(chart) == DAYS
