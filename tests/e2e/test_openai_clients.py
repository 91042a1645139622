"""KAI as a service of OpenAI's, asked by OpenAI's own client."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from uuid import uuid4

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from tests.e2e.test_approval import PLAN_TO_ACT, TEXT, cards_of, describe
from tests.e2e.test_turn import sql
from tests.support.choices import FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server
from tests.support.waiting import until

COUNT = "SELECT count(*) AS customers FROM customers"
WHOLE = "```sql\n" + COUNT + "\n```\n\n| customers |\n| --- |\n| 3 |\n\n**Customers: 3**."


@pytest.fixture
async def client(shared_server: Server) -> AsyncGenerator[openai.AsyncOpenAI]:
    """A client with a key of elsewhere, which a KAI without a login ignores."""
    async with openai.AsyncOpenAI(
        base_url=f"{shared_server.address}/openai/v1", api_key="sk-of-elsewhere", timeout=60
    ) as made:
        yield made


@pytest.fixture
async def name(kai: Client, shop: str) -> str:
    """A database of its own, as a model."""
    word = uuid4().hex
    made = await kai.http.post("/database-connections", json={"url": shop, "name": f"Shop {word}"})
    assert made.status_code == 201, made.text
    return f"kai/shop-{word}"


@dataclass(frozen=True)
class Chats:
    """Chats without a name, about one database."""

    client: openai.AsyncOpenAI
    kai: Client
    model: str

    async def ask(self, *texts: str) -> str:
        """Ask the last of a chat's questions. Returns the session that it was asked in."""
        raw = await self.client.chat.completions.with_raw_response.create(
            model=self.model, messages=user(*texts)
        )
        return str(raw.headers["X-Kai-Session"])

    async def asked_in(self, session: str) -> list[str]:
        items = (await self.kai.session(session))["messages"]["items"]
        return [each["query"] for each in items if each["role"] == "human"]


@pytest.fixture
def chats(client: openai.AsyncOpenAI, kai: Client, model: ScriptedModel, name: str) -> Chats:
    return Chats(client, kai, name)


def user(*texts: str) -> list[ChatCompletionMessageParam]:
    """The messages of a chat in which these questions were asked. The client has changed the answers."""
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": "Be brief."}]
    for text in texts:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Shortened."}]
    return messages[:-1]


def answers(model: ScriptedModel, times: int = 1) -> None:
    for _ in range(times):
        model.say(sql(COUNT), FIRST)


@pytest.mark.parametrize(("ending", "fields"), [(":agent", {}), ("", {"kai": {"mode": "agent"}})])
async def test_one_question_is_asked_in_agent_mode(
    kai: Client, client: openai.AsyncOpenAI, name: str, model: ScriptedModel, ending: str, fields: object
) -> None:
    assert name + ":agent" in [each.id async for each in client.models.list()]
    model.say(PLAN_TO_ACT, describe())
    raw = await client.chat.completions.with_raw_response.create(
        model=name + ending, messages=user("Describe the customers."), extra_body=fields
    )
    (card,) = await cards_of(kai, raw.headers["X-Kai-Session"])
    assert card["arguments"]["text"] == TEXT
    assert (await kai.session(raw.headers["X-Kai-Session"]))["mode"] == "ask"


async def test_databases_are_models(client: openai.AsyncOpenAI, name: str) -> None:
    assert name in [each.id async for each in client.models.list()]
    found = await client.models.retrieve(name)
    assert (found.id, found.object, found.owned_by) == (name, "model", "kai")
    with pytest.raises(openai.NotFoundError) as unknown:
        await client.models.retrieve("kai/nothing")
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")


async def test_an_answer_is_statement_rows_and_analysis(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str
) -> None:
    answers(model)
    answer = await client.chat.completions.create(
        model=name,
        messages=user("How many customers?"),
        temperature=1,
        top_p=1,
        presence_penalty=0,
        frequency_penalty=0,
        max_tokens=10,
        user="someone",
    )
    (choice,) = answer.choices
    assert choice.message.content is not None
    assert choice.message.content.startswith(WHOLE)
    assert (choice.finish_reason, choice.message.role, answer.model) == ("stop", "assistant", name)
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.completion_tokens > 0


