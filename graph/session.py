"""A whole turn: its steps, the edges between them, and the driver that runs it.

load_context ─> write_sql ─┬─ sql ──> run_sql ─┬─> analyse ─┬─> summarize
                    ^      │             │     │            │
                    └──────┼── failed ───┘     │            │
                           ├─ rows ────────────┘            │
                           ├─ clarify, chat ──> reply ──────┤
                           │                      ^         │
                           │        asks the user ┤         │
                           └─ investigate ─> investigate ─> conclude
                                               ^     │
                                               │  calls, one task each
                                               │     v
                                              use_tool
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained, NodeTimeoutError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import RunControl
from langgraph.types import RetryPolicy, Send, StateSnapshot, TimeoutPolicy
from pydantic import JsonValue

from graph.answer import TurnAnswer, answer_of
from graph.checkpoints import Checkpointer, translated_errors
from graph.chunks import answer_chunks
from graph.errors import CheckpointUnreadable, DatabaseUnavailable, Drained, StepTimedOut
from graph.events import Reset, SessionEvent, Status
from graph.nodes.analyse import analyse
from graph.nodes.conclude import conclude
from graph.nodes.investigate import MAX_STEPS, investigate, investigation_of
from graph.nodes.load_context import load_context
from graph.nodes.reply import reply
from graph.nodes.run_sql import run_sql
from graph.nodes.summarize import summarize
from graph.nodes.use_tool import ToolTask, use_tool
from graph.nodes.write_sql import write_sql
from graph.ports import Ports
from graph.state import NO_CONTEXT, SessionState

# A turn takes at most seven steps: two tries at the SQL and three others. An investigation adds two for each
# of its own, and one in which it concludes.
_RECURSION_LIMIT = 12 + 2 * (MAX_STEPS + 1)

# Only an unavailable database is retried here, once. The client of a model retries its own calls, because it
# knows whether a token has been shown. A failed statement goes back to its writer.
_DATABASE_RETRY = RetryPolicy(initial_interval=0.2, max_attempts=2, retry_on=DatabaseUnavailable)

# Ports have shorter timeouts with more precise errors. These end a step whose port ignores its own.
_READ_TIMEOUT = TimeoutPolicy(run_timeout=300)
_MODEL_TIMEOUT = TimeoutPolicy(run_timeout=600)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question of a session. Times are RFC 3339 in UTC.

    Two attempts may work on a thread at once, when the first was considered dead. The state is that of the
    greatest `fence`.
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
    """Receives the answer of a turn when it completes, so that it need not be read. None until then."""

    answer: TurnAnswer | None = None


class SessionGraph:
    """Runs turns on the threads of sessions. The thread id is the session id.

    Every method raises `CheckpointsUnavailable` when the store of the checkpoints is unavailable, and
    `CheckpointUnreadable` when a checkpoint that it reads is damaged or encrypted with another key.
    """

    def __init__(self, checkpointer: Checkpointer) -> None:
        self._checkpointer = checkpointer
        self._graph = _shape().compile(checkpointer=checkpointer)

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
        yield Status(
            step="loading_context", message="Reading the conversation and the schema", run_id=turn.run_id
        )
        run = self._run(turn, ports, _opening(turn), control=control, completed=completed)
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
        if snapshot.values.get("run_id") != turn.run_id:
            events = self.ask(turn, ports, control, completed=completed)
        else:
            # A result that is being repaired is not emitted: the final one follows.
            answer = _answer(snapshot)
            if answer.steps and ports.investigator is not None:
                async for event in ports.investigator.replay(answer.steps):
                    yield event
            chunks = [] if snapshot.values.get("repair") else answer_chunks(answer, answer.results)
            for chunk in chunks:
                yield chunk
            events = self._run(turn, ports, None, control=control, completed=completed)
        async with aclosing(events) as rest:
            async for event in rest:
                yield event

    async def answer(self, turn: Turn) -> TurnAnswer:
        """Returns the answer of the turn's completed steps; an empty answer if none has completed."""
        snapshot = await self._state(turn.session_id)
        return _answer(snapshot) if snapshot.values.get("run_id") == turn.run_id else TurnAnswer()

    async def has_begun(self, session_id: str, run_id: str) -> bool:
        """True if the latest checkpoint of the session is of this run. A run writes one when it starts.

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
        with translated_errors():
            return [_checkpoint(snapshot) async for snapshot in history]

    async def state_at(self, session_id: str, checkpoint_id: str) -> SessionState | None:
        """Returns the state of a checkpoint. Returns None if the checkpoint does not exist."""
        found = await self._state(session_id, checkpoint_id)
        return _state_of(found) if found.values else None

    async def begin(self, session_id: str, state: SessionState) -> None:
        """Start the thread of a new session with the state of another session's checkpoint."""
        begun = SessionState(**{**state, "session_id": session_id, "status": "idle"})
        with translated_errors():
            await self._graph.aupdate_state(_config(session_id), begun, as_node="summarize")

    async def forget(self, session_id: str) -> None:
        """Delete all checkpoints of a session."""
        with translated_errors():
            await self._checkpointer.adelete_thread(session_id)

    async def prune_turns(self, session_id: str, *, keep_turns: int, ended_run_id: str | None = None) -> None:
        """Delete the checkpoints of all turns but the latest. The session cannot be forked from these.

        Turns after that of `ended_run_id` are kept, too, and do not count. Any number of processes may call
        it at any time.
        """
        with translated_errors():
            await self._checkpointer.aprune_turns(
                session_id, keep_turns=keep_turns, ended_run_id=ended_run_id
            )

    async def prune(self, session_id: str) -> None:
        """Delete all checkpoints of a session but the latest. It can continue, but not be forked earlier."""
        with translated_errors():
            await self._checkpointer.aprune([session_id])

    async def _state(self, session_id: str, checkpoint_id: str | None = None) -> StateSnapshot:
        with translated_errors():
            return await self._graph.aget_state(_config(session_id, checkpoint_id))

    async def _run(
        self,
        turn: Turn,
        ports: Ports,
        opening: SessionState | None,
        *,
        control: RunControl | None,
        completed: CompletedTurn | None,
    ) -> AsyncGenerator[SessionEvent]:
        # Sync durability: a step whose events were emitted never runs twice after a crash, and `done`
        # follows the last checkpoint. It costs one write per step (see docs/decisions).
        events = self._graph.astream(
            opening,
            _config_of(turn),
            context=ports,
            control=control,
            stream_mode=["custom", "values"],
            durability="sync",
        )
        state: object = None
        try:
            with translated_errors():
                async for mode, chunk in events:
                    if mode == "values":
                        state = chunk
                    else:
                        yield cast("SessionEvent", chunk)
        except GraphDrained as error:
            raise Drained from error
        except NodeTimeoutError as error:
            raise StepTimedOut("A step of the answer took too long and was stopped. Ask again.") from error
        if completed is not None:
            completed.answer = answer_of(cast("SessionState", state))


