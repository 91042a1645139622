"""A statement that the database expects to read much for waits for a person, in any session."""

from collections.abc import Iterator

import pytest

from tests.e2e.test_approval import card_of, decide, follow
from tests.e2e.test_investigations import PLAN, calls, finish, named
from tests.support.choices import FIRST
from tests.support.clickhouse_server import ClickhouseServer, clickhouse_server
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, steps

READINGS = """create database shop;
create table shop.readings (at Int64, place Int64) engine = MergeTree order by at;
insert into shop.readings select number, number % 100 from numbers(50000);
create table shop.places (id Int64) engine = MergeTree order by id;
insert into shop.places select number from numbers(100);
"""
COSTLY = "SELECT place, count(*) AS readings FROM readings GROUP BY place ORDER BY place LIMIT 2"
SMALL = "SELECT count(*) AS places FROM places"


@pytest.fixture(scope="module")
def readings() -> Iterator[ClickhouseServer]:
    with clickhouse_server(READINGS) as running:
        yield running


@pytest.fixture
async def session(kai: Client, readings: ClickhouseServer) -> str:
    connection = await kai.connect(readings.url())
    answer = await kai.http.patch(f"/database-connections/{connection}", json={"ask_above_rows": 20_000})
    assert answer.status_code == 200, answer.text
    assert answer.json()["ask_above_rows"] == 20_000
    return await kai.open_session(connection)


async def test_a_costly_statement_waits_and_its_answer_follows_once_it_is_approved(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(f"```sql\n{COSTLY}\n```")
    events = await kai.ask(session, "readings per place")
    assert steps(events)[-1] == "waiting_for_approval"
    (called,) = named(events, "tool_call")
    (asked,) = named(events, "confirmation")
    assert called["requires_approval"]
    assert "50,000 rows" in asked["description"]
    assert asked["description"].endswith("a person has to approve it.")
    assert asked["arguments"]["sql"].lower().startswith("select")
    assert events[-1].data["status"] == "awaiting_approval"

    model.say(FIRST)
    decided = await decide(kai, session, await card_of(kai, session))
    assert decided.status_code == 200, decided.text
    following = await follow(kai, session, decided.json()["run_id"])
    assert [each["decision"] for each in named(following, "confirmation_decided")] == ["approved"]
    assert [each["status"] for each in named(following, "tool_result")] == ["done"]
    assert (following[-1].data["status"], following[-1].data["rows_read"]) == ("complete", 50_000)
    message = (await kai.session(session))["messages"]["items"][-1]
    assert (message["rows_head"], message["error"]) == ([[0, 500], [1, 500]], None)
    assert message["rows_read"] == 50_000

    model.say(f"```sql\n{SMALL}\n```", FIRST)
    events = await kai.ask(session, "how many places are there?")
    assert (events[-1].data["status"], named(events, "confirmation")) == ("complete", [])


async def test_a_costly_statement_of_an_investigation_asks_as_any_call_does(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(PLAN, calls(("run_sql", {"sql": SMALL}), ("run_sql", {"sql": COSTLY})))
    events = await kai.ask(session, "Why are there so many readings?")
    assert [each["requires_approval"] for each in named(events, "tool_call")] == [False, True]
    (asked,) = named(events, "confirmation")
    assert "50,000 rows" in asked["warnings"][0]
    assert [each["status"] for each in named(events, "tool_result")] == ["done"]

    model.say(finish("Done."))
    decided = await decide(kai, session, await card_of(kai, session))
    following = await follow(kai, session, decided.json()["run_id"])
    (returned,) = named(following, "tool_result")
    assert (returned["status"], "[0, 500]" in returned["content"]) == ("done", True)
    assert following[-1].data["status"] == "complete"


async def test_a_costly_statement_of_the_users_own_that_is_denied_never_runs(
    kai: Client, session: str
) -> None:
    events = await kai.ask(session, "mine", sql=COSTLY)
    assert events[-1].data["status"] == "awaiting_approval"
    card = await card_of(kai, session)
    edited = await decide(kai, session, card, arguments={"sql": SMALL})
    assert edited.status_code == 422, edited.text
    decided = await decide(kai, session, card, "deny")
    following = await follow(kai, session, decided.json()["run_id"])
    (error,) = named(following, "error")
    assert (error["type"], error["status"]) == ("urn:kai:statement-not-approved", 409)
    assert "You have denied it." in error["detail"]
    message = (await kai.session(session))["messages"]["items"][-1]
    assert (message["status"], message["row_count"], message["rows_read"]) == ("failed", None, None)


async def test_a_costly_statement_of_the_users_own_that_fails_says_so_once_it_is_approved(
    kai: Client, session: str
) -> None:
    await kai.ask(session, "mine", sql="SELECT max(intDiv(place, place - place)) AS none FROM readings")
    decided = await decide(kai, session, await card_of(kai, session))
    following = await follow(kai, session, decided.json()["run_id"])
    (returned,) = named(following, "tool_result")
    assert (returned["status"], returned["is_error"]) == ("failed", True)
    (error,) = named(following, "error")
    assert error["type"] == "urn:kai:statement-failed"
    assert error["detail"] == returned["content"]
