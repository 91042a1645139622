"""A whole turn: its steps, the edges between them, and the driver that runs it.

load_context ─> write_sql ─┬─ sql ──> run_sql ─┬─> analyse ─┬─> finish
                           │          (a statement that would read much goes to approve, and back)
                    ^      │             │     │            ├─> summarize, if it is due
                    └──────┼── failed ───┘     │            │
                           ├─ rows ────────────┘            │
                           ├─ clarify, chat ──> reply ──────┤
                           │                      ^         │
                           │        asks the user ┤         │
                           └─ investigate ─> investigate ─> conclude
                                               ^  ^  │ │
                                               │  │  │ │ free calls, one task each
                                               │  │  v v
                                               │  │  use_tool (nothing asks), act (something asks)
                                               │  └───┘           │    ^
                                               │                  v    │ approved calls, one after another
                                               └─────────────── approve
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained, NodeTimeoutError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, RetryPolicy, Send, StateSnapshot, TimeoutPolicy
from pydantic import JsonValue

from graph.answer import TurnAnswer, answer_of
from graph.checkpoints import Checkpointer, ReadCheckpoint, translated_errors
from graph.chunks import answer_chunks, facts_used
from graph.deferral import SENT_STEP, DeferringCheckpointer
from graph.errors import (
    CheckpointsUnavailable,
    CheckpointUnreadable,
    DatabaseUnavailable,
    Drained,
    StepTimedOut,
)
from graph.events import Reset, SessionEvent, Status
from graph.nodes.analyse import analyse
from graph.nodes.approve import approve, open_calls
from graph.nodes.conclude import conclude
from graph.nodes.investigate import MAX_CALLS, MAX_STEPS, NO_OUTCOMES, investigate, investigation_of
from graph.nodes.load_context import load_context
from graph.nodes.reply import reply
from graph.nodes.run_sql import run_sql
from graph.nodes.summarize import finish, is_summary_due, summarize
from graph.nodes.use_tool import ToolTask, use_tool
from graph.nodes.write_sql import write_sql
from graph.ports import Ports
from graph.state import NO_CONTEXT, RememberedFact, SessionState, ToolCallRef

# A turn takes at most seven steps: two tries at the SQL and three others. An investigation adds three for
# each of its own (thinking, free calls, approving), two for each call that a person approves, and one in
# which it concludes.
_RECURSION_LIMIT = 12 + 3 * (MAX_STEPS + 1) + 2 * MAX_CALLS

# Only an unavailable database is retried here, once. The client of a model retries its own calls, because it
# knows whether a token has been shown. A failed statement goes back to its writer.
_DATABASE_RETRY = RetryPolicy(initial_interval=0.2, max_attempts=2, retry_on=DatabaseUnavailable)

_START_GONE = (
    "The answer that this question follows has no checkpoint any more: only those of the latest turns are "
    "kept. Ask again after the latest answer."
)

# LangGraph's key of what interrupts, in the last values that it emits.
_INTERRUPT = "__interrupt__"

# Ports have shorter timeouts with more precise errors. These end a step whose port ignores its own.
_READ_TIMEOUT = TimeoutPolicy(run_timeout=300)
_MODEL_TIMEOUT = TimeoutPolicy(run_timeout=600)


BEGINNING = str(UUID(int=0))
"""Id in place of a checkpoint, for the thread before its first turn."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question of a session. Times are RFC 3339 in UTC.

    Two attempts may work on a thread at once, when the first was considered dead. The state is that of the
    greatest `fence`.

    `resumes` names the run that ended because calls waited for approval, if this one goes on with its turn.
    `from_checkpoint` is the checkpoint that the turn begins with; None for the latest.
    """

    session_id: str
    db_connection_id: str
    run_id: str
    message_id: str
    question: str
    metadata: dict[str, JsonValue]
    session_created_at: str
    asked_at: str
    fence: int
    resumes: str | None = None
    from_checkpoint: str | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint of a session, from which it can be forked. `created_at` is RFC 3339 in UTC."""

    id: str
    created_at: str
    step: int
    next_steps: Sequence[str]
    query: str | None
    message_id: str | None


