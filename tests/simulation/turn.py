"""A turn of three steps, with a checkpoint after each, in the place of the graph and its model."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar, cast

from app.modules.session.model import Run, Session
from graph import CompletedTurn, Ports, ReadCheckpoint, RunControl, SessionEvent, SessionGraph, Turn
from graph.answer import TurnAnswer
from graph.errors import CheckpointsUnavailable, Drained
from graph.events import AnalysisChunk, Reset, Status, TextChunk
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

    def answer_of(self, question: str) -> str:
        return f"The answer to {question}."


@dataclass(frozen=True)
class Script:
    """What is bound to an attempt in the place of ports."""

    run: Run


class SimulatedGraph(SessionGraph):
    """Keeps its checkpoints in the simulated store, by fence as the checkpointer does."""

    def __init__(self, world: World, story: Story) -> None:
        self._world = world
        self._story = story

    async def bind(self, _: Session, run: Run) -> Ports:
        """An attempt counts against its run from here on; the first one, from its first event on."""
        if run.attempt > 1:
            self._under_way().add(run.id)
        return cast("Ports", Script(run))

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
        saved = await self._latest(turn)
        if saved == STEPS:
            yield AnalysisChunk(content=self._story.answer_of(turn.question))
        async for event in self._steps(turn, saved, control):
            yield event
        self._complete(turn, completed)

    async def answer(self, turn: Turn) -> TurnAnswer:
        return self._answer(turn, await self._latest(turn))

    def _complete(self, turn: Turn, completed: CompletedTurn | None) -> None:
        if completed is not None:
            completed.answer = self._answer(turn, STEPS)

    def _answer(self, turn: Turn, steps: int) -> TurnAnswer:
        reply = self._story.answer_of(turn.question) if steps == STEPS else None
        return TurnAnswer(route="chat", analysis=reply, tokens_used=TOKENS_PER_STEP * steps)

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

    async def _save(self, turn: Turn, steps: int) -> None:
        def act() -> None:
            kept = self._story.checkpoints.setdefault(turn.session_id, [])
            kept.append(Saved(turn.fence, steps, turn.run_id))

        await self._ask(f"save step {steps} of {turn.run_id[-4:]}", act)

    async def _latest(self, turn: Turn) -> int:
        """How many steps of this turn are done, in the latest checkpoint of the greatest fence."""

        def act() -> int:
            kept = self._story.checkpoints.get(turn.session_id, [])
            latest = max(kept, key=lambda each: (each.fence, each.steps), default=None)
            return latest.steps if latest is not None and latest.run_id == turn.run_id else 0

        return await self._ask(f"latest of {turn.run_id[-4:]}", act)

    async def _ask(self, what: str, act: Callable[[], T]) -> T:
        for _ in range(self._world.store_retries):
            with suppress(Unreachable):
                return await self._world.request(self._world.store, what, act)
        try:
            return await self._world.request(self._world.store, what, act)
        except Unreachable as error:
            raise CheckpointsUnavailable("The store does not answer.") from error