async def test_an_answer_is_streamed_with_its_usage(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str
) -> None:
    answers(model)
    stream = await client.chat.completions.create(
        model=name,
        messages=user("How many customers?"),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    first, *others, last, usage = chunks
    assert first.choices[0].delta.role == "assistant"
    assert "".join(each.choices[0].delta.content or "" for each in others).startswith(WHOLE)
    assert last.choices[0].finish_reason == "stop"
    assert usage.choices == []
    assert usage.usage is not None
    assert usage.usage.total_tokens > 0
    assert len({each.id for each in chunks}) == 1


async def test_the_analysis_begins_with_what_was_changed_of_the_statement(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str
) -> None:
    written = '```sql\nSELECT name FROM customers WHERE country = "Norway"\n```'
    said = "**The statement was changed:** Read `Norway` as text: no column has this name.\n\n**Name: Ada**."
    model.say(written, FIRST, written, FIRST)
    whole = await client.chat.completions.create(model=name, messages=user("Who is in Norway?"))
    assert said in (whole.choices[0].message.content or "")
    stream = await client.chat.completions.create(
        model=name, messages=user("Who lives in Norway?"), stream=True
    )
    assert said in "".join([each.choices[0].delta.content or "" async for each in stream if each.choices])


async def test_a_chat_that_is_named_is_one_session(
    client: openai.AsyncOpenAI, kai: Client, model: ScriptedModel, name: str
) -> None:
    async def session_of(headers: dict[str, str], *texts: str, **body: object) -> str:
        answers(model)
        raw = await client.chat.completions.with_raw_response.create(
            model=name, messages=user(*texts), extra_headers=headers, extra_body=body
        )
        return raw.headers["X-Kai-Session"]

    chat, other = {"X-OpenWebUI-Chat-Id": uuid4().hex}, {"X-OpenWebUI-Chat-Id": uuid4().hex}
    session = await session_of(chat, "How many customers?")
    assert await session_of(chat, "Other words", "And now?") == session
    assert await session_of({"X-Kai-Session": session}, "And again?") == session
    assert await session_of(other, "How many customers?") != session
    named = await session_of({}, "How many customers?", metadata={"chat_id": "a"})
    assert await session_of({}, "And?", metadata={"chat_id": "a"}) == named != session
    asked = [each["query"] for each in (await kai.session(session))["messages"]["items"][::2]]
    assert asked == ["How many customers?", "And now?", "And again?"]


async def test_a_follow_up_is_asked_in_the_conversation_of_its_questions(
    chats: Chats, kai: Client, model: ScriptedModel
) -> None:
    first = await chats.ask("How many customers?")
    second = await chats.ask("How many customers?", "And in Brazil?")
    third = await chats.ask("How many customers?", "And in Brazil?", "And in Norway?")
    assert first == second == third
    assert "How many customers?" in model.requests[-2].text
    assert await chats.asked_in(first) == ["How many customers?", "And in Brazil?", "And in Norway?"]


async def test_chats_that_begin_alike_stay_apart(chats: Chats) -> None:
    sessions = {await chats.ask("How many customers?") for _ in range(3)}
    assert len(sessions) == 3
    words = ["a", "b", "c"]
    took = await asyncio.gather(*(chats.ask("How many customers?", word) for word in words))
    assert set(took) == sessions
    again = await asyncio.gather(*(chats.ask("How many customers?", word, "More?") for word in words))
    assert again == took
    assert [await chats.asked_in(each) for each in took] == [
        ["How many customers?", word, "More?"] for word in words
    ]


async def test_an_unknown_conversation_is_a_new_one_with_the_last_question(chats: Chats) -> None:
    session = await chats.ask("Never asked", "How many customers?")
    assert await chats.asked_in(session) == ["How many customers?"]


async def test_an_answer_that_is_asked_for_again_follows_the_questions_before_it(chats: Chats) -> None:
    first = await chats.ask("How many customers?")
    await chats.ask("How many customers?", "And in Brazil?")
    again = await chats.ask("How many customers?", "And in Brazil?")
    assert again != first
    assert await chats.asked_in(again) == ["How many customers?", "And in Brazil?"]
    assert await chats.ask("How many customers?", "And in Brazil?", "More?") in (first, again)


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("n", 2),
        ("tools", [{"type": "function", "function": {"name": "f"}}]),
        ("functions", [{"name": "f"}]),
        ("response_format", {"type": "json_object"}),
        ("audio", {"voice": "alloy", "format": "mp3"}),
        ("modalities", ["text", "audio"]),
        ("logprobs", True),
        ("thoughts", True),
        ("messages", [{"role": "assistant", "content": "Hello"}]),
        (
            "messages.0.content",
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
        ),
    ],
)
async def test_what_kai_does_not_do_is_refused_by_name(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str, param: str, value: object
) -> None:
    field = param.partition(".")[0]
    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(
            model=name, messages=user("How many?"), extra_body={field: value}
        )
    assert refused.value.type == "invalid_request_error"
    assert refused.value.param == param
    assert len(refused.value.message) > 20
    assert not model.requests