@dataclass
class CompletedTurn:
    """Receives the answer of a turn when its run ends, so that it need not be read. None until then.

    `is_waiting`: calls of the turn wait for approval, and another run goes on with it.
    """

    answer: TurnAnswer | None = None
    is_waiting: bool = False


class SessionGraph:
    """Runs turns on the threads of sessions. The thread id is the session id.

    Every method raises `CheckpointsUnavailable` when the store of the checkpoints is unavailable, and
    `CheckpointUnreadable` when a checkpoint that it reads is damaged or encrypted with another key.
    """

    def __init__(self, checkpointer: Checkpointer) -> None:
        self._checkpointer = checkpointer
        self._translated_errors = partial(translated_errors, checkpointer)
        self._deferring = DeferringCheckpointer(checkpointer, _is_costly, frozenset({"finish"}))
        self._graph = _compiled().copy({"checkpointer": self._deferring})

    async def ask(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        """Run a turn from its start.

        Raises what the ports raise, and `Drained` after a step when `control` requests a drain.
        """
        start = turn.from_checkpoint
        if start is not None:
            if start != BEGINNING and await self.state_at(turn.session_id, start) is None:
                raise CheckpointUnreadable(_START_GONE)
            # So that the thread goes on from there, even if nothing else of the turn is stored.
            self._deferring.write_next(_config_of(turn))
        yield Status(
            step="loading_context", message="Reading the conversation and the schema", run_id=turn.run_id
        )
        opening = _opening(turn)
        run = self._run(turn, ports, opening, start=start, control=control, completed=completed)
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def resume(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        """Continue an interrupted turn after its last completed step.

        Emits `reset`, then the chunks of the completed steps again. A turn without a completed step starts
        from the beginning. Raises what `ask` raises.
        """
        yield Reset(reason="The answer was interrupted. It continues after its last completed step.")
        snapshot = await self._state(turn.session_id)
        if not _is_of(snapshot, turn):
            events = self.ask(turn, ports, control, completed=completed)
        else:
            # A result that is being repaired is not emitted: the final one follows.
            answer = _answer(snapshot)
            if facts := await _remembered(answer, ports):
                yield facts_used(facts)
            if answer.steps and ports.investigator is not None:
                async for event in ports.investigator.replay(answer.steps):
                    yield event
            chunks = [] if snapshot.values.get("repair") else answer_chunks(answer, answer.results)
            for chunk in chunks:
                yield chunk
            events = self._run(turn, ports, _next_input(snapshot, turn), control=control, completed=completed)
        async with aclosing(events) as rest:
            async for event in rest:
                yield event

    async def go_on(
        self,
        turn: Turn,
        ports: Ports,
        control: RunControl | None = None,
        *,
        completed: CompletedTurn | None = None,
    ) -> AsyncGenerator[SessionEvent]:
        """Continue a turn whose calls have waited for approval and are decided now, in another run.

        Nothing is emitted again: who followed the run before has it. Raises what `ask` raises.
        """
        snapshot = await self._state(turn.session_id)
        if snapshot.values.get("run_id") == turn.resumes:
            following = _next_input(snapshot, turn)
            events = self._run(turn, ports, following, control=control, completed=completed)
        else:
            events = self.resume(turn, ports, control, completed=completed)
        async with aclosing(events) as rest:
            async for event in rest:
                yield event

    async def answer(self, turn: Turn) -> TurnAnswer:
        """Returns the answer of the turn's completed steps; an empty answer if none has completed."""
        snapshot = await self._state(turn.session_id)
        return _answer(snapshot) if _is_of(snapshot, turn) else TurnAnswer()

    async def has_begun(self, session_id: str, run_id: str) -> bool:
        """True if the latest checkpoint of the session is of this run, of which a step is stored.

        True also if the checkpoint is unreadable, because it may be of this run.
        """
        try:
            snapshot = await self._state(session_id)
        except CheckpointUnreadable:
            return True
        return snapshot.values.get("run_id") == run_id

    async def checkpoints(
        self, session_id: str, *, limit: int, before: str | None = None
    ) -> list[Checkpoint]:
        """Returns the session's checkpoints, newest first; with `before`, only those older than this id."""
        history = self._graph.aget_state_history(
            _config(session_id), before=_config(session_id, before) if before else None, limit=limit
        )
        with self._translated_errors():
            return [_checkpoint(snapshot) async for snapshot in history]

    async def state_at(self, session_id: str, checkpoint_id: str) -> SessionState | None:
        """Returns the state of a checkpoint. Returns None if the checkpoint does not exist."""
        found = await self._state(session_id, checkpoint_id)
        return _state_of(found) if found.values else None

    async def begin(self, session_id: str, state: SessionState) -> None:
        """Start the thread of a new session with the state of another session's checkpoint."""
        begun = SessionState(**{**state, "session_id": session_id, "status": "idle"})
        with self._translated_errors():
            await self._graph.aupdate_state(_config(session_id), begun, as_node="finish")

    async def forget(self, session_id: str) -> None:
        """Delete all checkpoints of a session, also those that are not written yet."""
        self._deferring.forget(session_id)
        with self._translated_errors():
            await self._checkpointer.adelete_thread(session_id)

    async def prune_turns(self, session_id: str, *, keep_turns: int, ended_run_id: str | None = None) -> None:
        """Delete the checkpoints of all turns but the latest. The session cannot be forked from these.

        Turns after that of `ended_run_id` are kept, too, and do not count. Any number of processes may call
        it at any time.
        """
        with self._translated_errors():
            await self._checkpointer.aprune_turns(
                session_id, keep_turns=keep_turns, ended_run_id=ended_run_id
            )

    async def prune(self, session_id: str) -> None:
        """Delete all checkpoints of a session but the latest. It can continue, but not be forked earlier."""
        with self._translated_errors():
            await self._checkpointer.aprune([session_id])

    async def find_latest(self, session_id: str) -> ReadCheckpoint | None:
        """Find the checkpoint that the session's next turn begins with, for `read_ahead`.

        Returns None if that would save no request, and if it fails: then the turn reads it and says why.
        """
        with suppress(CheckpointsUnavailable, CheckpointUnreadable), self._translated_errors():
            return await self._checkpointer.afind_latest(_config(session_id))
        return None

    async def read_ahead(self, turn: Turn, latest: ReadCheckpoint | None) -> None:
        """Read the checkpoint that the first attempt at a turn begins with, beside other reads."""
        if latest is not None and turn.from_checkpoint is None:
            with (
                suppress(CheckpointsUnavailable, CheckpointUnreadable),
                self._translated_errors(),
            ):
                found = await latest()
                self._deferring.begin_with(_config_of(turn), found)

    def leave(self, turn: Turn) -> None:
        """An attempt is over. What it has not stored is of no use any more."""
        self._deferring.leave(turn.session_id, turn.fence)

    async def _state(self, session_id: str, checkpoint_id: str | None = None) -> StateSnapshot:
        with self._translated_errors():
            return await self._graph.aget_state(_config(session_id, checkpoint_id))

    async def _run(
        self,
        turn: Turn,
        ports: Ports,
        opening: SessionState | Command[str] | None,
        *,
        start: str | None = None,
        control: RunControl | None,
        completed: CompletedTurn | None,
    ) -> AsyncGenerator[SessionEvent]:
        # Sync durability: the next step waits for a checkpoint that is worth a write, and `done` follows the
        # last one (see docs/decisions and `_is_costly`).
        events = self._graph.astream(
            opening,
            _config_of(turn, start),
            context=ports,
            control=control,
            stream_mode=["custom", "values"],
            durability="sync",
        )
        state: object = None
        is_waiting = False
        try:
            with self._translated_errors():
                async for mode, chunk in events:
                    if mode == "values":
                        state = chunk
                        is_waiting = _INTERRUPT in cast("dict[str, object]", chunk)
                    else:
                        yield cast("SessionEvent", chunk)
        except GraphDrained as error:
            with self._translated_errors():
                await self._deferring.flush(turn.session_id)
            raise Drained from error
        except NodeTimeoutError as error:
            raise StepTimedOut("A step of the answer took too long and was stopped. Ask again.") from error
        if completed is not None:
            completed.answer = answer_of(cast("SessionState", state))
            completed.is_waiting = is_waiting


async def _remembered(answer: TurnAnswer, ports: Ports) -> Sequence[RememberedFact]:
    if not answer.remembered or ports.facts is None:
        return ()
    return await ports.facts.read_facts(answer.remembered)


def drawn_graph() -> dict[str, list[dict[str, JsonValue]]]:
    """Returns the nodes and edges of the graph, as LangGraph draws them."""
    return _shape().compile().get_graph().to_json()


def _shape() -> StateGraph[SessionState, Ports, SessionState, SessionState]:
    # The conditions are coroutine functions: LangGraph would call others in a thread each.
    shape = StateGraph(SessionState, context_schema=Ports)
    shape.add_node(load_context, retry_policy=_DATABASE_RETRY, timeout=_READ_TIMEOUT)
    shape.add_node(write_sql, timeout=_MODEL_TIMEOUT)
    shape.add_node(run_sql, retry_policy=_DATABASE_RETRY, timeout=_READ_TIMEOUT)
    shape.add_node(analyse, timeout=_MODEL_TIMEOUT)
    shape.add_node(reply, timeout=_READ_TIMEOUT)
    shape.add_node(summarize, timeout=_MODEL_TIMEOUT)
    shape.add_node(investigate, timeout=_MODEL_TIMEOUT)
    shape.add_node(use_tool, timeout=_READ_TIMEOUT)
    shape.add_node("act", use_tool, timeout=_READ_TIMEOUT)
    shape.add_node(approve, timeout=_READ_TIMEOUT)
    shape.add_node(conclude, timeout=_READ_TIMEOUT)
    shape.add_node(finish, timeout=_READ_TIMEOUT)
    shape.add_edge(START, "load_context")
    shape.add_edge("load_context", "write_sql")
    shape.add_conditional_edges("write_sql", _choose_after_writing)
    shape.add_conditional_edges("run_sql", _choose_after_running)
    for answering in ("analyse", "reply", "conclude"):
        shape.add_conditional_edges(answering, _choose_after_answering)
    shape.add_conditional_edges(
        "investigate",
        _choose_after_thinking,
        ["use_tool", "act", "approve", "investigate", "conclude", "reply"],
    )
    # A condition here would be evaluated for each of the parallel calls: the next step would begin several
    # times. The plain edge waits for all of them. Most steps ask nothing: by a node of their own they save a
    # superstep, which is a third of what a step writes.
    shape.add_edge("use_tool", "investigate")
    shape.add_edge("act", "approve")
    shape.add_conditional_edges("approve", _choose_after_approving, ["act", "investigate", "run_sql"])
    shape.add_edge("summarize", END)
    shape.add_edge("finish", END)
    return shape


@cache
def _compiled() -> CompiledStateGraph[SessionState, Ports, SessionState, SessionState]:
    return _shape().compile()


def _is_costly(step: str, following: frozenset[str]) -> bool:
    """True if to lose the step would cost a call of a model or a statement.

    The rows of a statement are stored before its step ends, so only one that failed would run again. What
    an investigation calls is stored by the call itself.
    """
    match step:
        case "__start__" | "load_context" | "approve" | "conclude" | "reply" | "finish":
            return False
        case _ if step == SENT_STEP:  # use_tool and act
            return False
        case "run_sql":
            return "write_sql" in following
        case _:
            return True


async def _choose_after_writing(state: SessionState) -> Literal["run_sql", "analyse", "reply", "investigate"]:
    match state["route"]:
        case "sql":
            return "run_sql"
        case "rows":
            return "analyse"
        case "clarify" | "chat":
            return "reply"
        case "investigate":
            return "investigate"


async def _choose_after_thinking(
    state: SessionState,
) -> list[Send] | Literal["approve", "investigate", "conclude", "reply"]:
    """One task for each free call, so that a call that has ended is not repeated with one that has not."""
    if state["route"] == "clarify":
        return "reply"
    investigation = investigation_of(state)
    if investigation["is_concluded"]:
        return "conclude"
    calls = investigation["calls"]
    if not calls:
        return "investigate"
    node = "act" if any(call["gate"] == "asks" for call in calls) else "use_tool"
    return [_task(node, call, state) for call in calls if call["gate"] == "free"] or "approve"


async def _choose_after_approving(state: SessionState) -> list[Send] | Literal["investigate", "run_sql"]:
    """The calls that had to ask, one after another in the model's order; of a statement, the statement."""
    if state["route"] == "sql":
        return "run_sql"
    return [_task("act", call, state) for call in open_calls(state)[:1]] or "investigate"


def _task(node: str, call: ToolCallRef, state: SessionState) -> Send:
    return Send(node, ToolTask(call=call, run_id=state["run_id"]))


async def _choose_after_answering(state: SessionState) -> Literal["summarize", "finish"]:
    return "summarize" if is_summary_due(state) else "finish"


async def _choose_after_running(state: SessionState) -> Literal["approve", "write_sql", "analyse"]:
    if open_calls(state):
        return "approve"
    return "write_sql" if state["repair"] else "analyse"


def _config(session_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    configurable: dict[str, str | int] = {"thread_id": session_id}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable, "recursion_limit": _RECURSION_LIMIT}


def _config_of(turn: Turn, start: str | None = None) -> RunnableConfig:
    config = _config(turn.session_id, start)
    config["configurable"]["fence"] = turn.fence
    return {**config, "metadata": {"run_id": turn.run_id}}


def _opening(turn: Turn) -> SessionState:
    return {
        "session_id": turn.session_id,
        "db_connection_id": turn.db_connection_id,
        "current_query": turn.question,
        "status": "processing",
        "metadata": turn.metadata,
        "created_at": turn.session_created_at,
        "updated_at": turn.asked_at,
        "turns": 1,
        "run_id": turn.run_id,
        "message_id": turn.message_id,
        "context": NO_CONTEXT,
        "remembered": [],
        "route": "sql",
        "reply": "",
        "interpretation": {},
        "draft": None,
        "repair": None,
        "tokens_used": 0,
        "done": NO_OUTCOMES,
        "investigation": None,
    }


def _is_of(snapshot: StateSnapshot, turn: Turn) -> bool:
    """True if the state is of this turn: of its run, or of the run that it goes on with."""
    run_id = snapshot.values.get("run_id")
    return run_id == turn.run_id or (turn.resumes is not None and run_id == turn.resumes)


def _next_input(snapshot: StateSnapshot, turn: Turn) -> Command[str] | None:
    """Returns what the graph continues with. The first checkpoint of a run that goes on names it."""
    if snapshot.values.get("run_id") == turn.run_id:
        return None
    return Command(update={"run_id": turn.run_id})


def _state_of(snapshot: StateSnapshot) -> SessionState:
    """LangGraph declares the values as `Any`; they have the schema of the graph."""
    return cast("SessionState", snapshot.values)


def _answer(snapshot: StateSnapshot) -> TurnAnswer:
    return answer_of(_state_of(snapshot))


def _checkpoint(snapshot: StateSnapshot) -> Checkpoint:
    state = _state_of(snapshot)
    configurable = snapshot.config.get("configurable", {})
    return Checkpoint(
        id=str(configurable["checkpoint_id"]),
        created_at=snapshot.created_at or "",
        step=int((snapshot.metadata or {}).get("step", 0)),
        next_steps=snapshot.next,
        query=state.get("current_query"),
        message_id=state.get("message_id"),
    )
