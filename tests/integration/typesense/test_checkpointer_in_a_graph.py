"""The checkpointer under real graphs: interrupts in subgraphs, delta channels, synchronous use, pruning."""

import operator
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent, indent
from typing import Annotated, TypedDict, cast
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typesense import AsyncClient

from app.core.storage.typesense_server import TypesenseServer
from graph import BEGINNING, SessionGraph, Turn
from graph.checkpoints import Checkpointer
from graph.errors import CheckpointUnreadable
from tests.fakes import TURN, fake_ports
from tests.support.typesense import Wire
from typesense_checkpoint import TypesenseCheckpointer


class Approval(TypedDict):
    answers: Annotated[list[str], operator.add]


def ask(state: Approval) -> Approval:
    return {"answers": [interrupt("first?"), interrupt("second?")]}


def with_subgraph(saver: TypesenseCheckpointer):  # type: ignore[no-untyped-def]
    child = StateGraph(Approval).add_node(ask).add_edge(START, "ask").add_edge("ask", END).compile()
    shape = StateGraph(Approval).add_node("child", child).add_edge(START, "child")
    return shape.add_edge("child", END).compile(checkpointer=saver)


def extend(value: list[str], updates: Sequence[list[str]]) -> list[str]:
    return [*value, *(each for update in updates for each in update)]


class Chat(TypedDict):
    messages: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=7)]
    turn: int


def reply(state: Chat) -> Chat:
    return {"messages": [f"answer {len(state['messages'])}"], "turn": state.get("turn", 0) + 1}


def chat(saver: TypesenseCheckpointer):  # type: ignore[no-untyped-def]
    return StateGraph(Chat).add_node(reply).add_edge(START, "reply").compile(checkpointer=saver)


def thread(thread_id: str = "t") -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id}}


async def test_an_interrupt_in_a_subgraph_is_seen_and_answered(saver: TypesenseCheckpointer) -> None:
    graph = with_subgraph(saver)
    await graph.ainvoke({"answers": []}, thread())
    for answer in ("one", "two"):
        state = await graph.aget_state(thread())
        assert state.next == ("child",)
        assert len(state.interrupts) == 1
        await graph.ainvoke(Command(resume=answer), thread())
    answered = await graph.aget_state(thread())
    assert answered.values["answers"] == ["one", "two"]
    assert answered.next == ()


async def test_a_delta_channel_is_rebuilt_and_costs_the_same_at_every_length(
    saver: TypesenseCheckpointer, wire: Wire
) -> None:
    graph = chat(saver)
    expected: list[str] = []
    requests, sizes = [], []
    for number in range(60):
        wire.requests.clear()
        question = f"question {number}"
        result = await graph.ainvoke({"messages": [question]}, thread(), durability="sync")
        expected += [question, f"answer {len(expected) + 1}"]
        assert result["messages"] == expected
        requests.append(len(wire.requests))
        sizes.append(wire.bytes_sent)
    assert max(requests[10:]) <= max(requests[:10]) + 1
    # A snapshot now and then holds the whole list; every other turn only what it said.
    assert sorted(sizes)[30] < 6_500
    assert (await graph.aget_state(thread())).values["messages"] == expected


async def test_a_turn_of_kais_own_graph_sends_less_than_fifteen_kilobytes(
    saver: TypesenseCheckpointer, wire: Wire
) -> None:
    graph = SessionGraph(cast("Checkpointer", saver))
    sizes = []
    for number in range(8):
        wire.requests.clear()
        turn = Turn(
            session_id="t",
            db_connection_id="d",
            run_id=f"r{number}",
            message_id=f"m{number}",
            question="How many?",
            metadata={},
            session_created_at="2026-01-01",
            asked_at="2026-01-01",
            fence=number,
        )
        async for _ in graph.ask(turn, fake_ports()):
            pass
        sizes.append(wire.bytes_sent)
    assert max(sizes) < 15 * 1_024


async def test_a_turn_of_kais_own_graph_begins_at_an_earlier_checkpoint_or_at_none(
    saver: TypesenseCheckpointer,
) -> None:
    graph = SessionGraph(cast("Checkpointer", saver))

    async def ask(number: int, start: str | None = None) -> tuple[str, list[str]]:
        """Returns the id of the newest checkpoint and the questions that it remembers."""
        turn = replace(TURN, run_id=f"r{number}", message_id=f"m{number}", question=str(number), fence=number)
        async for _ in graph.ask(replace(turn, from_checkpoint=start), fake_ports()):
            pass
        newest, *_ = await graph.checkpoints(turn.session_id, limit=1)
        state = await graph.state_at(turn.session_id, newest.id)
        assert state is not None
        return newest.id, [each["query"] for each in state["messages"] if each["role"] == "assistant"]

    first, _ = await ask(1)
    assert (await ask(2))[1] == ["1", "2"]
    assert (await ask(3, first))[1] == ["1", "3"]
    assert (await ask(4))[1] == ["1", "3", "4"]
    assert (await ask(5, BEGINNING))[1] == ["5"]
    with pytest.raises(CheckpointUnreadable, match="no checkpoint any more"):
        await ask(6, "1f000000-0000-6000-8000-000000000000")