async def test_an_unknown_model_names_those_that_there_are(client: openai.AsyncOpenAI, name: str) -> None:
    with pytest.raises(openai.NotFoundError, match=name) as unknown:
        await client.chat.completions.create(model="gpt-5", messages=user("How many?"))
    assert unknown.value.code == "model_not_found"


async def test_other_routes_of_openais_are_refused_in_its_form(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as responses:
        await client.responses.create(model="kai/shop", input="How many?")
    with pytest.raises(openai.NotFoundError) as embeddings:
        await client.embeddings.create(model="kai/shop", input="How many?")
    assert responses.value.code == embeddings.value.code == "unknown_url"
    assert "chat/completions" in responses.value.message


async def test_a_failed_run_is_an_error_of_its_status_and_is_not_asked_again(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str
) -> None:
    model.rule(lambda _: True, Scripted(status=401, text='{"error": {"message": "no"}}'))
    with pytest.raises(openai.InternalServerError) as failed:
        await client.chat.completions.create(model=name, messages=user("How many customers?"))
    assert failed.value.status_code == 502
    assert failed.value.code == "urn:kai:model-rejected"
    asked = len(model.requests)
    stream = await client.chat.completions.create(
        model=name, messages=user("How many customers?"), stream=True
    )
    with pytest.raises(openai.APIError) as streamed:
        async for _ in stream:
            pass
    assert streamed.value.code == "urn:kai:model-rejected"
    assert len(model.requests) == 2 * asked


async def test_a_client_that_leaves_its_stream_cancels_the_answer(
    client: openai.AsyncOpenAI, kai: Client, model: ScriptedModel, name: str
) -> None:
    model.say(Scripted(sql(COUNT), hold_after=0))
    raw = await client.chat.completions.with_raw_response.create(
        model=name, messages=user("How many customers?"), stream=True
    )
    session, run = raw.headers["X-Kai-Session"], raw.headers["X-Run-Id"]
    await model.until(lambda: model.on_hold == 1)
    await raw.parse().close()

    async def cancelled() -> bool:
        items = (await kai.session(session))["messages"]["items"]
        return bool(items) and items[-1]["run_id"] == run and items[-1]["status"] == "cancelled"

    await until(cancelled)


async def test_eight_chats_at_once_stay_apart(
    client: openai.AsyncOpenAI, model: ScriptedModel, name: str
) -> None:
    model.rule(lambda asked: True, "Hello.")

    async def session_of_chat() -> str:
        raw = await client.chat.completions.with_raw_response.create(model=name, messages=user("Hello"))
        return raw.headers["X-Kai-Session"]

    sessions = await asyncio.gather(*(session_of_chat() for _ in range(8)))
    assert len(set(sessions)) == 8
