"""Turns in agent mode: KAI's own investigator, with a scripted model, over the steps of the graph."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from app.core.llm.messages import PromptMessage
from app.core.llm.model import LanguageModel, OfferedTool, Said, ToolCall
from app.core.storage.port import Storage
from app.modules.agent.factory import InvestigatorFactory
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.turn import InvestigationSettings
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.service import ConversationMemories
from app.modules.records.model import Run, Session
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.records.steps import InvestigationRecords
from app.modules.run.running_actions import ActionsUnderWay
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.tools.context import ToolContext
from app.modules.tools.history import Answers
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import ToolRegistry
from app.modules.tools.tool import Arguments, Tool, ToolResult, tool
from app.modules.tools.toolsets.control import CONTROL
from graph import RunControl, SessionEvent, Turn
from graph.answer import TurnAnswer
from graph.errors import Drained
from graph.events import AnalysisChunk, Status
from graph.ports import Investigator, Question
from graph.state import CallOutcome, ToolCallRef
from tests.simulation.world import World

TOKENS_PER_STEP = 10
APPROVAL_SECONDS = 12.0

Calls = Sequence[tuple[Literal["look", "book"], int]]

_PLANS: Sequence[Sequence[Calls]] = (
    ((("look", 1), ("look", 2)), (("book", 1),)),
    ((("look", 1), ("book", 1), ("book", 2)),),
    ((("book", 1),), (("look", 1), ("book", 2))),
    ((("book", 1),),),
)
"""Steps, by the calls of each. A booking asks first, has an effect, and may not be repeated."""


def plan_of(question: str) -> Sequence[Calls]:
    """Returns the steps that the model takes for a question, before it answers."""
    return random.Random(question).choice(_PLANS)


class Number(Arguments):
    """So that calls differ."""

    n: int
    """Any number."""


class ScriptedSteps:
    """In the place of a language model: it takes the steps of a question's plan, and then repeats what they
    have returned.
    """

    name = "scripted"
    known = True
    known_window = None
    max_output_tokens = 500

    def __init__(self, world: World, question: str) -> None:
        self._world = world
        self._plan = plan_of(question)

    async def converse(
        self, messages: Sequence[PromptMessage], tools: Sequence[OfferedTool], show: object
    ) -> Said:
        await asyncio.sleep(self._world.chance.choice([0.001, 0.01, 0.1]))
        taken = sum(message.role == "assistant" for message in messages)
        if taken < len(self._plan):
            named = [ToolCall("", name, json.dumps({"n": n})) for name, n in self._plan[taken]]
            return Said("", named, TOKENS_PER_STEP)
        heard = [message.content for message in messages if message.role == "tool"]
        return Said("\n".join(["Concluded:", *heard]), (), TOKENS_PER_STEP)


class Office:
    """Where bookings are made. It knows the calls whose effects it has seen, each as often as it did."""

    def __init__(self) -> None:
        self.booked: list[str] = []


@dataclass(frozen=True)
class AgentState:
    """What a checkpoint holds of an investigation, and what it gains until the next one."""

    step: int = 0
    calls: Sequence[ToolCallRef] = ()
    call_count: int = 0
    done: dict[str, CallOutcome] = field(default_factory=dict)
    is_last: bool = False
    tokens_used: int = 0
    text: str | None = None

    @property
    def open_calls(self) -> list[ToolCallRef]:
        return [call for call in self.calls if call["id"] not in self.done]

    def answer(self) -> TurnAnswer:
        return TurnAnswer(
            route="investigate",
            analysis=self.text,
            steps=self.step,
            tool_calls=self.call_count,
            tokens_used=self.tokens_used,
        )


class AgentSite:
    """What investigations of a process share. Runs in the process."""

    def __init__(self, world: World, office: Office, storage: Storage, repository: SessionRepository) -> None:
        self.records = InvestigationRecords(storage)
        self.rows = RowStore(storage)
        self.actions = ActionsUnderWay()
        self._world = world
        self._repository = repository
        self._registry = ToolRegistry([*_tools(world, office), *CONTROL], ToolPolicy())

    async def bind(self, session: Session, run: Run) -> Investigator:
        settings = InvestigationSettings(
            model=cast("LanguageModel", ScriptedSteps(self._world, run.question)),
            registry=self._registry,
            limits=InvestigationLimits(),
            actions=self.actions,
            approval_minutes=APPROVAL_SECONDS / 60,
        )
        factory = InvestigatorFactory(
            settings,
            self.records,
            self.rows,
            connections=cast("DatabaseConnections", None),
            knowledge=cast("ContextStore", None),
            answers=cast("Answers", None),
            memories=cast("ConversationMemories", None),
            find_session=self._repository.find,
        )
        connection = Connection(
            id=session.connection_id,
            owner=session.owner,
            name="shop",
            description="",
            dialect="sqlite",
            masked_url="sqlite:///shop.db",
            encrypted_url="sealed",
            created_at=1,
        )
        return await factory.bind(
            session, run, connection, schema_context_of=lambda _: cast("SchemaContext", None)
        )


def _tools(world: World, office: Office) -> list[Tool]:
    async def look(given: Number, context: ToolContext) -> ToolResult:
        await asyncio.sleep(world.chance.choice([0.001, 0.01, 0.3]))
        return ToolResult(text=f"saw {given.n}")

    async def book(given: Number, context: ToolContext) -> ToolResult:
        def act() -> None:
            world.on_effect(context.call_id)
            office.booked.append(context.call_id)

        await world.request(world.office, f"book {context.call_id[-4:]}", act, writes=True)
        return ToolResult(text=f"booked {given.n}")

    return [
        tool("look", toolset="shop", category="read", description="Look.", arguments=Number, run=look),
        tool("book", toolset="shop", category="write", description="Book.", arguments=Number, run=book),
    ]


class AgentTurn:
    """The steps of one turn, in the order of the graph: `investigate`, `use_tool`, `approve`, `act` and
    `conclude`. As in the graph, what follows `investigate` is stored with the next step, or as the run is
    drained, or never if the process dies before.
    """

    def __init__(
        self,
        investigator: Investigator,
        turn: Turn,
        state: AgentState,
        *,
        store: Callable[[AgentState], Awaitable[None]],
    ) -> None:
        self._investigator = investigator
        self._question = Question(text=turn.question)
        self._run_id = turn.run_id
        self._store = store
        self.state = state
        self.is_waiting = False

    async def events(self, control: RunControl | None) -> AsyncGenerator[SessionEvent]:
        """Make the steps, until the turn has concluded or waits for people."""
        said: list[SessionEvent] = []
        while self.state.text is None and not self.is_waiting:
            before = self.state
            if control is not None and control.drain_requested:
                await self._store(self.state)
                raise Drained
            asking = [call for call in self.state.open_calls if call["gate"] == "asks"]
            free = [call for call in self.state.open_calls if call["gate"] == "free"]
            if self.state.is_last:
                await self._conclude(said)
            elif free:
                yield self._status("using_tool")
                await self._use(free, said)
            elif not asking:
                yield self._status("investigating")
                await self._investigate(said)
            elif await self._investigator.find_undecided(asking, said.append):
                said.append(self._status("waiting_for_approval"))
                self.is_waiting = True
            else:
                yield self._status("using_tool")
                await self._use(asking[:1], said)
            for event in said:
                yield event
            said.clear()
            if (self.state.step, self.state.text) != (before.step, before.text):
                await self._store(self.state)

    async def _investigate(self, said: list[SessionEvent]) -> None:
        before = self.state
        step = before.step + 1
        chosen = await self._investigator.next_step(self._question, "1. Look", step, emit=said.append)
        self.state = AgentState(
            step=step,
            calls=[*chosen.calls],
            call_count=before.call_count + len(chosen.calls),
            is_last=chosen.is_last,
            tokens_used=before.tokens_used + chosen.tokens_used,
        )

    async def _use(self, calls: Sequence[ToolCallRef], said: list[SessionEvent]) -> None:
        """A failure of one call cancels the others, and those that have ended are kept."""
        using = {asyncio.create_task(self._investigator.use(call, said.append)): call["id"] for call in calls}
        try:
            await asyncio.wait(using, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in using:
                task.cancel()
        await asyncio.wait(using)
        ended = [task for task in using if not task.cancelled() and task.exception() is None]
        done = {using[task]: task.result() for task in ended}
        self.state = replace(self.state, done={**self.state.done, **done})
        for task in using:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _conclude(self, said: list[SessionEvent]) -> None:
        found = await self._investigator.conclude(self._question, self.state.step)
        self.state = replace(self.state, text=found.analysis.text)
        said.append(AnalysisChunk(content=found.analysis.text))

    def _status(self, step: Literal["investigating", "using_tool", "waiting_for_approval"]) -> Status:
        return Status(step=step, message=step, run_id=self._run_id)
