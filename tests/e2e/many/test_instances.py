"""Any API streams any run, any worker answers it, and a stop reaches it wherever it is."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from uuid import uuid4

import httpx

from app.core.bus.nats_logs import GATHERED_SECONDS
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, chunks, steps

QUESTION = "How many customers per country?"
ROWS = [["Brazil", 2], ["Norway", 1]]


async def test_a_question_to_one_instance_is_followed_on_another_without_a_gap(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    async with first.asking(session, QUESTION) as stream:
        before = await stream.until("status", step="analyzing")
        await model.until(lambda: model.on_hold == 1)
    async with second.following(session, stream.run_id, before[-1].id) as resumed:
        model.release()
        after = await resumed.rest()
    waits, *ids = [event.id for event in before + after]
    assert (waits, ids) == (1, list(range(ids[0], ids[-1] + 1)))
    assert chunks(before, "results")[0]["rows"] == ROWS
    assert "".join(chunks(before + after, "text")[1:]).endswith(BRAZIL)
    assert after[-1].data["status"] == "complete"


async def test_a_key_that_both_instances_get_creates_one_record(first: Client, second: Client) -> None:
    key = {"Idempotency-Key": str(uuid4())}

    async def create(instance: Client, title: str = "Sales") -> httpx.Response:
        return await instance.http.post("/boards", json={"title": title}, headers=key)

    answers = await asyncio.gather(*(create(each) for each in (first, second) * 4))
    waiting = [answer.json()["type"] for answer in answers if answer.status_code != 201]
    assert {*waiting} <= {"urn:kai:idempotency-key-in-use"}
    repeated = [await create(each) for each in (first, second)]
    made = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.content for answer in [*made, *repeated]}) == 1
    assert all(answer.headers["Idempotent-Replayed"] == "true" for answer in repeated)
    other = await create(second, "Costs")
    assert (other.status_code, other.json()["type"]) == (422, "urn:kai:idempotency-key-reused")


async def test_a_conversation_goes_on_over_instances(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST, sql("SELECT count(*) AS n FROM customers"), FIRST)
    await first.ask(session, QUESTION)
    again = await second.ask(session, "And in all?")
    assert chunks(again, "results")[0]["rows"] == [[3]]
    assert QUESTION in model.requests[-2].text
    assert len((await first.session(session))["messages"]["items"]) == 4


async def test_a_run_is_cancelled_from_an_instance_that_has_no_part_in_it(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with first.asking(session, "one") as stream:
        await model.until(lambda: len(model.requests) == 1)
        await second.cancel(session, stream.run_id)
        assert (await asyncio.wait_for(stream.rest(), 60))[-1].data["status"] == "cancelled"
    assert (await second.session(session))["status"] == "idle"


async def test_questions_of_one_moment_to_both_instances_are_kept_in_the_order_of_their_answers(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.rule("SQL writer", "CHAT: All right.")

    async def ask(client: Client, number: int) -> None:
        async with client.asking(session, f"question {number}", multitask_strategy="enqueue") as stream:
            assert (await stream.rest())[-1].data["status"] == "complete"

    await asyncio.gather(*(ask((first, second)[number % 2], number) for number in range(10)))
    prompts = [asked.text for asked in model.requests if "SQL writer" in asked.text]
    answered = [prompt.rpartition("## Question\n")[2] for prompt in prompts]
    assert len(answered) == 10
    for client in (first, second):
        kept = (await client.session(session))["messages"]["items"]
        assert [each["query"] for each in kept] == [question for question in answered for _ in "ha"]
        assert [each["role"] for each in kept] == 10 * ["human", "assistant"]


async def test_questions_that_wait_are_answered_in_order_whichever_instance_took_them(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say(Scripted("CHAT: held", hold_after=0), *(f"CHAT: answer {number}" for number in range(4)))
    async with first.asking(session, "held") as held:
        await model.until(lambda: len(model.requests) == 1)
        waiting = []
        for number in range(4):
            client = (first, second)[number % 2]
            asked = client.asking(session, f"question {number}", multitask_strategy="enqueue")
            waiting.append((asked, await asked.__aenter__()))
        model.release()
        await held.rest()
        answers = [chunks(await stream.rest(), "analysis") for _, stream in waiting]
        for asked, _ in waiting:
            await asked.__aexit__(None, None, None)
    assert answers == [[f"answer {number}"] for number in range(4)]
    history = (await second.session(session))["messages"]["items"]
    asked_for = [each["query"] for each in history if each["role"] == "assistant"]
    assert asked_for == ["held", *(f"question {number}" for number in range(4))]


async def test_a_session_deleted_on_one_instance_stops_its_run_on_another(
    first: Client, second: Client, model: ScriptedModel, shop: str
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with first.asking(session, "one") as stream:
        await model.until(lambda: len(model.requests) == 1)
        deleted = await second.http.delete(f"/sessions/{session}")
        assert deleted.status_code == 204
        assert (await stream.rest())[-1].data["status"] == "cancelled"
    assert (await first.http.get(f"/sessions/{session}")).status_code == 404


async def test_an_answer_is_a_few_messages_a_second_to_its_log_however_many_tokens_it_has(
    first: Client, model: ScriptedModel, shop: str, log_writes: Callable[[], Awaitable[int]]
) -> None:
    session = await first.open_session(await first.connect(shop))
    counts = ", ".join(f"count(*) AS n{number}" for number in range(350))
    model.say(sql(f"SELECT country, {counts} FROM customers GROUP BY country"), FIRST)
    before, began = await log_writes(), time.monotonic()
    events = await first.ask(session, QUESTION)
    assert len(chunks(events, "text")) > 400
    assert await log_writes() - before < 20 + (time.monotonic() - began) / GATHERED_SECONDS
    assert "analyzing" in steps(events)
