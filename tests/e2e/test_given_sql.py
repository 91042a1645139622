"""A question that brings its own SQL."""

import pytest

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks, steps

PRETTY = (
    "SELECT\n  country,\n  COUNT(*) AS customers\nFROM customers\nGROUP BY\n  country\nORDER BY\n"
    "  customers DESC"
)


@pytest.fixture
async def session(kai: Client, shop: str) -> str:
    return await kai.open_session(await kai.connect(shop))


async def test_the_statement_runs_as_given_and_is_read_and_kept(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(FIRST)
    events = await kai.ask(session, "Customers per country", sql=PER_COUNTRY)
    assert chunks(events, "sql") == [PER_COUNTRY]
    assert chunks(events, "results")[0]["rows"] == [["Brazil", 2], ["Norway", 1]]
    assert chunks(events, "analysis") == [BRAZIL]
    assert len(model.requests) == 1
    answer = (await kai.session(session))["messages"]["items"][-1]
    assert answer["sql"] == PER_COUNTRY
    statement = next(each.data for each in events if each.data.get("type") == "sql")
    assert statement["sql_pretty"] == answer["sql_pretty"] == PRETTY


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP TABLE customers", "Only queries"),
        ("SELECT * FROM sqlite_master", "unknown table"),
        ("SELECT nmae FROM customers", "nmae"),
        ("SELECT 1; SELECT 2", "one statement"),
    ],
)
async def test_what_the_guard_or_the_database_refuses_ends_the_turn_unrepaired(
    kai: Client, model: ScriptedModel, session: str, statement: str, words: str
) -> None:
    events = await kai.ask(session, "Mine", sql=statement)
    error = next(event.data for event in events if event.name == "error")
    assert (error["type"], events[-1].data["status"]) == ("urn:kai:statement-failed", "failed")
    assert words in error["detail"]
    assert "repairing_sql" not in steps(events)
    assert len(model.requests) == 0


async def test_a_follow_up_builds_on_the_given_statement(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(FIRST, sql("SELECT 1 AS n"), FIRST)
    await kai.ask(session, "Customers per country", sql=PER_COUNTRY)
    await kai.ask(session, "only the first")
    assert any("GROUP BY country" in each.text for each in list(model.requests)[1:])


async def test_the_same_key_with_another_statement_is_refused(kai: Client, session: str) -> None:
    async with kai.asking(session, "Mine", "key-sql", sql="SELECT 1 AS n") as stream:
        await stream.rest()
    body = {"query": "Mine", "sql": "SELECT 2 AS n"}
    url = f"/sessions/{session}/query/stream"
    answer = await kai.http.post(url, json=body, headers={"Idempotency-Key": "key-sql"})
    assert answer.status_code == 422


async def test_steps_say_when_they_began_and_say_the_same_again(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    async with kai.asking(session, "Mine", sql="SELECT 1 AS n") as stream:
        live = await stream.rest()
    async with kai.following(session, stream.run_id) as again:
        times = [event.data["at"] for event in await again.rest() if event.name == "status"]
    assert times == [event.data["at"] for event in live if event.name == "status"]
    assert times == sorted(times)
