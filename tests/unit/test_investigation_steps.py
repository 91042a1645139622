"""An investigation through the graph: its way, its death at every moment, and what it writes."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph import CompletedTurn, Ports, SessionEvent, SessionGraph, Turn
from graph.checkpoints import Checkpointer, sqlite_checkpointer
from graph.errors import InvestigationOff
from graph.events import Status
from graph.nodes.investigate import MAX_CALLS, MAX_STEPS
from graph.ports import Written
from tests.fakes import ROWS, TURN, FakeInvestigator, FakeWriter, ProcessDied, fake_ports
from tests.unit.test_session_graph import CIPHER, kinds, turn

PLAN = {1: ["1.1", "1.2"], 2: ["2.1"]}


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncGenerator[Checkpointer]:
    async with sqlite_checkpointer(tmp_path / "checkpoints.db", CIPHER) as opened:
        yield opened


@pytest.fixture
def graph(saver: Checkpointer) -> SessionGraph:
    return SessionGraph(saver)


def ports_of(investigator: FakeInvestigator | None) -> Ports:
    writer = FakeWriter([Written(route="investigate", text="1. totals", tokens_used=10)])
    return replace(fake_ports(writer), investigator=investigator)


async def test_each_call_is_made_once_and_the_next_step_follows_all_of_them(graph: SessionGraph) -> None:
    investigator = FakeInvestigator(PLAN)
    said = [event async for event in graph.ask(TURN, ports_of(investigator))]
    assert kinds(said) == [
        *("loading_context", "generating_sql", "investigating", "using_tool", "using_tool"),
        *("investigating", "using_tool", "investigating", "sql", "results", "analysis"),
    ]
    assert (investigator.thought, sorted(investigator.used)) == ([1, 2, 3], ["1.1", "1.2", "2.1"])
    answer = await graph.answer(TURN)
    assert (answer.route, answer.sql, answer.results) == ("investigate", "SELECT 3 AS n", ROWS)
    assert (answer.steps, answer.tool_calls, answer.tokens_used) == (3, 3, 13)


MOMENTS = [
    *(f"{when} step {step}" for when in ("before", "after") for step in (1, 2, 3)),
    *(f"{when} call {call}" for when in ("before", "after") for call in ("1.1", "1.2", "2.1")),
    "conclude",
]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_after_a_death_nothing_is_thought_or_done_twice(graph: SessionGraph, moment: str) -> None:
    investigator = FakeInvestigator(PLAN, die_at={moment})
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    [_ async for _ in graph.resume(TURN, ports_of(investigator))]
    assert (investigator.thought, sorted(investigator.used)) == ([1, 2, 3], ["1.1", "1.2", "2.1"])
    assert (await graph.answer(TURN)).analysis == "It fell."


async def test_a_resumed_turn_repeats_the_steps_that_are_complete(graph: SessionGraph) -> None:
    investigator = FakeInvestigator(PLAN, die_at={"before step 2"})
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    said = [event async for event in graph.resume(TURN, ports_of(investigator))]
    assert said[0].event == "reset"
    assert isinstance(said[1], Status)
    assert said[1].message == "again 1"
    assert isinstance(said[2], Status)
    assert said[2].message == "Investigating, step 2"


MIXED = {1: ["1.1", "1.2!", "1.3", "1.4!"], 2: ["2.1"]}


async def wait(graph: SessionGraph, investigator: FakeInvestigator) -> list[SessionEvent]:
    """Run the turn until calls wait for people."""
    completed = CompletedTurn()
    said = [event async for event in graph.ask(TURN, ports_of(investigator), completed=completed)]
    assert completed.is_waiting
    return said


async def go_on(
    graph: SessionGraph, investigator: FakeInvestigator, going_on: Turn, *, is_waiting: bool = False
) -> list[SessionEvent]:
    completed = CompletedTurn()
    events = graph.go_on(going_on, ports_of(investigator), completed=completed)
    said = [event async for event in events]
    assert completed.is_waiting == is_waiting
    return said


NEXT = replace(TURN, run_id="r2", resumes="r1", fence=2)


async def test_free_calls_run_first_and_the_others_wait_for_people_together(graph: SessionGraph) -> None:
    investigator = FakeInvestigator(MIXED)
    said = await wait(graph, investigator)
    assert kinds(said)[-3:] == ["using_tool", "using_tool", "waiting_for_approval"]
    assert (sorted(investigator.used), investigator.asked) == (["1.1", "1.3"], ["1.2!", "1.4!"])


async def test_decided_calls_run_in_another_run_one_after_another_in_the_order_of_the_model(
    graph: SessionGraph,
) -> None:
    investigator = FakeInvestigator(MIXED)
    await wait(graph, investigator)
    investigator.decisions = {"1.4!": "done", "1.2!": "done"}
    said = await go_on(graph, investigator, NEXT)
    assert kinds(said)[:3] == ["using_tool", "using_tool", "investigating"]
    assert "reset" not in kinds(said)
    assert investigator.used[2:] == ["1.2!", "1.4!", "2.1"]
    assert (investigator.thought, investigator.asked) == ([1, 2, 3], ["1.2!", "1.4!"])
    answer = await graph.answer(NEXT)
    assert (answer.analysis, answer.tool_calls) == ("It fell.", 5)


async def test_a_denied_call_has_no_effect_and_the_next_step_follows(graph: SessionGraph) -> None:
    investigator = FakeInvestigator(MIXED)
    await wait(graph, investigator)
    investigator.decisions = {"1.2!": "denied", "1.4!": "done"}
    await go_on(graph, investigator, NEXT)
    assert investigator.used[2:] == ["1.4!", "2.1"]


async def test_while_one_call_is_undecided_nothing_that_asks_runs_and_the_turn_waits_again(
    graph: SessionGraph,
) -> None:
    investigator = FakeInvestigator(MIXED)
    await wait(graph, investigator)
    investigator.decisions = {"1.2!": "done"}
    await go_on(graph, investigator, NEXT, is_waiting=True)
    assert len(investigator.used) == 2
    investigator.decisions["1.4!"] = "done"
    await go_on(graph, investigator, replace(TURN, run_id="r3", resumes="r2", fence=3))
    assert investigator.used[2:] == ["1.2!", "1.4!", "2.1"]


@pytest.mark.parametrize("moment", ["before asking", "after asking"])
async def test_a_run_that_dies_as_it_asks_asks_once(graph: SessionGraph, moment: str) -> None:
    investigator = FakeInvestigator(MIXED, die_at={moment})
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    completed = CompletedTurn()
    [_ async for _ in graph.resume(TURN, ports_of(investigator), completed=completed)]
    assert completed.is_waiting
    assert (sorted(investigator.used), investigator.asked) == (["1.1", "1.3"], ["1.2!", "1.4!"])


@pytest.mark.parametrize("moment", ["before asking", "after asking"])
async def test_a_run_that_dies_as_it_asks_goes_on_if_people_have_decided_meanwhile(
    graph: SessionGraph, moment: str
) -> None:
    investigator = FakeInvestigator(MIXED, die_at={moment})
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    investigator.decisions = {"1.2!": "done", "1.4!": "done"}
    [_ async for _ in graph.resume(TURN, ports_of(investigator))]
    assert (await graph.answer(TURN)).analysis == "It fell."


ACTIONS = [f"{when} call {call}" for when in ("before", "after") for call in ("1.2!", "1.4!", "2.1")]


@pytest.mark.parametrize("moment", ["before asking", "after asking", *ACTIONS])
async def test_a_run_that_goes_on_and_dies_does_nothing_twice_and_asks_nothing_again(
    graph: SessionGraph, moment: str
) -> None:
    investigator = FakeInvestigator(MIXED)
    await wait(graph, investigator)
    investigator.decisions = {"1.2!": "done", "1.4!": "done"}
    investigator.die_at = {moment}
    with pytest.raises(ProcessDied):
        await go_on(graph, investigator, NEXT)
    said = [event async for event in graph.resume(NEXT, ports_of(investigator))]
    assert said[0].event == "reset"
    assert investigator.used[2:] == ["1.2!", "1.4!", "2.1"]
    assert (investigator.thought, investigator.asked) == ([1, 2, 3], ["1.2!", "1.4!"])
    assert (await graph.answer(NEXT)).analysis == "It fell."


async def test_a_new_question_drops_what_waited(graph: SessionGraph) -> None:
    investigator = FakeInvestigator(MIXED)
    await wait(graph, investigator)
    said = [event async for event in graph.ask(turn(2), fake_ports())]
    assert "analysis" in kinds(said)
    assert len(investigator.used) == 2


async def test_the_most_steps_and_approved_calls_fit_the_recursion_limit(graph: SessionGraph) -> None:
    each = MAX_CALLS // MAX_STEPS
    plan = {
        step: [f"{step}.1", *(f"{step}.{number}!" for number in range(2, each + 1))]
        for step in range(1, MAX_STEPS + 1)
    }
    investigator = FakeInvestigator(plan)
    investigator.decisions = {call: "done" for calls in plan.values() for call in calls}
    [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    assert (await graph.answer(TURN)).tool_calls == MAX_CALLS


async def test_a_turn_that_goes_on_where_investigations_are_off_says_so(graph: SessionGraph) -> None:
    with pytest.raises(ProcessDied):
        [_ async for _ in graph.ask(TURN, ports_of(FakeInvestigator(PLAN, die_at={"before step 2"})))]
    with pytest.raises(InvestigationOff):
        [_ async for _ in graph.resume(TURN, ports_of(None))]


async def test_the_most_steps_fit_the_recursion_limit(graph: SessionGraph) -> None:
    investigator = FakeInvestigator({step: [f"{step}.1"] for step in range(1, MAX_STEPS + 1)})
    [_ async for _ in graph.ask(TURN, ports_of(investigator))]
    assert (await graph.answer(TURN)).steps == MAX_STEPS + 1


async def test_a_turn_of_twelve_steps_writes_little_and_not_more_from_turn_to_turn(
    graph: SessionGraph, tmp_path: Path
) -> None:
    sizes = []
    for number in range(1, 6):
        before = _written(tmp_path)
        plan = {step: [f"{number}.{step}.1", f"{number}.{step}.2"] for step in range(1, 13)}
        [_ async for _ in graph.ask(turn(number), ports_of(FakeInvestigator(plan)))]
        sizes.append(_written(tmp_path) - before)
    assert max(sizes) < 150_000  # mostly LangGraph's versions of channels, in each of 30 checkpoints
    assert sizes[-1] < 1.1 * sizes[2]  # the conversation before it is in each, until it is summarized


def _written(folder: Path) -> int:
    """Bytes of checkpoints and writes."""
    with closing(sqlite3.connect(folder / "checkpoints.db")) as store:
        (checkpoints,) = store.execute(
            "SELECT coalesce(sum(length(checkpoint)), 0) FROM checkpoints"
        ).fetchone()
        (writes,) = store.execute("SELECT coalesce(sum(length(value)), 0) FROM writes").fetchone()
    return int(checkpoints) + int(writes)
