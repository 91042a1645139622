"""A turn of three steps, with a checkpoint after each, in the place of the graph and its model.

A turn in agent mode is an investigation.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar, cast

from app.modules.records.model import Run, Session
from graph import CompletedTurn, Ports, ReadCheckpoint, RunControl, SessionEvent, SessionGraph, Turn
from graph.answer import TurnAnswer
from graph.errors import CheckpointsUnavailable, Drained
from graph.events import AnalysisChunk, Reset, Status, TextChunk
from graph.ports import Investigator
from tests.simulation.agent import AgentSite, AgentState, AgentTurn, Office
from tests.simulation.loop import CURRENT
from tests.simulation.world import Unreachable, World

T = TypeVar("T")

STEPS = 3
TOKENS_PER_STEP = 10


@dataclass(frozen=True)
class Saved:
    """A checkpoint: the run it is of, and how many of its steps are done."""

    fence: int
    steps: int
    run_id: str
    agent: AgentState | None = None


@dataclass
class Story:
    """What attempts have done, for the invariants."""

    poison: set[str] = field(default_factory=set)
    """Questions that kill their process at the second step."""
    checkpoints: dict[str, list[Saved]] = field(default_factory=dict)
    begun: dict[tuple[str, int], "Script"] = field(default_factory=dict)
    """What was bound to an attempt, by run and attempt, as its turn began."""
    under_way: dict[str, set[str]] = field(default_factory=dict)
    """Runs whose turns are under way, by process."""
    deaths: dict[str, int] = field(default_factory=dict)
    """How often a process has died while a run's turn was under way in it, by run."""
    poisoned: dict[str, int] = field(default_factory=dict)
    """How often that was another run's doing."""
    killed: dict[str, str] = field(default_factory=dict)
    """The runs that have killed their processes, by process."""
    fences: dict[tuple[str, int], tuple[str, int] | None] = field(default_factory=dict)
    """The attempt that writes with a fence, by session."""
    pace: float = 1.0
    office: Office = field(default_factory=Office)

    def answer_of(self, question: str) -> str:
        return f"The answer to {question}."


@dataclass(frozen=True)
class Script:
    """What is bound to an attempt in the place of ports."""

    run: Run
    investigator: Investigator | None


