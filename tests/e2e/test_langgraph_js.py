"""KAI asked by LangGraph's JavaScript SDKs 1.15 and 2.0, and by pages with `useStream`."""

from typing import Any
from urllib.parse import urlsplit

from langgraph_sdk import get_client

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import FIRST
from tests.support.fault_proxy import fault_proxy
from tests.support.node import run_script
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server
from tests.support.waiting import until


async def test_both_sdks_ask_come_back_to_a_cut_stream_and_read_the_thread(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    assistant = await kai.connect(shop)
    model.say(*[sql(PER_COUNTRY), FIRST, "CHAT: four", "CHAT: five"] * 2)
    async with fault_proxy(urlsplit(shared_server.address).port or 0) as proxy:
        proxy.cut_after = 12_000
        results: Any = await run_script(
            "langgraph",
            URL=f"{proxy.url}/langgraph",
            DIRECT=f"{shared_server.address}/langgraph",
            ASSISTANT=assistant,
        )
    assert len(results) == 2
    for result in results:
        assert assistant in result["assistants"]
        assert set(result["events"]) >= {
            "metadata",
            "values",
            "updates",
            "messages",
            "custom",
            "tasks",
            "end",
        }
        assert result["same"]
        assert result["values"]["sql"] == PER_COUNTRY
        assert result["values"]["messages"][0]["id"] == "mine"
        assert (result["waited"]["analysis"], result["batched"]) == ("four", "five")
        assert result["same_state"]
        assert (result["states"], result["found"]) == (2, 1)
        assert result["item"]["value"] == {"page": "revenue"}
        assert result["item"]["createdAt"] == result["item"]["updatedAt"]
        assert [item["key"] for item in result["items"]["items"]] == ["home"]
        assert result["namespaces"]["namespaces"] == [["sdk", assistant]]
        assert result["none"] is None
        assert result["refusals"] == [422, 404, 404]


async def test_events_of_a_thread_come_to_a_client_that_names_no_place_when_it_comes_back(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    model.rule("", Scripted("Two in Brazil. " * 100))
    model.rule("SQL writer", sql(PER_COUNTRY))
    model.rule("broken", sql("SELECT nothing FROM nowhere"))
    result: Any = await run_script(
        "thread", URL=f"{shared_server.address}/langgraph", ASSISTANT=await kai.connect(shop)
    )
    assert result["cuts"]
    assert {"lifecycle", "values", "updates", "messages", "tools", "custom", "tasks"} == {*result["methods"]}
    assert result["same"]
    assert result["messages"] == 4
    assert result["failure"]["event"] == "failed"
    assert "nowhere" in result["failure"]["error"]


async def test_a_page_asks_twice_is_opened_again_edits_and_stops_an_answer(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    assistant = await kai.connect(shop)
    model.rule("first", "CHAT: one")
    model.rule("second", "CHAT: two")
    model.rule("edited", "CHAT: three")
    model.rule("tally", Scripted(FIRST, delay_seconds=0.05))
    model.rule(lambda prompt: "SQL writer" in prompt.text and "tally" in prompt.text, sql(PER_COUNTRY))
    model.rule("held", Scripted("CHAT: never", hold_after=0))
    address = f"{shared_server.address}/langgraph"
    results: Any = await run_script("use-stream", URL=address, ASSISTANT=assistant)
    assert len(results) == 2
    async with get_client(url=address, api_key=None) as graph:
        for result in results:
            assert result["asked"] == ["first", "one", "second", "two"]
            assert result["reopened"] == result["asked"]
            assert result["edited"] == result["again"] == ["edited", "three"]
            assert result["optimistic"] == []
            called = ["ai", [["run_sql", {"sql": PER_COUNTRY}]]]
            answered = ["tool", [["Brazil", 2], ["Norway", 1]]]
            assert result["meanwhile"]["before"] == result["edited"]
            assert result["meanwhile"]["turn"] == [["human", []], called, answered, ["ai", []]]
            assert result["finished"] == result["meanwhile"]["turn"]
            thread_id = result["threadId"]

            async def stopped(thread_id: str = thread_id) -> bool:
                (run, *_) = await graph.runs.list(thread_id)
                return run["status"] == "interrupted"

            await until(stopped)
