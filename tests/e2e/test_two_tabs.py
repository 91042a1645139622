"""Two questions for one session at once, and one question sent twice."""

import asyncio

import pytest

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, chunks


@pytest.fixture
async def session(kai: Client, shop: str) -> str:
    return await kai.open_session(await kai.connect(shop))


async def test_a_second_question_is_refused_and_learns_of_the_first(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=0))
    async with kai.asking(session, "How many customers per country?") as first:
        refused = await kai.http.post(f"/sessions/{session}/query/stream", json={"query": "And now?"})
        assert refused.status_code == 409
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["active_run_id"] == first.run_id
        assert (await kai.session(session))["active_run_id"] == first.run_id
        model.release()
        assert (await first.rest())[-1].data["status"] == "complete"


async def test_closing_a_busy_session_says_which_run_holds_it_and_how_to_stop_it(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with kai.asking(session, "one") as one:
        await model.until(lambda: model.on_hold == 1)
        refused = await kai.http.patch(f"/sessions/{session}", json={"status": "closed"})
        assert refused.status_code == 409
        assert refused.headers["content-type"] == "application/problem+json"
        problem = refused.json()
        assert (problem["type"], problem["run_id"]) == ("urn:kai:session-busy", one.run_id)
        assert "multitask_strategy" not in problem["detail"]
        path = f"/sessions/{session}/runs/{one.run_id}/cancel"
        assert f"POST /api/v1{path}" in problem["detail"]
        assert (await kai.http.post(path)).status_code == 202
        assert (await one.rest())[-1].data["status"] == "cancelled"
    closed = await kai.http.patch(f"/sessions/{session}", json={"status": "closed"})
    assert closed.json()["status"] == "closed"


async def test_after_done_the_next_question_is_taken_at_once(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    for number in range(10):
        events = await kai.ask(session, f"CHAT number {number}")
        assert events[-1].data["status"] == "complete"


async def test_enqueued_questions_are_answered_in_order(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: first", hold_after=0), "CHAT: second", "CHAT: third")
    async with (
        kai.asking(session, "one") as one,
        kai.asking(session, "two", multitask_strategy="enqueue") as two,
        kai.asking(session, "three", multitask_strategy="enqueue") as three,
    ):
        waiting = (await two.next()).data
        assert (waiting["step"], waiting["place"]) == ("waiting", 1)
        model.release()
        answers = [chunks(await stream.rest(), "analysis") for stream in (one, two, three)]
    assert answers == [["first"], ["second"], ["third"]]
    history = (await kai.session(session))["messages"]["items"]
    assert [each["query"] for each in history] == ["one", "one", "two", "two", "three", "three"]


async def test_a_question_that_waits_can_be_cancelled(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: first", hold_after=0))
    async with (
        kai.asking(session, "one") as one,
        kai.asking(session, "two", multitask_strategy="enqueue") as two,
    ):
        await kai.cancel(session, two.run_id)
        assert (await two.rest())[-1].data["status"] == "cancelled"
        model.release()
        assert (await one.rest())[-1].data["status"] == "complete"


async def test_an_interrupting_question_takes_the_session_over(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with kai.asking(session, "one") as one:
        await model.until(lambda: len(model.requests) == 1)
        model.say("CHAT: at once")
        async with kai.asking(session, "two", multitask_strategy="interrupt") as two:
            assert (await one.rest())[-1].data["status"] == "cancelled"
            assert chunks(await two.rest(), "analysis") == ["at once"]


async def test_the_queue_has_an_end(kai: Client, model: ScriptedModel, session: str) -> None:
    model.say(Scripted("CHAT: first", hold_after=0))
    url = f"/sessions/{session}/query/stream"

    async def status() -> int:
        async with kai.http.stream(
            "POST", url, json={"query": "more", "multitask_strategy": "enqueue"}
        ) as answer:
            return answer.status_code

    async with kai.asking(session, "one"):
        assert [await status() for _ in range(11)] == [200] * 10 + [429]
        assert (await kai.http.delete(f"/sessions/{session}")).status_code == 204


async def test_the_queue_has_an_end_for_questions_of_one_moment_too(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.rule(lambda _: True, Scripted("CHAT: first", hold_after=0))
    url = f"/sessions/{session}/query/stream"

    async def status() -> int:
        async with kai.http.stream(
            "POST", url, json={"query": "more", "multitask_strategy": "enqueue"}
        ) as answer:
            return answer.status_code

    statuses = await asyncio.gather(*(status() for _ in range(30)))
    assert sorted(statuses) == [200] * 11 + [429] * 19
    asked = (await kai.http.get(f"/sessions/{session}", params={"limit": 100})).json()["messages"]["items"]
    assert len(asked) == 11
    assert (await kai.http.delete(f"/sessions/{session}")).status_code == 204


async def test_the_same_idempotency_key_gives_the_same_run(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say("CHAT: once")
    async with kai.asking(session, "one", "key-1") as first:
        events = await first.rest()
    async with kai.asking(session, "one", "key-1") as second:
        assert [event.data for event in await second.rest()] == [event.data for event in events]
    assert first.run_id == second.run_id
    assert len(model.requests) == 1


async def test_two_clicks_at_the_same_moment_are_one_run(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    async def click() -> str:
        async with kai.asking(session, "one", "key-2") as stream:
            await stream.rest()
            return stream.run_id

    assert len(set(await asyncio.gather(*(click() for _ in range(5))))) == 1
    assert len((await kai.session(session))["messages"]["items"]) == 2


async def test_an_idempotency_key_is_for_one_question(kai: Client, session: str) -> None:
    async with kai.asking(session, "one", "key-3") as stream:
        await stream.rest()
    url = f"/sessions/{session}/query/stream"
    answer = await kai.http.post(url, json={"query": "two"}, headers={"Idempotency-Key": "key-3"})
    assert answer.status_code == 422


async def test_deleting_a_session_stops_its_run_and_leaves_nothing(
    kai: Client, model: ScriptedModel, session: str
) -> None:
    model.say(Scripted("CHAT: never said", hold_after=0))
    async with kai.asking(session, "one") as stream:
        assert (await kai.http.delete(f"/sessions/{session}")).status_code == 204
        assert (await stream.rest())[-1].data["status"] == "cancelled"
    for url in (f"/sessions/{session}", f"/sessions/{session}/runs/{stream.run_id}/stream"):
        assert (await kai.http.get(url)).status_code == 404
