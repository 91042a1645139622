"""A statement that the database expects to read much for waits for a person, in any session."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from langgraph_sdk import get_client
from mcp_types import ElicitResult

from tests.e2e.test_agui_clients import body_of
from tests.e2e.test_agui_clients import run as run_agui
from tests.e2e.test_approval import card_of, decide, follow
from tests.e2e.test_investigations import PLAN, calls, finish, named
from tests.e2e.test_mcp_approvals import User
from tests.support.choices import FIRST
from tests.support.clickhouse_server import ClickhouseServer, clickhouse_server
from tests.support.mcp_client import mcp_client, text_of
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Server, steps

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


async def test_clients_of_every_protocol_are_asked_for_a_costly_statement_and_given_its_rows(
    kai: Client, shared_server: Server, model: ScriptedModel, session: str
) -> None:
    connection = (await kai.session(session))["db_connection_id"]
    address, question = shared_server.address, "readings per place"

    async def last_rows(of: str) -> list[Any]:
        rows: list[Any] = (await kai.session(of))["messages"]["items"][-1]["rows_head"]
        return rows

    model.say(f"```sql\n{COSTLY}\n```", FIRST)
    async with get_client(url=f"{address}/langgraph", api_key=None) as graph:
        asked: Any = {"messages": [{"role": "user", "content": question}]}
        values: Any = await graph.runs.wait(session, connection, input=asked)
        (request,) = values["__interrupt__"][0]["value"]["action_requests"]
        assert (request["name"], "50,000 rows" in request["description"]) == ("run_statement", True)
        approved: Any = {"resume": {"decisions": [{"type": "approve"}]}}
        values = await graph.runs.wait(session, connection, command=approved)
        assert "__interrupt__" not in values
    assert await last_rows(session) == [[0, 500], [1, 500]]

    session = await kai.open_session(connection)
    model.say(f"```sql\n{COSTLY}\n```", FIRST)
    events = await run_agui(kai, shared_server, connection, body_of(session, question))
    (interrupt,) = events[-1]["outcome"]["interrupts"]
    answers = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"type": "approve"}}]
    resumed = body_of(session, "", messages=[], resume=answers)
    events = await run_agui(kai, shared_server, connection, resumed)
    assert events[-1]["outcome"] == {"type": "success"}
    assert await last_rows(session) == [[0, 500], [1, 500]]

    model.say(f"```sql\n{COSTLY}\n```", FIRST)
    async with openai.AsyncOpenAI(base_url=f"{address}/openai/v1", api_key="none", timeout=60) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model=connection, messages=[{"role": "user", "content": question}]
        )
    said = raw.parse().choices[0].message.content or ""
    assert "Before KAI goes on, `run_statement` needs your approval" in said
    session = raw.headers["X-Kai-Session"]
    decided = await decide(kai, session, await card_of(kai, session))
    await follow(kai, session, decided.json()["run_id"])
    assert await last_rows(session) == [[0, 500], [1, 500]]

    model.say(f"```sql\n{COSTLY}\n```", FIRST)
    user = User(ElicitResult(action="accept", content={"decision": "approve"}))
    async with mcp_client(address, user=user) as asking:
        result = await asking.call_tool("ask", {"question": question, "database": connection})
    assert not result.is_error, text_of(result)
    assert ["50,000 rows" in each.message for each in user.shown] == [True]
    assert await last_rows(result.structured_content["session_id"]) == [[0, 500], [1, 500]]