def _shape() -> StateGraph[SessionState, Ports, SessionState, SessionState]:
    shape = StateGraph(SessionState, context_schema=Ports)
    shape.add_node(load_context, retry_policy=_DATABASE_RETRY, timeout=_READ_TIMEOUT)
    shape.add_node(write_sql, timeout=_MODEL_TIMEOUT)
    shape.add_node(run_sql, retry_policy=_DATABASE_RETRY, timeout=_READ_TIMEOUT)
    shape.add_node(analyse, timeout=_MODEL_TIMEOUT)
    shape.add_node(reply, timeout=_READ_TIMEOUT)
    shape.add_node(summarize, timeout=_MODEL_TIMEOUT)
    shape.add_node(investigate, timeout=_MODEL_TIMEOUT)
    shape.add_node(use_tool, timeout=_READ_TIMEOUT)
    shape.add_node(conclude, timeout=_READ_TIMEOUT)
    shape.add_edge(START, "load_context")
    shape.add_edge("load_context", "write_sql")
    shape.add_conditional_edges("write_sql", _after_writing)
    shape.add_conditional_edges("run_sql", _after_running)
    shape.add_edge("analyse", "summarize")
    shape.add_edge("reply", "summarize")
    shape.add_conditional_edges(
        "investigate", _after_thinking, ["use_tool", "investigate", "conclude", "reply"]
    )
    # A condition here would be evaluated for each of the parallel calls: the next step would begin several
    # times. The plain edge waits for all of them.
    shape.add_edge("use_tool", "investigate")
    shape.add_edge("conclude", "summarize")
    shape.add_edge("summarize", END)
    return shape


def _after_writing(state: SessionState) -> Literal["run_sql", "analyse", "reply", "investigate"]:
    match state["route"]:
        case "sql":
            return "run_sql"
        case "rows":
            return "analyse"
        case "clarify" | "chat":
            return "reply"
        case "investigate":
            return "investigate"


def _after_thinking(state: SessionState) -> list[Send] | Literal["investigate", "conclude", "reply"]:
    """One task for each call, so that a call that has ended is not repeated with one that has not."""
    if state["route"] == "clarify":
        return "reply"
    investigation = investigation_of(state)
    if investigation["is_concluded"]:
        return "conclude"
    tasks = [ToolTask(call=call, run_id=state["run_id"]) for call in investigation["calls"]]
    return [Send("use_tool", task) for task in tasks] or "investigate"


def _after_running(state: SessionState) -> Literal["write_sql", "analyse"]:
    return "write_sql" if state["repair"] else "analyse"


def _config(session_id: str, checkpoint_id: str | None = None) -> RunnableConfig:
    configurable: dict[str, str | int] = {"thread_id": session_id}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable, "recursion_limit": _RECURSION_LIMIT}


def _config_of(turn: Turn) -> RunnableConfig:
    config = _config(turn.session_id)
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
        "route": "sql",
        "reply": "",
        "draft_sql": None,
        "author": "model",
        "understanding": {},
        "repair": None,
        "tokens_used": 0,
        "investigation": None,
    }


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