async def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(saver: TypesenseCheckpointer) -> None:
    graph = chat(saver)
    for number in range(9):
        await graph.ainvoke({"messages": [f"q{number}"]}, thread())
    before = (await graph.aget_state(thread())).values
    counted = len([each async for each in saver.alist(thread())])
    await saver.aprune(["t"])
    assert (await graph.aget_state(thread())).values == before
    assert len([each async for each in saver.alist(thread())]) < counted
    result = await graph.ainvoke({"messages": ["more"]}, thread())
    assert result["messages"][:-2] == before["messages"]


async def test_a_copied_thread_goes_on_by_itself(saver: TypesenseCheckpointer) -> None:
    graph = chat(saver)
    for number in range(5):
        await graph.ainvoke({"messages": [f"q{number}"]}, thread())
    before = (await graph.aget_state(thread())).values
    await saver.acopy_thread("t", "copy")
    await graph.ainvoke({"messages": ["elsewhere"]}, thread("copy"))
    await saver.adelete_thread("copy")
    assert (await graph.aget_state(thread())).values == before


async def test_pruning_a_thread_of_large_values_deletes_those_that_are_unused(
    saver: TypesenseCheckpointer, wire: Wire
) -> None:
    class Text(TypedDict):
        text: str

    graph = (
        StateGraph(Text)
        .add_node("write", lambda state: {"text": state["text"] + "!"})
        .add_edge(START, "write")
        .compile(checkpointer=saver)
    )
    for number in range(10):
        await graph.ainvoke({"text": f"{number}" * 1_000}, thread())
    await saver.aprune(["t"])
    assert (await graph.aget_state(thread())).values == {"text": "9" * 1_000 + "!"}
    kinds = [str(document["kind"]) for document in await saver._collection.export("kind:=[checkpoint,value]")]
    assert sorted(kinds) == ["checkpoint", "value"]


def test_a_graph_without_an_event_loop_uses_it_too(typesense_server: TypesenseServer) -> None:
    node = typesense_server.url
    client = AsyncClient({"api_key": typesense_server.api_key, "nodes": [node]})
    saver = TypesenseCheckpointer(client, collection=f"c{uuid4().hex}")
    saver.setup()
    saver.setup()
    graph = chat(saver)
    for number in range(3):
        graph.invoke({"messages": [f"q{number}"]}, thread())
    assert graph.get_state(thread()).values["messages"][-1] == "answer 5"
    assert len(list(saver.list(thread(), limit=4))) == 4
    saver.copy_thread("t", "u")
    saver.prune(["u"])
    saver.delete_thread("t")
    assert saver.get_tuple(thread()) is None
    assert graph.get_state(thread("u")).values["messages"][-1] == "answer 5"
    saver._background.run(client.api_call.aclose())


def test_a_program_without_an_event_loop_sets_it_up_and_ends(typesense_server: TypesenseServer) -> None:
    program = f"""
        import operator
        from typing import Annotated, TypedDict, cast
        from langgraph.graph import START, StateGraph
        from typesense import AsyncClient
        from typesense_checkpoint import TypesenseCheckpointer

        class Count(TypedDict):
            n: Annotated[int, operator.add]

        client = AsyncClient({{"api_key": {typesense_server.api_key!r}, "nodes": [{typesense_server.url!r}]}})
        checkpointer = TypesenseCheckpointer(client, collection="c{uuid4().hex}")
        checkpointer.setup()
        shape = StateGraph(Count).add_node("one", lambda state: {{"n": 1}}).add_edge(START, "one")
        graph = shape.compile(checkpointer=checkpointer)
        config = {{"configurable": {{"thread_id": "1"}}}}
        for _ in range(3):
            graph.invoke({{"n": 10}}, config)
        print(graph.get_state(config).values["n"])
        latest = checkpointer.get_tuple(config)
        again = checkpointer.put(config, latest.checkpoint, latest.metadata, {{}})
        print(checkpointer.get(again)["id"] == latest.checkpoint["id"])
    """
    ran = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, ["33", "True"], "")


async def test_the_example_of_its_description_runs(typesense_server: TypesenseServer) -> None:
    description = TypesenseCheckpointer.__doc__ or ""
    lines = re.search(r"^( +from typesense.*?)\n\n +A superstep", description, re.DOTALL | re.MULTILINE)
    assert lines is not None
    example = indent(dedent(lines[1]), "    ")
    for said, here in (
        ('"xyz"', repr(typesense_server.api_key)),
        ("8108", str(typesense_server.port)),
        ("localhost", "127.0.0.1"),
    ):
        assert said in example
        example = example.replace(said, here)
    builder = StateGraph(Chat).add_node(reply).add_edge(START, "reply")
    names = {
        "TypesenseCheckpointer": TypesenseCheckpointer,
        "builder": builder,
        "inputs": {"messages": ["hi"]},
    }
    program = f"async def example():\n{example}\n    await client.api_call.aclose()"
    exec(program, names)  # noqa: S102
    await names["example"]()  # type: ignore[operator]


@pytest.mark.parametrize("strategy", ["", "keep_all"])
async def test_an_unknown_strategy_is_refused(saver: TypesenseCheckpointer, strategy: str) -> None:
    with pytest.raises(ValueError, match="keep_latest"):
        await saver.aprune(["t"], strategy=strategy)
