"""The routes of a scalable chat, by an ordinary HTTP client."""

from collections.abc import AsyncGenerator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.test_bad_input import assert_problem
from tests.support.chatting import USER, ChatClient, chat_http
from tests.support.server import Client, Server, chunks, client_of, running_server

QUESTION = "How many customers per country?"
UNKNOWN = "01970000-0000-7000-8000-000000000000"


@pytest.fixture
async def chat(plain_server: Server) -> AsyncGenerator[ChatClient]:
    async with chat_http(plain_server) as http:
        yield ChatClient(http)


@pytest.fixture
async def session(plain: Client, chat: ChatClient, shop: str) -> str:
    return await chat.start(await plain.connect(shop))


async def test_a_question_is_queued_its_answer_streamed_and_both_are_in_the_history(
    chat: ChatClient, session: str
) -> None:
    name = str(uuid4())
    queued = await chat.queue(session, QUESTION, name)
    assert (queued["status"], queued["streamUrl"]) == ("queued", f"/api/stream/{session}/{name}")
    events = await chat.follow(session, name)
    assert chunks(events, "results")[0]["rows"] == [["Brazil", 2], ["Norway", 1]]
    assert [event.name for event in events].count("done") == 1
    kept = await chat.conversation(session)
    assert (kept["userId"], kept["title"]) == (USER, QUESTION)
    assert [each["messageId"] for each in kept["messages"]] == [f"{name}_user", f"{name}_assistant"]
    assert kept["messages"][0]["content"] == QUESTION
    assert "Brazil" in kept["messages"][1]["content"]


async def test_a_stream_goes_on_after_the_event_a_client_has_seen_last(
    chat: ChatClient, session: str
) -> None:
    await chat.queue(session, QUESTION, "one")
    events = await chat.follow(session, "one")
    assert await chat.follow(session, "one", after=events[2].id) == events[3:]


async def test_the_same_message_asks_once_and_another_question_under_its_name_is_refused(
    chat: ChatClient, session: str
) -> None:
    runs = {(await chat.queue(session, QUESTION, "twice"))["runId"] for _ in range(3)}
    await chat.follow(session, "twice")
    assert len(runs) == 1
    assert len((await chat.conversation(session))["messages"]) == 2
    body = {"question": "And orders?", "sessionId": session, "chatMessageId": "twice"}
    assert_problem(await chat.http.post("/chat", json=body), 422)


async def test_questions_of_a_session_are_answered_one_after_the_other(
    chat: ChatClient, session: str
) -> None:
    for name in "abc":
        await chat.queue(session, QUESTION, name)
    for name in "cab":
        assert (await chat.follow(session, name))[-1].data["status"] == "complete"
    history = (await chat.conversation(session))["messages"]
    answers = [each["messageId"] for each in history if each["role"] == "assistant"]
    assert answers == ["a_assistant", "b_assistant", "c_assistant"]


async def test_what_was_asked_elsewhere_is_called_by_its_run(
    plain: Client, chat: ChatClient, session: str
) -> None:
    events = await plain.ask(session, QUESTION)
    run_id = events[-1].data["run_id"]
    assert (await chat.conversation(session))["messages"][1]["messageId"] == f"{run_id}_assistant"
    assert (await chat.follow(session, run_id))[-1].data == events[-1].data


async def test_a_conversation_is_remembered_found_by_words_and_forgotten(
    chat: ChatClient, session: str
) -> None:
    await chat.queue(session, "How many zebras per country?", "zebras")
    await chat.follow(session, "zebras")
    await chat.queue(session, QUESTION, "countries")
    await chat.follow(session, "countries")
    memory = await chat.memory_of(session, QUESTION)
    assert "customers" in memory["themes"]
    assert session in await chat.search("what about the customers of each country")
    assert await chat.search("never of unheard") == []
    assert (await chat.http.delete(f"/memory/users/{USER}/memories")).status_code == 204
    assert await chat.memories() == []


async def test_a_memory_goes_with_its_session(plain: Client, chat: ChatClient, session: str) -> None:
    await chat.queue(session, QUESTION, "one")
    await chat.follow(session, "one")
    await chat.memory_of(session)
    assert (await plain.http.delete(f"/sessions/{session}")).status_code == 204
    assert session not in [each["sessionId"] for each in await chat.memories()]


async def test_the_list_of_conversations_is_paged_and_renamed(chat: ChatClient, session: str) -> None:
    named = await chat.http.put(f"/history/conversations/{session}/title", json={"title": " Mine "})
    assert (named.status_code, named.json()["title"]) == (200, "Mine")
    first = (await chat.http.get(f"/history/users/{USER}/conversations?limit=1")).json()
    assert [each["sessionId"] for each in first["conversations"]] == [session]
    assert set(first["conversations"][0]) >= {"userId", "createdAt", "lastActivity", "dbConnectionId"}
    assert_problem(await chat.http.put(f"/history/conversations/{session}/title", json={"title": " "}), 422)


async def test_another_user_is_unknown_wherever_they_are_named(chat: ChatClient, session: str) -> None:
    for method, url, body in [
        ("POST", "/session/start", {"userId": "bob"}),
        ("POST", "/chat", {"userId": "bob", "question": "x", "sessionId": session, "chatMessageId": "x"}),
        ("GET", "/history/users/bob/conversations", None),
        ("GET", "/memory/users/bob/memories", None),
        ("DELETE", "/memory/users/LOCAL/memories", None),
        ("POST", "/memory/users/bob/conversations/search", {"query": "x"}),
    ]:
        assert_problem(await chat.http.request(method, url, json=body), 404)


@pytest.mark.parametrize("unknown", [UNKNOWN, "nope", "%00", "x" * 300])
async def test_unknown_sessions_and_messages_are_not_found(
    chat: ChatClient, session: str, unknown: str
) -> None:
    for method, url, body in [
        ("GET", f"/stream/{unknown}/a", None),
        ("GET", f"/stream/{session}/{unknown}", None),
        ("GET", f"/history/conversations/{unknown}", None),
        ("PUT", f"/history/conversations/{unknown}/title", {"title": "x"}),
    ]:
        assert_problem(await chat.http.request(method, url, json=body), 404)
    body = {"question": "x", "sessionId": UNKNOWN, "chatMessageId": "a"}
    assert_problem(await chat.http.post("/chat", json=body), 404)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "x" * 129, "\u00e9"])
async def test_a_message_name_that_could_not_stand_in_a_path_is_refused(
    chat: ChatClient, session: str, name: str
) -> None:
    body = {"question": QUESTION, "sessionId": session, "chatMessageId": name}
    assert_problem(await chat.http.post("/chat", json=body), 422)


async def test_a_session_starts_without_a_connection_where_there_is_exactly_one(
    shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:
        async with chat_http(server) as http, client_of(server) as kai:
            none = assert_problem(await http.post("/session/start", json={}), 422)
            assert "/api/v1/database-connections" in none["detail"]
            only = await kai.connect(shop)
            started = await http.post("/session/start", json={"userId": USER})
            assert (started.status_code, started.json()["dbConnectionId"]) == (201, only)
            await kai.connect(shop)
            several = assert_problem(await http.post("/session/start", json={}), 422)
            assert "dbConnectionId" in several["detail"]
