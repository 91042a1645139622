"""Titles and memories that a model writes once a question is answered."""

from collections.abc import AsyncGenerator

import pytest

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.chatting import ChatClient, chat_http
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import AFTERWARDS, Scripted, ScriptedModel
from tests.support.server import Client, Server
from tests.support.waiting import until

QUESTION = "How many customers per country?"
TITLE, MEMORY = AFTERWARDS


@pytest.fixture
async def session(kai: Client, shop: str) -> str:
    return await kai.open_session(await kai.connect(shop))


@pytest.fixture
async def chat(shared_server: Server) -> AsyncGenerator[ChatClient]:
    async with chat_http(shared_server) as http:
        yield ChatClient(http)


async def answered(kai: Client, model: ScriptedModel, session: str, question: str = QUESTION) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    assert (await kai.ask(session, question))[-1].data["status"] == "complete"


async def until_titled(kai: Client, session: str, title: str) -> None:
    async def titled() -> bool:
        return bool((await kai.session(session))["title"] == title)

    await until(titled)


async def test_an_answered_session_gets_a_title_by_which_it_is_found(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.rule_after(TITLE, '"Geography of clientele."')
    await answered(kai, model, session)
    await until_titled(kai, session, "Geography of clientele")
    found = await kai.http.get("/sessions", params={"q": "clientele geog"})
    assert session in [each["id"] for each in found.json()["items"]]
    asked = [each.text for each in model.afterwards if TITLE in each.text]  # also of tests before this
    assert any(QUESTION in text and BRAZIL in text for text in asked)


async def test_a_title_a_person_gives_while_one_is_written_stays_and_nothing_waits_for_it(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.rule_after(TITLE, Scripted("Written too late", hold_after=0))
    await answered(kai, model, session)
    await model.until(lambda: any(TITLE in each.text for each in model.afterwards))
    assert (await kai.http.patch(f"/sessions/{session}", json={"title": "Mine"})).status_code == 200
    model.release()
    await remembered_after(kai, model, session)
    assert (await kai.session(session))["title"] == "Mine"


async def remembered_after(kai: Client, model: ScriptedModel, session: str) -> None:
    """Another session, asked and titled: what came before it is over by then."""
    connection = (await kai.session(session))["db_connection_id"]
    model.rule_after(TITLE, "Came after")
    other = await kai.open_session(connection)
    await answered(kai, model, other)
    await until_titled(kai, other, "Came after")


async def test_a_title_given_at_the_start_is_not_replaced(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    body = {"db_connection_id": await kai.connect(shop), "title": "Mine"}
    session = (await kai.http.post("/sessions", json=body)).json()["id"]
    await answered(kai, model, session)
    await remembered_after(kai, model, session)
    assert (await kai.session(session))["title"] == "Mine"


async def test_where_the_model_gives_no_title_the_question_stays(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    question = "How many customers per country, without a title?"
    model.rule_after(TITLE, "I am sorry, but there is nothing here that I could find a title for.")
    await answered(kai, model, session, question)
    await model.until(lambda: any(TITLE in each.text and question in each.text for each in model.afterwards))
    await remembered_after(kai, model, session)
    assert (await kai.session(session))["title"] == question


async def test_a_conversation_that_has_grown_is_titled_once_more_and_never_again(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.rule_after(TITLE, "First")
    await answered(kai, model, session)
    await until_titled(kai, session, "First")
    model.rule_after(TITLE, "Grown")
    for number in range(2, 6):
        await answered(kai, model, session, f"Question {number}")
    await until_titled(kai, session, "Grown")
    await answered(kai, model, session, "Question 6")
    await remembered_after(kai, model, session)
    assert (await kai.session(session))["title"] == "Grown"


async def test_a_memory_is_written_by_the_model_and_grows_with_its_conversation(
    kai: Client, chat: ChatClient, model: ScriptedModel, session: str
) -> None:
    model.rule_after(MEMORY, "Customers were counted by country.\nThemes: customers, countries")
    await answered(kai, model, session)
    memory = await chat.memory_of(session, "counted by country")
    assert memory["themes"] == ["customers", "countries"]
    model.rule_after(MEMORY, "Customers were counted, and orders.\nThemes: orders")
    await answered(kai, model, session, "And orders?")
    assert (await chat.memory_of(session, "and orders"))["themes"] == ["orders"]
    asked = [each.text for each in [*model.afterwards] if MEMORY in each.text]  # also of tests before this
    last = next(text for text in reversed(asked) if "And orders?" in text)
    assert "Customers were counted by country." in last
    assert QUESTION not in last
    assert "Norway" not in last  # which is in the rows, and in no answer
