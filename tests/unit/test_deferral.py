"""Checkpoints of several steps as one: what is written when, and what a failed write leaves."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict

from graph.deferral import SENT_STEP, DeferringCheckpointer

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}


class State(TypedDict, total=False):
    said: str


class Died(BaseException):
    """What a kill would do to a step."""


class WatchedSaver(InMemorySaver):
    """Records the steps of its checkpoints, and fails on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int] = []
        self.tasks: list[str] = []
        self.failures = 0

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        if self.failures > 0:
            self.failures -= 1
            raise ConnectionError
        self.steps.append(metadata["step"])
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self.tasks.append(task_path)
        await super().aput_writes(config, writes, task_id, task_path)


def is_costly(step: str, _: frozenset[str]) -> bool:
    return step.startswith("costly") or step == SENT_STEP


def chain(deferring: DeferringCheckpointer, *names: str, dies_in: str | None = None) -> Any:
    """A graph of steps, one after the other, each of which says its name."""

    def step_of(name: str) -> Any:
        def step(_: State) -> State:
            if name == dies_in:
                raise Died
            return {"said": name}

        return step

    shape = StateGraph(State)
    for name, before in zip(names, (START, *names), strict=False):
        shape.add_node(name, step_of(name))
        shape.add_edge(before, name)
    shape.add_edge(names[-1], END)
    return shape.compile(checkpointer=deferring)


def deferring(saver: WatchedSaver) -> DeferringCheckpointer:
    return DeferringCheckpointer(saver, is_costly, frozenset({"instant"}))


async def run(graph: Any, value: State | None) -> None:
    await graph.ainvoke(value, CONFIG, durability="sync")


async def test_a_checkpoint_is_written_after_a_costly_step_and_at_the_end() -> None:
    saver = WatchedSaver()
    await run(chain(deferring(saver), "cheap", "costly", "cheaper"), {"said": ""})
    assert saver.steps == [2, 3]
    assert saver.tasks == []


async def test_a_costly_step_before_one_that_takes_no_time_is_written_with_it() -> None:
    saver = WatchedSaver()
    await run(chain(deferring(saver), "cheap", "costly", "instant"), {"said": ""})
    assert saver.steps == [3]


async def test_the_checkpoint_of_several_steps_has_all_that_they_changed_and_the_parent_of_the_first() -> (
    None
):
    saver = WatchedSaver()
    graph = chain(deferring(saver), "cheap", "costly", "cheaper")
    await run(graph, {"said": ""})
    latest, first = [each async for each in saver.alist(CONFIG)]
    assert latest.checkpoint["channel_values"]["said"] == "cheaper"
    assert latest.parent_config is not None
    assert (
        first.config["configurable"]["checkpoint_id"] == latest.parent_config["configurable"]["checkpoint_id"]
    )
    assert first.parent_config is None


async def test_a_crash_repeats_the_steps_since_the_last_checkpoint_that_was_written() -> None:
    saver = WatchedSaver()
    with pytest.raises(Died):
        await run(chain(deferring(saver), "costly", "cheap", "second", dies_in="second"), {"said": ""})
    assert saver.steps == [1]
    again = chain(deferring(saver), "costly", "cheap", "second")  # of another process
    assert (await again.aget_state(CONFIG)).next == ("cheap",)
    await run(again, None)
    assert (await again.aget_state(CONFIG)).values == {"said": "second"}


async def test_a_read_in_the_same_process_sees_every_step() -> None:
    saver = WatchedSaver()
    graph = chain(deferring(saver), "cheap", "cheaper", dies_in="cheaper")
    with pytest.raises(Died):
        await run(graph, {"said": ""})
    assert saver.steps == []
    assert (await graph.aget_state(CONFIG)).next == ("cheaper",)
    assert saver.steps == [1]


async def test_a_write_that_fails_is_repeated_and_no_step_is_lost() -> None:
    saver = WatchedSaver()
    saver.failures = 2
    graph = chain(deferring(saver), "cheap", "costly", "cheaper")
    with pytest.raises(ConnectionError):
        await run(graph, {"said": ""})
    with pytest.raises(ConnectionError):
        await graph.aget_state(CONFIG)
    assert (await graph.aget_state(CONFIG)).next == ("cheaper",)
    await run(graph, None)
    assert saver.steps == [2, 3]


async def test_an_attempt_that_is_left_writes_nothing_more() -> None:
    saver = WatchedSaver()
    kept = deferring(saver)
    graph = chain(kept, "cheap", "cheaper", dies_in="cheaper")
    with pytest.raises(Died):
        await run(graph, {"said": ""})
    kept.leave("t", 0)
    assert (await graph.aget_state(CONFIG)).values == {}
    assert saver.steps == []


async def test_parallel_tasks_are_written_one_by_one_after_all_that_waited() -> None:
    saver = WatchedSaver()
    shape = StateGraph(State)
    shape.add_node("cheap", lambda _: {})
    shape.add_node("call", lambda _: {})
    shape.add_edge(START, "cheap")
    shape.add_conditional_edges("cheap", lambda _: [Send("call", {}), Send("call", {})], ["call"])
    shape.add_edge("call", END)
    await run(shape.compile(checkpointer=deferring(saver)), {"said": ""})
    assert saver.steps == [1, 2]
    assert len(saver.tasks) == 2


async def test_parallel_tasks_that_cost_nothing_to_repeat_wait_for_their_checkpoint() -> None:
    saver = WatchedSaver()
    cheap = DeferringCheckpointer(saver, lambda *_: False, frozenset())
    shape = StateGraph(State)
    shape.add_node("call", lambda _: {})
    shape.add_node("join", lambda _: {"said": "joined"})
    shape.add_conditional_edges(START, lambda _: [Send("call", {}), Send("call", {})], ["call"])
    shape.add_edge("call", "join")
    shape.add_edge("join", END)
    graph = shape.compile(checkpointer=cheap)
    await run(graph, {"said": ""})
    assert (len(saver.steps), saver.tasks) == (1, [])
    assert (await graph.aget_state(CONFIG)).values == {"said": "joined"}


async def test_an_interrupt_is_written_with_all_that_waited() -> None:
    saver = WatchedSaver()
    shape = StateGraph(State)
    shape.add_node("cheap", lambda _: {"said": "before"})
    shape.add_node("asks", lambda _: {"said": interrupt("May I?")})
    shape.add_edge(START, "cheap")
    shape.add_edge("cheap", "asks")
    shape.add_edge("asks", END)
    await run(shape.compile(checkpointer=deferring(saver)), {"said": ""})
    assert saver.steps == [1]
    found = await shape.compile(checkpointer=deferring(saver)).aget_state(CONFIG)
    assert [each.value for each in found.interrupts] == ["May I?"]
