"""Several statements for one question, by a scripted model over a real database."""

from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.e2e.conftest import model_settings
from tests.support.choices import FIRST
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Server, chunks, client_of, running_server, steps

ALL = "SELECT count(*) AS n FROM customers"
BRAZIL = "SELECT count(*) AS n FROM customers WHERE country = 'Brazil'"
ALSO_BRAZIL = "SELECT sum(country = 'Brazil') AS n FROM customers"


def sql(statement: str) -> str:
    return f"Counting.\n```sql\n{statement}\n```"


@pytest.fixture(scope="module")
def comparing_server(
    tmp_path_factory: pytest.TempPathFactory, model_of_all: ScriptedModel
) -> Iterator[Server]:
    settings = {**model_settings(model_of_all), "KAI_LLM__CANDIDATES": "3"}
    with running_server(tmp_path_factory.mktemp("comparing"), settings) as server:
        yield server


@pytest.fixture
async def comparing(comparing_server: Server, model: ScriptedModel) -> AsyncGenerator[Client]:
    async with client_of(comparing_server) as client:
        yield client
        model.release()
        await client.until_idle()


async def test_the_result_that_most_statements_give_is_the_answer(
    comparing: Client, model: ScriptedModel, shop: str
) -> None:
    session = await comparing.open_session(await comparing.connect(shop))
    model.say(sql(ALL), sql(BRAZIL), sql(ALSO_BRAZIL), FIRST)
    events = await comparing.ask(session, "How many customers are in Brazil?")
    assert chunks(events, "results")[0]["rows"] == [[2]]
    assert chunks(events, "sql")[0] in (BRAZIL, ALSO_BRAZIL)
    messages = [event.data.get("message") for event in events if event.name == "status"]
    assert "Comparing the results of 3 statements" in messages
    written = [model.requests[number] for number in range(3)]
    assert [each.body.get("temperature") for each in written] == [None, 0.7, 0.7]


async def test_a_statement_that_fails_has_no_vote_and_needs_no_repair(
    comparing: Client, model: ScriptedModel, shop: str
) -> None:
    session = await comparing.open_session(await comparing.connect(shop))
    model.say(sql("SELECT nothing FROM customers"), sql("DROP TABLE customers"), sql(ALL), FIRST)
    events = await comparing.ask(session, "How many customers are there?")
    assert chunks(events, "results")[0]["rows"] == [[3]]
    assert "repairing_sql" not in steps(events)


async def test_small_talk_is_one_call(comparing: Client, model: ScriptedModel, shop: str) -> None:
    session = await comparing.open_session(await comparing.connect(shop))
    model.say("CHAT: You are welcome.")
    events = await comparing.ask(session, "Thank you!")
    assert chunks(events, "analysis") == ["You are welcome."]
    assert len(model.requests) == 1
