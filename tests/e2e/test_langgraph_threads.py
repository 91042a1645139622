"""Threads followed by LangGraph's own clients: event streaming (v3), and streams of all runs of a thread."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client

from tests.e2e.test_approval import PLAN_TO_ACT, TEXT, agent_session, describe
from tests.e2e.test_investigations import finish
from tests.e2e.test_langgraph import QUESTION, UNKNOWN, Graph, asked, contents
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.fault_proxy import fault_proxy
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server

SECONDS = 60
Event: TypeAlias = dict[str, Any]
CHANNELS = ["lifecycle", "values", "updates", "messages", "tools", "input", "custom", "tasks"]


@pytest.fixture
def base(kai: Client, shared_server: Server) -> str:
    return f"{shared_server.address}/langgraph"


@pytest.fixture
async def graph(base: str) -> AsyncIterator[Graph]:
    async with get_client(url=base, api_key=None) as client:
        yield client


@pytest.fixture
async def shop_id(kai: Client, shop: str) -> str:
    return await kai.connect(shop)


async def events_of(
    base: str, thread_id: str, ends: int, channels: list[str], **more: Any
) -> list[dict[str, Any]]:
    """The events of a thread, up to the end of so many runs."""
    found: list[dict[str, Any]] = []
    url = f"{base}/threads/{thread_id}/stream/events"
    async with (
        asyncio.timeout(SECONDS),
        httpx.AsyncClient(timeout=SECONDS) as client,
        client.stream("POST", url, json={"channels": channels, **more}) as response,
    ):
        assert response.status_code == 200, await response.aread()
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
                ends -= is_end(found[-1])
                if not ends:
                    return found
    return found


def is_end(event: dict[str, Any]) -> bool:
    is_lifecycle = event["method"] == "lifecycle"
    return is_lifecycle and event["params"]["data"]["event"] in ("completed", "failed", "interrupted")


def data(events: list[dict[str, Any]], method: str) -> list[Any]:
    return [each["params"]["data"] for each in events if each["method"] == method]


async def until_end(graph: Graph, thread_id: str, run_id: str) -> None:
    async with asyncio.timeout(SECONDS):
        await graph.runs.join(thread_id, run_id)


async def test_a_thread_is_asked_twice_and_its_events_go_on_behind_any_of_them(
    graph: Graph, base: str, model: ScriptedModel, shop_id: str
) -> None:
    model.say(Scripted(sql(PER_COUNTRY), hold_after=0), FIRST, "CHAT: two")
    async with asyncio.timeout(SECONDS), graph.threads.stream(assistant_id=shop_id) as thread:
        run = await thread.run.start(input=asked(id="mine"))
        last, message, call = None, None, None
        found: set[str] = set()
        wanted = ["values", "messages", "tool_calls", "kai.status"]
        async for name, item in thread.interleave_projections(wanted):
            found.add(name)
            model.release()  # the stream is there
            match name:
                case "values":
                    last = item
                case "messages":
                    message = item
                case "tool_calls":
                    call = item
        assert found == {*wanted}
        assert contents(last) == [("human", QUESTION), ("ai", ""), ("ai", BRAZIL)]
        assert await thread.output == last
        assert message is not None
        assert call is not None
        assert await message.text == BRAZIL
        assert call.name == "run_sql"
        assert (await call.output)["rows"] == [["Brazil", 2], ["Norway", 1]]
        thread_id = thread.thread_id
    async with asyncio.timeout(SECONDS), graph.threads.stream(thread_id, assistant_id=shop_id) as thread:
        second = await thread.run.start(input=asked("second"))
        await until_end(graph, thread_id, second["run_id"])

    whole = await events_of(base, thread_id, 2, CHANNELS, since=0)
    numbers = [event["seq"] for event in whole]
    assert numbers == sorted(set(numbers))
    assert len({event["event_id"] for event in whole}) == len(whole)
    assert [each["event"] for each in data(whole, "lifecycle")] == ["running", "completed"] * 2
    values = data(whole, "values")
    assert values[0]["messages"][0]["id"] == "mine"
    assert contents(values[-1])[-2:] == [("human", "second"), ("ai", "two")]
    assert values[-1] == (await graph.threads.get_state(thread_id))["values"]
    assert whole[0]["event_id"].startswith(run["run_id"])
    for place in (0, len(whole) // 3, len(whole) - 2):
        ends = sum(map(is_end, whole[place + 1 :]))
        assert (
            await events_of(base, thread_id, ends, CHANNELS, since=whole[place]["seq"]) == whole[place + 1 :]
        )
    some = await events_of(base, thread_id, 2, ["lifecycle", "updates"], since=0)
    assert some == [event for event in whole if event["method"] in ("lifecycle", "updates")]


def wait_until(met: Callable[[], bool]) -> None:
    """Wait for the stream that tells the sync client of ends of runs, but not of those before it."""
    end = time.monotonic() + SECONDS
    while not met():
        assert time.monotonic() < end
        time.sleep(0.01)


async def test_the_sync_client_asks_twice_over_streams_that_are_cut(
    graph: Graph, base: str, shared_server: Server, model: ScriptedModel, shop_id: str
) -> None:
    model.rule("", Scripted(f"{BRAZIL} " * 20))
    model.rule("SQL writer", sql(PER_COUNTRY))
    model.rule("broken", Scripted(sql("SELECT nothing FROM nowhere"), hold_after=0))

    def ask(url: str) -> tuple[str, list[Any], Any]:
        with get_sync_client(url=url, api_key=None) as client:
            with client.threads.stream(assistant_id=shop_id) as thread:
                thread.run.start(input=asked())
                events: list[Any] = list(thread.events)
            with client.threads.stream(thread.thread_id, assistant_id=shop_id) as again:
                wait_until(lambda: again._lifecycle_watcher_handle is not None)
                again.run.start(input=asked("Once more?"))
                texts = [message.text for message in again.messages]
                output: Any = again.output
            assert len(texts) == 1
            assert str(texts[0]) == output["analysis"]
            with client.threads.stream(assistant_id=shop_id) as failing:
                failing.run.start(input=asked("broken"))
                wait_until(lambda: failing._lifecycle_cursor is not None)
                model.release()
                with pytest.raises(RuntimeError, match="Run errored: unknown table nowhere"):
                    _ = failing.output
            return thread.thread_id, events, output

    async with fault_proxy(urlsplit(shared_server.address).port or 0) as proxy:
        proxy.cut_after = 20_000  # more than the largest frame
        async with asyncio.timeout(SECONDS):
            thread_id, events, output = await asyncio.to_thread(ask, f"{proxy.url}/langgraph")
    assert sum(len(json.dumps(event)) for event in events) > 2 * 20_000
    assert events == await events_of(base, thread_id, 1, CHANNELS, since=0)
    assert output == (await graph.threads.get_state(thread_id))["values"]
    assert len(contents(output)) == 6


async def test_a_remote_graph_streams_its_events_and_raises_the_failure_of_a_run(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    remote = RemoteGraph(shop_id, client=graph)
    thread_id = str(uuid4())
    config: Any = {"configurable": {"thread_id": thread_id}}
    model.say(Scripted("CHAT: one", hold_after=0))
    async with (
        asyncio.timeout(SECONDS),
        await remote.astream_events(asked("first"), config, version="v3") as run,
    ):
        last: Any = None
        async for values in run.values:
            last = values
            model.release()
        assert contents(last) == [("human", "first"), ("ai", "one")]
        assert await run.output() == last
    model.rule(QUESTION, sql("SELECT nothing FROM nowhere"))
    async with asyncio.timeout(SECONDS), await remote.astream_events(asked(), config, version="v3") as run:
        with pytest.raises(RuntimeError, match="Run errored: "):
            await run.output()
    assert (await graph.threads.get(thread_id))["status"] == "error"


async def test_what_waits_for_a_person_is_requested_and_answered(
    graph: Graph, base: str, kai: Client, model: ScriptedModel, shop: str
) -> None:
    thread_id = await agent_session(kai, shop)
    model.say(Scripted(PLAN_TO_ACT, hold_after=0), describe())
    async with asyncio.timeout(SECONDS), graph.threads.stream(thread_id, assistant_id="kai") as thread:
        await thread.run.start(input=asked("Describe."))
        async for _ in thread.values:
            model.release()
        assert thread.interrupted
        [interrupt] = thread.interrupts
        assert interrupt["value"]["action_requests"][0]["args"]["text"] == TEXT
        again = await events_of(base, thread_id, 1, ["lifecycle", "input"])
        assert [event["method"] for event in again] == ["lifecycle", "input.requested", "lifecycle"]
        model.say(finish("Done."))
        await thread.run.respond({"decisions": [{"type": "approve"}]})
        values = await thread.output
    assert contents(values)[-1] == ("ai", "Done.")
    ended = await events_of(base, thread_id, 2, ["lifecycle"], since=0)
    assert [each["event"] for each in data(ended, "lifecycle")] == [
        "running",
        "interrupted",
        "running",
        "completed",
    ]


async def test_runs_of_a_thread_are_joined_and_what_is_not_honoured_is_refused(
    graph: Graph, base: str, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say("CHAT: one", "CHAT: two")
    await graph.runs.wait(thread_id, shop_id, input=asked("first"))
    await graph.runs.wait(thread_id, shop_id, input=asked("second"))

    async def joined(last: str, ends: int, **more: Any) -> list[Any]:
        found: list[Any] = []
        stream = await graph.threads.join_stream(thread_id, last_event_id=last, **more)
        async with asyncio.timeout(SECONDS), aclosing(stream) as parts:
            async for part in parts:
                found.append(part)
                ends -= part.event == "end"
                if not ends:
                    break
        return found

    whole = await joined("-1", 2)
    assert [part.event for part in whole if part.event in ("metadata", "end")] == ["metadata", "end"] * 2
    assert contents([part.data for part in whole if part.event == "values"][-1])[-1] == ("ai", "two")
    for place in (0, len(whole) - 2):
        rest = whole[place + 1 :]
        assert await joined(whole[place].id, sum(part.event == "end" for part in rest)) == rest
    ends = await joined("-1", 2, stream_mode="lifecycle")
    assert ends == [part for part in whole if part.event in ("metadata", "end")]

    async with httpx.AsyncClient(base_url=f"{base}/threads", timeout=SECONDS) as client:
        for method, params, reason in (
            ("run.start", {}, "assistant_id"),
            ("run.start", {"assistant_id": "kai", "input": {}}, "messages"),
            ("run.start", {"assistant_id": shop_id, "input": asked(), "webhook": "http://x"}, "webhook"),
            ("input.respond", {"interrupt_id": "x", "response": {}}, "Nothing in this thread waits"),
            ("state.get", {}, "run.start and input.respond"),
        ):
            command = {"id": 7, "method": method, "params": params}
            answer = (await client.post(f"/{thread_id}/commands", json=command)).json()
            assert (answer["type"], answer["id"]) == ("error", 7)
            assert reason in answer["message"]
            assert (answer["error"] == "unknown_command") == (method == "state.get")
        start = {"assistant_id": "kai", "input": asked()}
        command = {"id": None, "method": "run.start", "params": start}
        answer = (await client.post(f"/{'n' * 256}/commands", json=command)).json()
        assert (answer["type"], answer["error"]) == ("error", "invalid")
        for path, channels, status in (
            (thread_id, ["debug"], 422),
            (thread_id, [], 422),
            (UNKNOWN, ["values"], 404),
        ):
            refused = await client.post(f"/{path}/stream/events", json={"channels": channels})
            assert refused.status_code == status
        assert (
            await client.get(f"/{thread_id}/stream", params={"stream_mode": "state_update"})
        ).status_code == 422
        handshake = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        for headers in ({}, handshake):
            refused = await client.get(f"/{thread_id}/stream/events", headers=headers)
            assert (refused.status_code, refused.json()["type"]) == (426, "urn:kai:not-offered")
            assert "POST /threads/{thread_id}/stream/events" in refused.json()["detail"]
