"""KAI asked by LangGraph's own clients: the Python SDK, async and sync, and `RemoteGraph`."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import (
    APIStatusError,
    ConflictError,
    NotFoundError,
    PermissionDeniedError,
    UnprocessableEntityError,
)
from langgraph_sdk.schema import StreamPart
from pydantic import JsonValue
from typing_extensions import TypedDict

from tests.e2e.test_approval import (
    PLAN_TO_ACT,
    TEXT,
    agent_session,
    card_of,
    cards_of,
    decide,
    describe,
    descriptions,
    follow,
)
from tests.e2e.test_investigations import calls, finish, last_prompt
from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.fault_proxy import fault_proxy
from tests.support.langchain import text_of
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server
from tests.support.waiting import until

QUESTION = "How many customers per country?"
MODES = ["values", "updates", "messages-tuple", "messages", "custom", "tasks", "checkpoints", "debug"]
Graph: TypeAlias = Any
"""A client of LangGraph, whose types promise less than the wire holds."""
UNKNOWN = "01970000-0000-7000-8000-000000000000"


def asked(text: str = QUESTION, **more: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text, **more}]}


@pytest.fixture
async def graph(kai: Client, shared_server: Server) -> AsyncIterator[Graph]:
    async with get_client(url=f"{shared_server.address}/langgraph", api_key=None) as client:
        yield client


@pytest.fixture
async def shop_id(kai: Client, shop: str) -> str:
    return await kai.connect(shop)


async def read(parts: Any) -> list[StreamPart]:
    async with aclosing(parts) as stream:
        return [part async for part in stream]


def events(parts: list[StreamPart], name: str) -> list[Any]:
    return [part.data for part in parts if part.event == name]


def contents(values: Any) -> list[tuple[str, str]]:
    return [(each["type"], text_of(each)) for each in values["messages"] if each["type"] != "tool"]


async def test_a_database_is_an_assistant_that_cannot_be_changed_here(graph: Graph, shop_id: str) -> None:
    found = await graph.assistants.search(limit=100)
    assert shop_id in [each["assistant_id"] for each in found]
    assert {each["graph_id"] for each in found} == {"kai"}
    assert await graph.assistants.count() == len(found)
    assert await graph.assistants.search(graph_id="other") == []
    assert await graph.assistants.search(limit=100, metadata={"created_by": "system"}) == found
    assert await graph.assistants.count(metadata={"created_by": "user"}) == 0
    page = await graph.assistants.search(limit=len(found), response_format="object")
    assert (len(page["assistants"]), page["next"]) == (len(found), None)
    assistant = await graph.assistants.get(shop_id)
    assert (assistant["name"], assistant["version"]) == ("test", 1)
    drawn = await graph.assistants.get_graph(shop_id)
    assert {"load_context", "write_sql", "run_sql"} <= {node["id"] for node in drawn["nodes"]}
    schemas = await graph.assistants.get_schemas(shop_id)
    assert schemas["input_schema"]["required"] == ["messages"]
    assert await graph.assistants.get_subgraphs(shop_id) == {}
    assert [len(await graph.assistants.get_versions(shop_id, offset=each)) for each in (0, 1)] == [1, 0]
    assert await graph.assistants.get_versions(shop_id, metadata={"created_by": "user"}) == []
    for refused in (
        graph.assistants.create("kai"),
        graph.assistants.update(shop_id, name="other"),
        graph.assistants.delete(shop_id),
        graph.assistants.set_latest(shop_id, 1),
    ):
        with pytest.raises(APIStatusError, match="database-connections") as error:
            await refused
        assert error.value.status_code == 405


async def test_a_thread_is_made_found_changed_and_deleted(graph: Graph, shop_id: str) -> None:
    thread_id = str(uuid4())
    thread = await graph.threads.create(thread_id=thread_id, metadata={"team": "sales"}, graph_id="kai")
    assert (thread["thread_id"], thread["status"], thread["values"]) == (thread_id, "idle", None)
    assert thread["metadata"]["assistant_id"] is None
    with pytest.raises(ConflictError):
        await graph.threads.create(thread_id=thread_id)
    again = await graph.threads.create(thread_id=thread_id, if_exists="do_nothing")
    assert again["metadata"]["team"] == "sales"
    changed = await graph.threads.update(thread_id, metadata={"year": 2026})
    assert changed["metadata"].items() >= {"team": "sales", "year": 2026}.items()
    assert await graph.threads.update(thread_id, metadata={"year": 2027}, return_minimal=True) is None
    assert [each["thread_id"] for each in await graph.threads.search(ids=[thread_id])] == [thread_id]
    team: dict[str, Any] = {"metadata": {"graph_id": "kai", "team": "sales", "year": 2027}}
    assert [each["thread_id"] for each in await graph.threads.search(**team, status="idle")] == [thread_id]
    assert await graph.threads.search(metadata={"team": "sales", "year": 2026}) == []
    assert await graph.threads.search(**team, status="busy") == []
    assert await graph.threads.count(**team) == 1
    oldest = await graph.threads.search(sort_by="created_at", sort_order="asc", limit=100)
    assert [each["created_at"] for each in oldest] == sorted(each["created_at"] for each in oldest)
    assert await graph.threads.get_history(thread_id) == []
    assert (await graph.threads.get_state(thread_id))["values"]["messages"] == []
    before = await graph.threads.count()
    await graph.threads.delete(thread_id)
    assert await graph.threads.count() == before - 1
    with pytest.raises(NotFoundError):
        await graph.threads.get(thread_id)


async def test_a_run_streams_in_every_mode_and_its_last_values_are_those_of_the_thread(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    thread_id = (await graph.threads.create())["thread_id"]
    created: list[Any] = []
    parts = await read(
        graph.runs.stream(
            thread_id,
            shop_id,
            input=asked(id="mine"),
            stream_mode=MODES,
            metadata={"page": 1},
            on_run_created=created.append,
        )
    )
    assert parts[0].event == "metadata"
    assert parts[-1] == StreamPart("end", {"run_id": created[0]["run_id"], "status": "success"}, parts[-1].id)
    places = [tuple(map(int, str(part.id).split("-"))) for part in parts]
    assert places == sorted(set(places))
    values = events(parts, "values")
    assert contents(values[0]) == [("human", QUESTION)]
    assert values[0]["messages"][0]["id"] == "mine"
    assert contents(values[-1]) == [("human", QUESTION), ("ai", ""), ("ai", BRAZIL)]
    assert values[-1]["sql"] == PER_COUNTRY
    assert values[-1]["results"]["rows"] == [["Brazil", 2], ["Norway", 1]]
    nodes = [next(iter(update)) for update in events(parts, "updates")]
    assert nodes[:3] == ["write_sql", "run_sql", "analyse"]
    deltas = [chunk for chunk, _ in events(parts, "messages") if chunk["type"] == "AIMessageChunk"]
    assert "".join(chunk["content"] for chunk in deltas) == BRAZIL
    assert events(parts, "messages/complete")[-1][0]["content"] == BRAZIL
    begun = [task["name"] for task in events(parts, "tasks") if "input" in task]
    assert begun == ["load_context", "write_sql", "run_sql", "analyse", "finish"]
    assert len(events(parts, "checkpoints")) == 2
    assert {each["event"] for each in events(parts, "custom")} == {"status", "chunk"}

    state = await graph.threads.get_state(thread_id)
    assert state["values"] == values[-1]
    assert (await graph.threads.get(thread_id))["values"] == values[-1]
    run = await graph.runs.get(thread_id, created[0]["run_id"])
    assert (run["status"], run["metadata"], run["assistant_id"]) == ("success", {"page": 1}, shop_id)


async def test_the_history_has_one_state_for_each_turn_and_values_go_on(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create(metadata={"assistant_id": shop_id}))["thread_id"]
    model.say("CHAT: one", "CHAT: two")
    await graph.runs.wait(thread_id, shop_id, input=asked("first"))
    values = await graph.runs.wait(thread_id, shop_id, input=asked("second"))
    assert contents(values) == [("human", "first"), ("ai", "one"), ("human", "second"), ("ai", "two")]
    latest, earlier = await graph.threads.get_history(thread_id)
    assert latest["values"] == values
    assert contents(earlier["values"]) == contents(values)[:2]
    assert latest["parent_checkpoint"] == earlier["checkpoint"]
    assert await graph.threads.get_history(thread_id, before=latest["checkpoint"]) == [earlier]
    assert len(await graph.threads.get_history(thread_id, limit=1)) == 1
    checkpoint_id = str(earlier["checkpoint"]["checkpoint_id"])
    assert await graph.threads.get_state(thread_id, checkpoint_id=checkpoint_id) == earlier
    assert await graph.threads.get_state(thread_id, checkpoint=earlier["checkpoint"]) == earlier
    selected = await graph.threads.get_state(thread_id, select=["values.analysis", "next"])
    assert selected == {"values": {"analysis": "two"}, "next": []}
    selected = await graph.threads.get_history(thread_id, select=["values.messages", "values"], limit=1)
    assert selected == [{"values": values}]
    assert [run["status"] for run in await graph.runs.list(thread_id)] == ["success", "success"]
    assert await graph.runs.list(thread_id, status="error") == []
    assert await graph.runs.list(thread_id, status="timeout") == []
    assert [[*run] for run in await graph.runs.list(thread_id, select=["status"], limit=1)] == [["status"]]
    with pytest.raises(NotFoundError):
        await graph.threads.get_state(thread_id, checkpoint_id=UNKNOWN)
    copied = await graph.threads.copy(thread_id)
    assert isinstance(copied, dict)
    assert contents(copied["values"]) == contents(values)
    found = await graph.threads.get_state(copied["thread_id"])
    assert contents(found["values"]) == contents(values)


def prompt_of(model: ScriptedModel, question: str) -> str:
    """What the model read to answer a question."""
    prompts = [request.text for request in model.requests if "INVESTIGATE:" in request.text]
    return next(prompt for prompt in reversed(prompts) if question in prompt)


async def test_values_of_a_stream_reach_as_far_back_as_those_of_the_thread(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    model.rule("SQL writer", "CHAT: yes")
    thread_id = (await graph.threads.create())["thread_id"]
    for number in range(30):
        await graph.runs.wait(thread_id, shop_id, input=asked(f"question {number}"))
    parts = await read(graph.runs.stream(thread_id, shop_id, input=asked("last"), stream_mode="values"))
    values = events(parts, "values")[-1]
    assert [text for _, text in contents(values)][::2] == [*(f"question {n}" for n in range(30)), "last"]
    assert values == (await graph.threads.get_state(thread_id))["values"]


async def test_a_question_is_edited_and_answered_again_in_branches_of_its_thread(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create(metadata={"assistant_id": shop_id}))["thread_id"]

    async def ask(text: str | None, answer: str, **more: Any) -> list[Any]:
        """Returns the texts of the thread after it."""
        model.say(f"CHAT: {answer}")
        given = None if text is None else asked(text)
        values = await graph.runs.wait(thread_id, shop_id, input=given, **more)
        assert values == (await graph.threads.get_state(thread_id))["values"]
        assert values == (await graph.threads.get(thread_id))["values"]
        return [text for _, text in contents(values)]

    await ask("first", "Apple.")
    await ask("second", "Banana.")
    second, first = await graph.threads.get_history(thread_id)
    start = first["parent_checkpoint"]
    beginning = await graph.threads.get_state(thread_id, checkpoint=start)
    assert (contents(beginning["values"]), beginning["parent_checkpoint"]) == ([], None)
    assert await graph.threads.get_history(thread_id, before=start) == []

    texts = await ask("edited", "Cherry.", checkpoint=first["checkpoint"])
    assert texts == ["first", "Apple.", "edited", "Cherry."]
    assert "Banana." not in prompt_of(model, "edited")
    assert "Apple." in prompt_of(model, "edited")
    texts = await ask(None, "Damson.", checkpoint=second["parent_checkpoint"])
    assert texts == ["first", "Apple.", "edited", "Damson."]
    assert "Cherry." not in prompt_of(model, "edited")
    assert await ask("third", "Elder.") == [*texts, "third", "Elder."]
    assert await ask("fourth", "Fig.", checkpoint=second["checkpoint"]) == [
        *("first", "Apple.", "second", "Banana.", "fourth", "Fig.")
    ]
    assert "Damson." not in prompt_of(model, "fourth")
    assert "Banana." in prompt_of(model, "fourth")
    fourth, third, again, edited, *rest = await graph.threads.get_history(thread_id)
    assert rest == [second, first]
    assert third["parent_checkpoint"] == again["checkpoint"]
    assert again["parent_checkpoint"] == edited["parent_checkpoint"] == first["checkpoint"]
    assert fourth["parent_checkpoint"] == second["checkpoint"]
    assert await graph.threads.get_state(thread_id, checkpoint=third["checkpoint"]) == third

    copied = await graph.threads.copy(thread_id)
    assert contents(copied["values"]) == contents(fourth["values"])
    assert await ask("restart", "Grape.", checkpoint=start) == ["restart", "Grape."]
    with pytest.raises(UnprocessableEntityError, match="there is none"):
        await graph.runs.create(thread_id, shop_id, checkpoint=fourth["checkpoint"])
    with pytest.raises(NotFoundError):
        await graph.runs.create(thread_id, shop_id, input=asked(), checkpoint_id=UNKNOWN)


async def test_a_stopped_branch_is_followed_by_what_it_follows(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create(metadata={"assistant_id": shop_id}))["thread_id"]
    model.rule("stopped", Scripted("CHAT: never", hold_after=0))
    model.say("CHAT: Apple.", "CHAT: Banana.")
    await graph.runs.wait(thread_id, shop_id, input=asked("first"))
    await graph.runs.wait(thread_id, shop_id, input=asked("second"))
    _, first = await graph.threads.get_history(thread_id)

    async def has_begun() -> bool:
        return any("stopped" in request.text for request in model.requests)

    run = await graph.runs.create(thread_id, shop_id, input=asked("stopped"), checkpoint=first["checkpoint"])
    await until(has_begun)
    await graph.runs.cancel(thread_id, run["run_id"], wait=True)
    head = await graph.threads.get_state(thread_id)
    assert [text for _, text in contents(head["values"])] == ["first", "Apple.", "stopped"]
    assert head["parent_checkpoint"] == first["checkpoint"]
    model.say("CHAT: Elder.")
    values = await graph.runs.wait(thread_id, shop_id, input=asked("third"))
    assert [text for _, text in contents(values)][-2:] == ["third", "Elder."]
    assert "Banana." not in prompt_of(model, "third")
    assert "Apple." in prompt_of(model, "third")


async def test_a_stream_goes_on_behind_any_of_its_frames(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say(sql(PER_COUNTRY), FIRST)
    run = await graph.runs.create(thread_id, shop_id, input=asked())
    await graph.runs.join(thread_id, run["run_id"])

    async def joined(last: str | None, *modes: Any) -> list[StreamPart]:
        return await read(
            graph.runs.join_stream(thread_id, run["run_id"], last_event_id=last, stream_mode=list(modes))
        )

    whole = await joined("-1")
    assert await joined(None, *MODES) == whole
    assert {part.event for part in whole} >= {"values", "updates", "messages", "custom", "tasks"}
    for place in (0, len(whole) // 2, len(whole) - 2):
        assert await joined(whole[place].id) == whole[place + 1 :]
    updates = await joined(None, "updates")
    assert updates == [part for part in whole if part.event in ("metadata", "updates", "end")]
    with pytest.raises(APIStatusError, match="Last-Event-ID"):
        await joined("nonsense")


@pytest.mark.parametrize("has_thread", [True, False])
async def test_a_cut_stream_gives_each_frame_once_and_in_order(
    graph: Graph, model: ScriptedModel, shared_server: Server, shop_id: str, has_thread: bool
) -> None:
    model.say(sql(PER_COUNTRY), FIRST)
    thread_id = (await graph.threads.create())["thread_id"] if has_thread else None
    runs: list[Any] = []
    async with (
        fault_proxy(urlsplit(shared_server.address).port or 0) as proxy,
        get_client(url=f"{proxy.url}/langgraph", api_key=None) as cut_client,
    ):
        proxy.cut_after = 16_000  # more than the largest frame
        client: Graph = cut_client
        parts = await read(
            client.runs.stream(
                thread_id, shop_id, input=asked(), stream_mode=MODES, on_run_created=runs.append
            )
        )
    assert sum(len(json.dumps(part.data)) for part in parts) > 2 * 16_000
    assert parts == await read(graph.runs.join_stream(**runs[0], stream_mode=MODES))


async def test_runs_without_a_thread_leave_nothing_unless_it_is_to_be_kept(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    before = await graph.threads.count()
    model.say("CHAT: one", "CHAT: two", "CHAT: three")
    values = await graph.runs.wait(None, shop_id, input=asked("first"))
    assert contents(values) == [("human", "first"), ("ai", "one")]
    runs: list[Any] = []
    parts = await read(graph.runs.stream(None, shop_id, input=asked("second"), on_run_created=runs.append))
    assert contents(events(parts, "values")[-1])[-1] == ("ai", "two")
    assert await graph.threads.count() == before
    assert await graph.runs.join(**runs[0]) == events(parts, "values")[-1]
    assert await read(graph.runs.join_stream(**runs[0], stream_mode="values")) == parts
    thread_id = runs[0]["thread_id"]
    for reading in (graph.threads.get, graph.threads.get_state, graph.threads.delete, graph.runs.list):
        with pytest.raises(NotFoundError):
            await reading(thread_id)
    await graph.runs.wait(None, shop_id, input=asked("third"), on_completion="keep")
    assert await graph.threads.count() == before + 1


async def test_of_a_batch_all_runs_start_or_none(graph: Graph, model: ScriptedModel, shop_id: str) -> None:
    model.rule("", "CHAT: one")
    threads = await graph.threads.count()
    good: dict[str, Any] = {"assistant_id": shop_id, "input": asked("batched")}
    refused: list[dict[str, Any]] = [
        {"webhook": "http://a.example"},
        {"assistant_id": "no such database"},
        {"input": {}},
    ]
    for bad in refused:
        with pytest.raises(APIStatusError):
            await graph.runs.create_batch([good, {**good, **bad}])
    assert (await graph.threads.count(), len(model.requests)) == (threads, 0)
    runs = await graph.runs.create_batch([good, {**good, "on_completion": "keep"}])
    answers = [await graph.runs.join(run["thread_id"], run["run_id"]) for run in runs]
    assert [contents(values)[-1] for values in answers] == [("ai", "one")] * 2
    await graph.threads.delete(runs[1]["thread_id"])


async def test_a_second_run_is_refused_enqueued_or_interrupts_the_first(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say(Scripted("CHAT: one", hold_after=0), "CHAT: two")
    first = await graph.runs.create(thread_id, shop_id, input=asked("first"))
    await model.until(lambda: model.on_hold == 1)
    assert (await graph.threads.get(thread_id))["status"] == "busy"
    with pytest.raises(ConflictError):
        await graph.runs.create(thread_id, shop_id, input=asked("no"), multitask_strategy="reject")
    second = await graph.runs.create(thread_id, shop_id, input=asked("second"))
    assert (first["status"], second["status"]) == ("running", "pending")
    model.release()
    values = await graph.runs.join(thread_id, second["run_id"])
    assert contents(values) == [("human", "first"), ("ai", "one"), ("human", "second"), ("ai", "two")]

    model.forget()
    model.say(Scripted("CHAT: never", hold_after=0), "CHAT: four")
    third = await graph.runs.create(thread_id, shop_id, input=asked("third"))
    await model.until(lambda: model.on_hold == 1)
    values = await graph.runs.wait(thread_id, shop_id, input=asked("fourth"), multitask_strategy="interrupt")
    assert contents(values)[-1] == ("ai", "four")
    assert (await graph.runs.get(thread_id, third["run_id"]))["status"] == "interrupted"
    strategies = [each["multitask_strategy"] for each in await graph.runs.list(thread_id)]
    assert strategies == ["interrupt", "enqueue", "enqueue", "enqueue"]


async def test_a_run_is_cancelled_and_its_question_stays(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say(Scripted("CHAT: never", hold_after=0), Scripted("CHAT: never", hold_after=0))
    run = await graph.runs.create(thread_id, shop_id, input=asked("first"))
    await model.until(lambda: model.on_hold == 1)
    await graph.runs.cancel(thread_id, run["run_id"], wait=True)
    assert (await graph.runs.get(thread_id, run["run_id"]))["status"] == "interrupted"
    state = await graph.threads.get_state(thread_id)
    assert contents(state["values"]) == [("human", "first")]
    other = await graph.runs.create(thread_id, shop_id, input=asked("second"))
    await graph.runs.cancel_many(thread_id=thread_id, run_ids=[other["run_id"]])
    await graph.runs.join(thread_id, other["run_id"])
    with pytest.raises(UnprocessableEntityError, match="by thread_id and run_ids, or by status"):
        await graph.runs.cancel_many(thread_id=thread_id)
    with pytest.raises(UnprocessableEntityError, match="rolled back"):
        await graph.runs.cancel(thread_id, run["run_id"], action="rollback")


async def test_all_runs_of_a_status_are_cancelled(graph: Graph, model: ScriptedModel, shop_id: str) -> None:
    thread_id, other_id = [(await graph.threads.create())["thread_id"] for _ in range(2)]
    model.rule("", Scripted("CHAT: never", hold_after=0))
    threads = (thread_id, thread_id, other_id)
    runs = [await graph.runs.create(each, shop_id, input=asked()) for each in threads]
    await model.until(lambda: model.on_hold == 2)

    async def cancelled(**selection: str) -> list[bool]:
        await graph.runs.cancel_many(**selection)
        found = [await graph.runs.get(run["thread_id"], run["run_id"]) for run in runs]
        return [run["status"] == "interrupted" for run in found]

    assert await cancelled(status="pending") == [False, True, False]
    await graph.runs.cancel_many(thread_id=other_id, status="running")
    await graph.runs.join(other_id, runs[2]["run_id"])
    assert await cancelled(status="pending") == [False, True, True]
    await graph.runs.cancel_many(status="all")
    await graph.runs.join(thread_id, runs[0]["run_id"])
    assert await cancelled(status="all") == [True, True, True]


@pytest.mark.parametrize(("on_disconnect", "status"), [("cancel", "interrupted"), ("continue", "success")])
async def test_a_client_that_leaves_cancels_its_run_only_if_it_says_so(
    graph: Graph, model: ScriptedModel, shop_id: str, on_disconnect: Any, status: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say(Scripted("CHAT: one", hold_after=0))
    stream = graph.runs.stream(
        thread_id, shop_id, input=asked(), stream_mode="custom", on_disconnect=on_disconnect
    )
    async with aclosing(stream) as parts:
        run_id = (await anext(parts)).data["run_id"]
        await model.until(lambda: model.on_hold == 1)
    if status == "interrupted":
        await graph.runs.join(thread_id, run_id)
    model.release()
    await graph.runs.join(thread_id, run_id)
    assert (await graph.runs.get(thread_id, run_id))["status"] == status


async def test_a_client_that_leaves_a_run_that_it_joined_cancels_it_if_it_says_so(
    graph: Graph, model: ScriptedModel, shop_id: str, shared_server: Server
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    model.say(Scripted("CHAT: one", hold_after=0))
    run_id = (await graph.runs.create(thread_id, shop_id, input=asked()))["run_id"]
    await model.until(lambda: model.on_hold == 1)
    path = f"{shared_server.address}/langgraph/threads/{thread_id}/runs/{run_id}/join?cancel_on_disconnect=1"
    async with httpx.AsyncClient(timeout=60) as http, http.stream("GET", path) as joined:
        assert joined.status_code == 200
    await graph.runs.join(thread_id, run_id)
    assert (await graph.runs.get(thread_id, run_id))["status"] == "interrupted"
    model.release()


async def test_a_failed_run_ends_its_stream_with_the_error_and_raises_where_it_is_waited_for(
    graph: Graph, model: ScriptedModel, shop_id: str
) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    failing = sql("SELECT nothing FROM nowhere")
    model.rule(QUESTION, failing)
    parts = await read(graph.runs.stream(thread_id, shop_id, input=asked(), stream_mode=["updates"]))
    assert [part.event for part in parts[-2:]] == ["error", "end"]
    assert set(parts[-2].data) == {"error", "message"}
    assert parts[-1].data["status"] == "error"
    assert (await graph.threads.get(thread_id))["status"] == "error"
    with pytest.raises(Exception, match="urn:kai:"):
        await graph.runs.wait(thread_id, shop_id, input=asked())
    state = await graph.threads.get_state(thread_id)
    assert [kind for kind, _ in contents(state["values"])].count("human") == 2


Call = Callable[[Graph, str, str], Awaitable[object]]

REFUSED: dict[str, Call] = {
    "webhook": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), webhook="http://example.com"
    ),
    "mode": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), config={"configurable": {"kai": {"mode": "other"}}}
    ),
    "prompt": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), context={"kai": {"prompt": "other"}}
    ),
    "interrupt_before": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), interrupt_before=["run_sql"]
    ),
    "rollback": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), multitask_strategy="rollback"
    ),
    "stream mode": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input=asked(), stream_mode="events"
    ),
    "no message of the user": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input={"messages": [{"role": "system", "content": "x"}, ["ai", "y"]]}
    ),
    "no slash": lambda graph, thread, shop: graph.threads.create(thread_id="a/b"),
    "1 to 255 characters": lambda graph, thread, shop: graph.runs.create(
        "n" * 256, shop, input=asked(), if_not_exists="create"
    ),
    "Images and files": lambda graph, thread, shop: graph.runs.create(
        thread, shop, input={"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}
    ),
    "goto": lambda graph, thread, shop: graph.runs.create(thread, shop, command={"goto": "run_sql"}),
    "ttl": lambda graph, thread, shop: graph.threads.create(ttl=60),
    "supersteps": lambda graph, thread, shop: graph.threads.create(
        supersteps=[{"updates": [{"values": {}, "as_node": "x"}]}]
    ),
    "values": lambda graph, thread, shop: graph.threads.search(values={"sql": "x"}),
    "has no field 'values.prompt'": lambda graph, thread, shop: graph.threads.get_state(
        thread, select=["values.prompt"]
    ),
    "select": lambda graph, thread, shop: graph.runs.list(thread, select=["nothing"]),
}


@pytest.mark.parametrize("reason", REFUSED)
async def test_what_is_not_honoured_is_refused_by_name(graph: Graph, shop_id: str, reason: str) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    with pytest.raises(UnprocessableEntityError, match=reason):
        await REFUSED[reason](graph, thread_id, shop_id)


async def test_what_kai_does_not_have_says_so(graph: Graph, shop_id: str) -> None:
    thread_id = (await graph.threads.create())["thread_id"]
    for refused in (
        graph.crons.search(),
        graph.crons.create(shop_id, schedule="* * * * *", input={}),
        graph.crons.create_for_thread(thread_id, shop_id, schedule="* * * * *", input={}),
    ):
        with pytest.raises(NotFoundError, match="asks no question by schedule"):
            await refused
    with pytest.raises(APIStatusError, match="not written from outside") as error:
        await graph.threads.update_state(thread_id, {"sql": ""})
    assert error.value.status_code == 405
    with pytest.raises(ConflictError, match="Nothing in this thread waits"):
        await graph.runs.create(thread_id, shop_id, command={"resume": {"decisions": []}})
    with pytest.raises(NotFoundError):
        await graph.runs.create(UNKNOWN, shop_id, input=asked())


async def test_items_are_put_found_and_deleted(graph: Graph) -> None:
    store = graph.store
    root = uuid4().hex  # the server is shared
    assert await store.get_item([root, "ann"], "home") is None
    assert await store.put_item([root, "ann"], "home", {"page": "revenue", "size": 2}) is None
    made = await store.get_item([root, "ann"], "home", refresh_ttl=False)
    assert (made["namespace"], made["key"]) == ([root, "ann"], "home")
    assert made["value"] == {"page": "revenue", "size": 2}
    assert made["created_at"] == made["updated_at"]
    await store.put_item([root, "bob"], "home", {"page": "churn by month"})
    for wanted in ({"filter": {"size": 2.0}}, {"query": "reven"}, {"offset": 1, "limit": 1}):
        found = await store.search_items([root], **wanted)
        assert [each["namespace"][1] for each in found["items"]] == ["ann"], wanted
    names = await store.list_namespaces(prefix=["*"], suffix=["bob"])
    assert [root, "bob"] in names["namespaces"]
    assert [root] in (await store.list_namespaces(prefix=[root], max_depth=1))["namespaces"]
    assert await store.delete_item([root, "ann"], "home") is None
    assert await store.get_item([root, "ann"], "home") is None
    assert (await store.list_namespaces(prefix=[root]))["namespaces"] == [[root, "bob"]]
    refusals = {
        "index": store.put_item([root], "a", {}, index=["page"]),
        "ttl": store.put_item([root], "a", {}, ttl=5),
        "equality": store.search_items([root], filter={"size": {"$gt": 1}}),
        "65536": store.put_item([root], "a", {"text": "x" * 65_536}),
    }
    for reason, refused in refusals.items():
        with pytest.raises(UnprocessableEntityError, match=reason):
            await refused
    for reserved in (store.put_item(["kai"], "a", {}), store.search_items(["kai", "facts"])):
        with pytest.raises(PermissionDeniedError, match="KAI's own"):
            await reserved


async def test_a_thread_can_be_made_by_its_first_run_and_stays_with_its_database(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str, shop_id: str
) -> None:
    thread_id = str(uuid4())
    model.say("CHAT: one")
    await graph.runs.wait(thread_id, shop_id, input=asked(), if_not_exists="create")
    other = await kai.connect(shop)
    with pytest.raises(ConflictError):
        await graph.runs.create(thread_id, other, input=asked())


@pytest.mark.parametrize("decision", ["approve", "reject", "edit"])
async def test_a_call_that_waits_is_an_interrupt_that_a_resume_answers(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str, decision: str
) -> None:
    thread_id = await agent_session(kai, shop)
    assistant = (await graph.threads.get(thread_id))["metadata"]["assistant_id"]
    model.say(PLAN_TO_ACT, describe())
    parts = await read(
        graph.runs.stream(thread_id, assistant, input=asked("Describe."), stream_mode=["values", "updates"])
    )
    assert parts[-1].data["status"] == "interrupted"
    (interrupt,) = events(parts, "values")[-1]["__interrupt__"]
    assert [update["__interrupt__"] for update in events(parts, "updates") if "__interrupt__" in update] == [
        [interrupt]
    ]
    (request,) = interrupt["value"]["action_requests"]
    assert request["name"] == "describe_table_as"
    assert request["args"]["text"] == TEXT
    thread = await graph.threads.get(thread_id)
    assert thread["status"] == "interrupted"
    state = await graph.threads.get_state(thread_id)
    assert (state["next"], state["interrupts"]) == (["approve"], [interrupt])
    assert state["tasks"][0]["interrupts"] == [interrupt]

    model.say(finish("Done."))
    decisions: dict[str, dict[str, Any]] = {
        "approve": {"type": "approve"},
        "reject": {"type": "reject", "message": "Not now."},
        "edit": {
            "type": "edit",
            "edited_action": {"name": "describe_table_as", "args": {"table": "customers", "text": "Mine."}},
        },
    }
    values = await graph.runs.wait(
        thread_id, assistant, command={"resume": {"decisions": [decisions[decision]]}}
    )
    assert contents(values)[-1] == ("ai", "Done.")
    assert contents(values)[0] == ("human", "Describe.")
    after = (await graph.threads.get_state(thread_id))["values"]
    assert after == values
    described = (await descriptions(kai, thread_id))["customers"]
    assert described == {"approve": TEXT, "edit": "Mine.", "reject": ""}[decision]
    if decision == "reject":
        assert "Not now." in last_prompt(model)
    if decision == "edit":
        assert "The user has changed the arguments of this call." in last_prompt(model)
        (called,) = [call for message in after["messages"] for call in message.get("tool_calls") or []]
        assert called["args"]["text"] == "Mine."


@pytest.mark.parametrize(
    "action",
    [
        {"name": "define_term", "args": {"table": "customers", "text": "Mine."}},
        {"name": "describe_table_as", "args": {"table": "customers"}},
        {"name": "describe_table_as", "args": {"table": "customers", "text": "Mine.", "more": 1}},
    ],
    ids=["other tool", "missing", "unknown"],
)
async def test_a_refused_edit_leaves_every_call_of_the_thread_waiting(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str, action: dict[str, Any]
) -> None:
    thread_id = await agent_session(kai, shop)
    model.say(
        PLAN_TO_ACT,
        calls(
            ("describe_table_as", {"table": "customers", "text": "First."}),
            ("describe_table_as", {"table": "orders", "text": "Second."}),
        ),
    )
    values = await graph.runs.wait(thread_id, "kai", input=asked("Describe."))
    resume = {"decisions": [{"type": "approve"}, {"type": "edit", "edited_action": action}]}
    with pytest.raises(UnprocessableEntityError):
        await graph.runs.create(thread_id, "kai", command={"resume": resume})
    state = await graph.threads.get_state(thread_id)
    assert state["interrupts"] == values["__interrupt__"]
    assert len(state["interrupts"][0]["value"]["action_requests"]) == 2


APPROVE: dict[str, Any] = {"resume": {"decisions": [{"type": "approve"}]}}


async def test_a_plain_resume_approves_no_call_that_has_replaced_the_one_that_was_shown(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str
) -> None:
    thread_id = await agent_session(kai, shop)
    model.say(PLAN_TO_ACT, describe("First."))
    values = await graph.runs.wait(thread_id, "kai", input=asked("Describe."))
    (shown,) = values["__interrupt__"]
    earlier = (await graph.threads.get_state(thread_id))["checkpoint"]
    model.say(describe("Second."))
    denied = (await decide(kai, thread_id, await card_of(kai, thread_id), "deny")).json()
    await follow(kai, thread_id, denied["run_id"])

    with pytest.raises(ConflictError):
        await graph.runs.create(thread_id, "kai", command={"resume": {shown["id"]: APPROVE["resume"]}})
    with pytest.raises(ConflictError) as refused:
        await graph.runs.create(thread_id, "kai", command=APPROVE)
    (waiting,) = refused.value.response.json()["interrupts"]
    assert waiting["value"]["action_requests"][0]["args"]["text"] == "Second."
    assert (await descriptions(kai, thread_id))["customers"] == ""

    state = await graph.threads.get_state(thread_id)
    assert state["interrupts"] == [waiting]
    for stale in (None, earlier):  # another device of this client may have the first call on its screen
        with pytest.raises(ConflictError, match="has lately asked for others"):
            await graph.runs.create(thread_id, "kai", command=APPROVE, checkpoint=stale)
    assert (await descriptions(kai, thread_id))["customers"] == ""
    model.say(finish("Done."))
    values = await graph.runs.wait(thread_id, "kai", command=APPROVE, checkpoint=state["checkpoint"])
    assert contents(values)[-1] == ("ai", "Done.")
    assert (await descriptions(kai, thread_id))["customers"] == "Second."


async def test_a_plain_resume_is_about_the_whole_set_that_was_shown(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str
) -> None:
    thread_id = await agent_session(kai, shop)
    writes: list[dict[str, JsonValue]] = [
        {"table": table, "text": "Of it."} for table in ("orders", "customers")
    ]
    model.say(PLAN_TO_ACT, calls(*(("describe_table_as", write) for write in writes)))
    await read(graph.runs.stream(thread_id, "kai", input=asked("Describe."), stream_mode="updates"))
    cards = await cards_of(kai, thread_id)
    orders = next(each for each in cards if each["arguments"]["table"] == "orders")
    await decide(kai, thread_id, orders, "deny")
    with pytest.raises(ConflictError) as refused:
        await graph.runs.create(thread_id, "kai", command=APPROVE)
    (waiting,) = refused.value.response.json()["interrupts"]
    (request,) = waiting["value"]["action_requests"]
    model.say(finish("Done."))
    named = {"decisions": [{"type": "approve", "id": request["id"], "call_hash": request["call_hash"]}]}
    values = await graph.runs.wait(thread_id, "kai", command={"resume": named})
    assert contents(values)[-1] == ("ai", "Done.")
    assert (await descriptions(kai, thread_id))["customers"] == "Of it."


async def test_a_client_that_was_shown_no_interrupt_names_what_it_approves(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str
) -> None:
    thread_id = await agent_session(kai, shop)
    model.say(PLAN_TO_ACT, describe())
    await kai.ask(thread_id, "Describe.")
    with pytest.raises(ConflictError, match="not those that this client was shown last"):
        await graph.runs.create(thread_id, "kai", command=APPROVE)
    await read(graph.runs.join_stream(thread_id, (await graph.runs.list(thread_id))[0]["run_id"]))
    model.say(finish("Done."))
    values = await graph.runs.wait(thread_id, "kai", command=APPROVE)
    assert contents(values)[-1] == ("ai", "Done.")


async def test_several_calls_that_wait_are_one_interrupt_which_the_end_withdraws(
    graph: Graph, kai: Client, model: ScriptedModel, shop: str
) -> None:
    thread_id = await agent_session(kai, shop)
    tables = ("orders", "customers")
    writes: list[dict[str, JsonValue]] = [{"table": table, "text": f"Of {table}."} for table in tables]
    two = calls(*(("describe_table_as", write) for write in writes))
    model.say(PLAN_TO_ACT, two)
    values = await graph.runs.wait(thread_id, "kai", input=asked("Describe."))
    (interrupt,) = values["__interrupt__"]
    assert [request["args"]["table"] for request in interrupt["value"]["action_requests"]] == [*tables]
    assert (await graph.threads.get_state(thread_id))["interrupts"] == [interrupt]
    decisions = [{"type": "reject", "message": "No."}, {"type": "approve"}]
    with pytest.raises(UnprocessableEntityError, match="2 calls wait, and 1 decisions came"):
        await graph.runs.create(thread_id, "kai", command={"resume": {"decisions": decisions[:1]}})
    model.say(finish("Done."))
    resume = {interrupt["id"]: {"decisions": decisions}}
    values = await graph.runs.wait(thread_id, "kai", command={"resume": resume})
    assert contents(values)[-1] == ("ai", "Done.")
    described = await descriptions(kai, thread_id)
    assert [described[table] for table in tables] == ["", "Of customers."]

    model.say(PLAN_TO_ACT, two)
    await graph.runs.wait(thread_id, "kai", input=asked("Describe."))
    ended = await graph.runs.wait(thread_id, "kai", command={"goto": "__end__"})
    assert "__interrupt__" not in ended
    state = await graph.threads.get_state(thread_id)
    assert (state["next"], state["interrupts"]) == ([], [])
    assert (await graph.threads.get(thread_id))["status"] == "idle"
    with pytest.raises(ConflictError, match="Nothing in this thread waits"):
        await graph.runs.create(thread_id, "kai", command={"goto": "__end__"})


def test_the_sync_client_asks_and_reads(
    shared_server: Server, model: ScriptedModel, kai: Client, shop_id: str
) -> None:
    with get_sync_client(url=f"{shared_server.address}/langgraph", api_key=None) as graph:
        thread_id = graph.threads.create()["thread_id"]
        model.say("CHAT: one", "CHAT: two")
        parts = list(graph.runs.stream(thread_id, shop_id, input=asked("first"), stream_mode="values"))
        assert contents(parts[-2].data)[-1] == ("ai", "one")
        values = graph.runs.wait(thread_id, shop_id, input=asked("second"))
        assert graph.threads.get_state(thread_id)["values"] == values
        graph.threads.delete(thread_id)


@pytest.fixture
def remote(graph: Graph, shared_server: Server, shop_id: str) -> Iterator[RemoteGraph]:
    with get_sync_client(url=f"{shared_server.address}/langgraph", api_key=None) as sync_client:
        yield RemoteGraph(shop_id, client=graph, sync_client=sync_client)


async def test_a_remote_graph_is_invoked_streamed_and_drawn(
    remote: RemoteGraph, model: ScriptedModel
) -> None:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    model.say("CHAT: one", sql(PER_COUNTRY), FIRST)
    values = await remote.ainvoke(asked("first"), config)
    assert contents(values) == [("human", "first"), ("ai", "one")]
    updates = [part async for part in remote.astream(asked(), config, stream_mode="updates")]
    assert [next(iter(update)) for update in updates][:3] == ["write_sql", "run_sql", "analyse"]
    state = await remote.aget_state(config)
    assert state.values["sql"] == PER_COUNTRY
    assert len([each async for each in remote.aget_state_history(config)]) == 2
    assert "write_sql" in (await remote.aget_graph()).nodes
    model.rule("fail", sql("SELECT nothing FROM nowhere"))
    with pytest.raises(RemoteException):
        await remote.ainvoke(asked("fail"), config)


class Conversation(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    sql: str | None


async def test_a_remote_graph_is_a_node_of_another_graph_that_shows_each_question_once(
    remote: RemoteGraph, model: ScriptedModel
) -> None:
    builder = StateGraph(Conversation)
    builder.add_node("kai", remote)
    builder.add_edge(START, "kai")
    outer = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    model.say("CHAT: one", "CHAT: two")
    await outer.ainvoke({"messages": [HumanMessage("first")], "sql": None}, config)
    values = await outer.ainvoke({"messages": [HumanMessage("second")], "sql": None}, config)
    assert [message.content for message in values["messages"]] == ["first", "one", "second", "two"]
