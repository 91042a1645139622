"""Streams that are interrupted, resumed, or lose their reader."""

import time

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Event

STATEMENT_SECONDS = 30
"""How long a statement may take, unless it is configured."""
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"


def seen(events: list[Event]) -> list[tuple[int, str, object]]:
    return [(event.id, event.name, event.data) for event in events]


async def test_a_stream_cut_anywhere_and_resumed_is_the_uncut_stream(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), FIRST)
    async with kai.asking(session, "How many customers per country?") as stream:
        uncut = await stream.rest()
    for position in range(len(uncut)):
        async with kai.following(session, stream.run_id, uncut[position].id) as resumed:
            assert seen(uncut[: position + 1] + await resumed.rest()) == seen(uncut)


async def test_a_reader_that_left_in_mid_answer_resumes_live(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), Scripted(FIRST, hold_after=1))
    async with kai.asking(session, "How many customers per country?") as stream:
        before = await stream.until("status", step="analyzing")
        await model.until(lambda: model.on_hold == 1)
    async with kai.following(session, stream.run_id, before[-1].id) as resumed:
        model.release()
        after = await resumed.rest()
    waits, *ids = [event.id for event in before + after]
    assert (waits, ids) == (1, list(range(ids[0], ids[-1] + 1)))
    assert after[-1].data["status"] == "complete"


async def test_a_run_goes_on_when_its_client_leaves(kai: Client, model: ScriptedModel, shop: str) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(Scripted(sql(PER_COUNTRY), hold_after=0), FIRST)
    async with kai.asking(session, "How many customers per country?") as stream:
        await stream.next()
    model.release()
    async with kai.following(session, stream.run_id) as again:
        events = await again.rest()
    assert events[-1].data["status"] == "complete"
    assert (await kai.session(session))["messages"]["items"][-1]["analysis"] == BRAZIL


async def test_a_stream_can_be_followed_by_two_tabs_at_once(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(Scripted(sql(PER_COUNTRY), hold_after=2), FIRST)
    async with (
        kai.asking(session, "How many customers per country?") as one,
        kai.following(session, one.run_id) as two,
    ):
        model.release()
        assert seen(await one.rest()) == seen(await two.rest())


async def test_headers_keep_proxies_from_holding_the_stream_back(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    url = f"/sessions/{session}/query/stream"
    async with kai.http.stream("POST", url, json={"query": "Thank you"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-cache, no-store"
        assert answer.headers["x-accel-buffering"] == "no"


async def test_cancelling_stops_a_statement_in_the_database_long_before_its_time_limit(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(ENDLESS))
    async with kai.asking(session, "Count for ever") as stream:
        await stream.until("status", step="executing_sql")
        start = time.monotonic()
        await kai.cancel(session, stream.run_id)
        events = await stream.rest()
    assert events[-1].data["status"] == "cancelled"
    assert time.monotonic() - start < STATEMENT_SECONDS - 5
    assert (await kai.session(session))["status"] == "idle"


async def test_cancelling_closes_the_request_to_the_model(
    kai: Client, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    disconnects = model.disconnects
    model.say(Scripted("never said", hold_after=0))
    async with kai.asking(session, "How many customers?") as stream:
        await stream.until("status", step="generating_sql")
        await model.until(lambda: len(model.requests) == 1)
        await kai.cancel(session, stream.run_id)
        assert (await stream.rest())[-1].data["status"] == "cancelled"
    await model.until(lambda: model.disconnects > disconnects)


async def test_cancelling_what_is_over_changes_nothing(kai: Client, shop: str) -> None:
    session = await kai.open_session(await kai.connect(shop))
    done = (await kai.ask(session, "How many customers?"))[-1].data
    await kai.cancel(session, done["run_id"])
    async with kai.following(session, done["run_id"]) as again:
        assert (await again.rest())[-1].data["status"] == "complete"