class SimulatedGraph(SessionGraph):
    """Keeps its checkpoints in the simulated store, by fence as the checkpointer does."""

    def __init__(self, world: World, story: Story, agents: AgentSite) -> None:
        self._world = world
        self._story = story
        self._agents = agents

    async def bind(self, session: Session, run: Run) -> Ports:
        """An attempt counts against its run from here on; the first one, from its first event on."""
        if run.attempt > 1:
            self._under_way().add(run.id)
        investigator = await self._agents.bind(session, run) if run.mode == "agent" else None
        return cast("Ports", Script(run, investigator))

    async def ask(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        self._begin(turn, ports)
        yield Status(step="loading_context", message="Reading", run_id=turn.run_id)
        if (investigator := _investigator_of(ports)) is not None:
            await self._save(turn, 0, AgentState())
            async for event in self._investigate(turn, investigator, AgentState(), control, completed):
                yield event
            return
        async for event in self._steps(turn, 0, control):
            yield event
        self._complete(turn, completed)

    async def find_latest(self, session_id: str) -> None:
        """The turn reads it."""

    async def read_ahead(self, turn: Turn, latest: ReadCheckpoint | None) -> None:
        """The turn reads it."""

    def leave(self, turn: Turn) -> None:
        """Nothing waits to be saved."""

    async def resume(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        self._begin(turn, ports)
        yield Reset(reason="The answer was interrupted.")
        if (investigator := _investigator_of(ports)) is not None:
            latest = await self._latest_saved(turn)
            state = AgentState() if latest is None or latest.agent is None else latest.agent
            if state.step:
                async for event in investigator.replay(state.step):
                    yield event
            if state.text is not None:
                yield AnalysisChunk(content=state.text)
            async for event in self._investigate(turn, investigator, state, control, completed):
                yield event
            return
        saved = await self._latest(turn)
        if saved == STEPS:
            yield AnalysisChunk(content=self._story.answer_of(turn.question))
        async for event in self._steps(turn, saved, control):
            yield event
        self._complete(turn, completed)

    async def go_on(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        latest, investigator = await self._latest_saved(turn), _investigator_of(ports)
        assert investigator is not None
        if latest is None or latest.agent is None or latest.run_id != turn.resumes:
            events = self.resume(turn, ports, control, completed=completed)
        else:
            self._begin(turn, ports)
            events = self._investigate(turn, investigator, latest.agent, control, completed)
        async for event in events:
            yield event

    async def answer(self, turn: Turn) -> TurnAnswer:
        latest = await self._latest_saved(turn)
        if latest is None:
            return TurnAnswer(route="chat")
        return self._answer(turn, latest.steps) if latest.agent is None else latest.agent.answer()

    def _complete(self, turn: Turn, completed: CompletedTurn | None) -> None:
        if completed is not None:
            completed.answer = self._answer(turn, STEPS)

    def _answer(self, turn: Turn, steps: int) -> TurnAnswer:
        reply = self._story.answer_of(turn.question) if steps == STEPS else None
        return TurnAnswer(route="chat", analysis=reply, tokens_used=TOKENS_PER_STEP * steps)

    async def forget(self, session_id: str) -> None:
        def act() -> None:
            self._story.checkpoints.pop(session_id, None)

        await self._ask(f"forget the checkpoints of {session_id[-3:]}", act)

    async def has_begun(self, session_id: str, run_id: str) -> bool:
        return await self._ask(f"state of {session_id[-3:]}", lambda: self._is_latest(session_id, run_id))

    def _is_latest(self, session_id: str, run_id: str) -> bool:
        kept = self._story.checkpoints.get(session_id, [])
        latest = max(kept, key=lambda each: (each.fence, each.steps), default=None)
        return latest is not None and latest.run_id == run_id

    def _begin(self, turn: Turn, ports: Ports) -> None:
        script = cast("Script", ports)
        run = script.run
        if self._story.begun.setdefault((run.id, run.attempt), script) is not script:
            self._world.violate(f"attempt {run.attempt} at {run.id[-4:]} begins twice")
        one, other = (run.id, run.attempt), self._story.fences.setdefault((turn.session_id, turn.fence), None)
        if other not in (None, one):
            self._world.violate(f"two attempts write with the fence {turn.fence}: {one} and {other}")
        self._story.fences[turn.session_id, turn.fence] = one
        self._world.note(f"turn of {run.id[-4:]} begins, attempt {run.attempt}")
        self._world.on_begin(run)

    async def _investigate(
        self,
        turn: Turn,
        investigator: Investigator,
        state: AgentState,
        control: RunControl | None,
        completed: CompletedTurn | None,
    ) -> AsyncGenerator[SessionEvent]:
        async def store(state: AgentState) -> None:
            await self._save(turn, state.step + (state.text is not None), state)

        under_way = self._under_way()
        under_way.add(turn.run_id)
        try:
            steps = AgentTurn(investigator, turn, state, store=store)
            async for event in steps.events(control):
                yield event
            if completed is not None:
                completed.answer = steps.state.answer()
                completed.is_waiting = steps.is_waiting
        finally:
            under_way.discard(turn.run_id)

    async def _steps(self, turn: Turn, done: int, control: RunControl | None) -> AsyncGenerator[SessionEvent]:
        process = CURRENT.get()
        assert process is not None
        under_way = self._under_way()
        under_way.add(turn.run_id)
        try:
            for step in range(done, STEPS):
                if control is not None and control.drain_requested:
                    raise Drained
                yield Status(step="generating_sql", message=f"Step {step}", run_id=turn.run_id)
                await asyncio.sleep(self._story.pace * self._world.chance.choice([0.001, 0.01, 0.1, 0.5]))
                if step == 1 and turn.question in self._story.poison:
                    self._story.killed[process.name] = turn.run_id
                    self._world.kill(process)
                    await asyncio.Future()
                yield TextChunk(content=f"{step}", channel="analysis")
                await self._save(turn, step + 1)
            yield AnalysisChunk(content=self._story.answer_of(turn.question))
        finally:
            under_way.discard(turn.run_id)

    def _under_way(self) -> set[str]:
        process = CURRENT.get()
        assert process is not None
        return self._story.under_way.setdefault(process.name, set())

    async def _save(self, turn: Turn, steps: int, agent: AgentState | None = None) -> None:
        def act() -> None:
            kept = self._story.checkpoints.setdefault(turn.session_id, [])
            kept.append(Saved(turn.fence, steps, turn.run_id, agent))

        await self._ask(f"save step {steps} of {turn.run_id[-4:]}", act)

    async def _latest(self, turn: Turn) -> int:
        """How many steps of this turn are done."""
        latest = await self._latest_saved(turn)
        return 0 if latest is None else latest.steps

    async def _latest_saved(self, turn: Turn) -> Saved | None:
        """The latest checkpoint of the greatest fence, if it is of this turn."""

        def act() -> Saved | None:
            kept = self._story.checkpoints.get(turn.session_id, [])
            latest = max(reversed(kept), key=lambda each: (each.fence, each.steps), default=None)
            is_of = latest is not None and latest.run_id in (turn.run_id, turn.resumes)
            return latest if is_of else None

        return await self._ask(f"latest of {turn.run_id[-4:]}", act)

    async def _ask(self, what: str, act: Callable[[], T]) -> T:
        for _ in range(self._world.store_retries):
            with suppress(Unreachable):
                return await self._world.request(self._world.store, what, act)
        try:
            return await self._world.request(self._world.store, what, act)
        except Unreachable as error:
            raise CheckpointsUnavailable("The store does not answer.") from error


def _investigator_of(ports: Ports) -> Investigator | None:
    return cast("Script", ports).investigator
