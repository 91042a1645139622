"""The calls of one turn: a person decides on those that act, and each is made at most once."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Problem
from app.core.storage.port import StorageUnavailable
from app.modules.agent.approval import call_hash
from app.modules.agent.call_progress import CallProgress
from app.modules.agent.quoting import quotations
from app.modules.agent.sheets import append_facts
from app.modules.agent.step_events import result_chunks
from app.modules.agent.turn import InvestigatedTurn, said_before
from app.modules.database_connection.model import Connection
from app.modules.records.call_events import confirmation_events, decision_events, returned_event
from app.modules.records.model import Mode
from app.modules.records.steps import CallRecord, CallStatus, cut_text
from app.modules.tools.context import NoSuchDatabase, ToolContext, ToolDatabase
from app.modules.tools.parsing import CallRefused, ParsedCall
from app.modules.tools.results import NamedResult, ResultUnknown, result_name
from app.modules.tools.tool import ToolFailed, ToolResult
from graph.errors import DatabaseUnavailable, StatementFailed
from graph.events import SessionEvent
from graph.ports import Emit
from graph.state import CallOutcome, ToolCallRef

logger = logging.getLogger(__name__)

_MOST_DESCRIPTION = 2_000
_LOSE_SECONDS = 2.0


class TurnCalls:
    def __init__(self, turn: InvestigatedTurn) -> None:
        self._turn = turn
        self._returned: dict[str, ToolResult] = {}
        """What calls returned that is yet to be stored, because the store was unavailable."""
        self._tried: set[str] = set()
        """Calls that this attempt was asked to make."""
        self._started: set[str] = set()
        """Calls whose effect this attempt has started."""
        self._said: set[tuple[str, str]] = set()
        """Ids of calls, with the names of the events that this attempt has emitted of them."""
        self._room = asyncio.Semaphore(turn.settings.limits.parallel_calls)

    def know_said(self, calls: Sequence[CallRecord]) -> None:
        """Take the events of stored calls as emitted."""
        self._said |= {(call.id, "tool_result") for call in calls if call.has_ended}
        self._said |= {(call.id, "confirmation_decided") for call in calls if call.decision is not None}

    async def find_undecided(self, calls: Sequence[ToolCallRef], emit: Emit) -> Sequence[str]:
        undecided: list[str] = []
        for each in calls:
            call = await self._turn.records.call(each["id"])
            if call is not None and call.status == "proposed":
                call = await self._ask_for(call, emit)
            if call is not None and call.status == "waiting":
                undecided.append(call.id)
            elif call is not None:
                self._say(call, decision_events(call), emit)
        return undecided

    async def _ask_for(self, call: CallRecord, emit: Emit) -> CallRecord | None:
        """Let a call wait for a person. Returns the call as it is then."""
        try:
            parsed = self._turn.parsed(call, self._turn.mode)
            connection = self._connection_of(parsed)
        except (CallRefused, NoSuchDatabase) as error:
            return await self._refuse(call, str(error))
        now = now_ms()
        asked = await self._turn.records.change_call(
            call,
            {
                "status": "waiting",
                "call_hash": self._hash_of(parsed, connection.connection),
                "description": parsed.tool.described(parsed.arguments)[:_MOST_DESCRIPTION],
                "destination": parsed.tool.server or f"database {connection.label}",
                "warnings": cast(
                    "JsonValue",
                    [
                        *([call.description] if call.description else []),
                        *parsed.tool.warnings(parsed.arguments, is_tainted=await self._is_tainted(call.step)),
                        *await self._warnings(call),
                    ],
                ),
                "asked_at": now,
                "expires_at": now + round(self._turn.settings.approval_minutes * 60_000),
            },
            was=("proposed",),
        )
        if asked is None:
            return await self._turn.records.call(call.id)
        for event in confirmation_events(asked):
            emit(event)
        return asked

    async def _refuse(self, call: CallRecord, why: str) -> CallRecord | None:
        """End a call that may not be made. Returns the call as it is then."""
        refused: dict[str, JsonValue] = {"status": "failed", "text": cut_text(why), "is_error": True}
        ended = await self._turn.records.end_call(call, {**refused, "begun_at": now_ms()}, was=(call.status,))
        return ended or await self._turn.records.call(call.id)

    async def _warnings(self, call: CallRecord) -> list[str]:
        """Returns what this turn has read that the arguments hold. Raises `StorageUnavailable`."""
        results: list[tuple[str, NamedResult]] = []
        texts: list[tuple[str, str]] = []
        for step in await self._turn.records.up_to(call.step):
            for each in self._turn.records.calls_of(step):
                name = result_name(each.step, each.position)
                if each.is_of_others and each.has_ended:
                    texts.append((f"{each.tool}, {name}", each.text))
                if each.result is not None:
                    with suppress(ResultUnknown):
                        results.append((name, await self._turn.results.read(name)))
        return await asyncio.to_thread(quotations, call.arguments, results, texts)

    async def _is_tainted(self, step: int) -> bool:
        """True if the turn has read from a tool of others, up to this step."""
        steps = await self._turn.records.up_to(step)
        return any(call.is_of_others for each in steps for call in self._turn.records.calls_of(each))

    def _connection_of(self, parsed: ParsedCall) -> ToolDatabase:
        """Returns the database that a call is about. Raises `NoSuchDatabase`."""
        named = parsed.values.get("database") if parsed.tool.source == "builtin" else None
        return self._turn.databases.named(named if isinstance(named, str) else None)

    def _hash_of(self, parsed: ParsedCall, connection: Connection) -> str:
        return call_hash(
            parsed.tool,
            parsed.values,
            connection,
            session_id=self._turn.run.session_id,
            message_id=self._turn.run.message_id,
        )

    async def use(self, call: ToolCallRef, emit: Emit) -> CallOutcome:
        # A free call begins only if its stored status is still the known one. A decision has to be read, and
        # so has a call that this attempt has tried before.
        is_new = call["gate"] == "free" and call["id"] not in self._tried
        self._tried.add(call["id"])
        known = self._turn.records.known(call["id"]) if is_new else None
        record = known or await self._turn.records.call(call["id"])
        if record is not None and not record.has_ended:
            async with self._room:
                record = await self._act(record, emit)
        if record is None or not record.has_ended:
            return "failed"  # deleted with its session, or another attempt makes it
        if (record.id, "tool_result") not in self._said:
            for event in result_chunks(record, await self._turn.read_head(record)):
                emit(event)
        self._say(record, [returned_event(record)], emit)
        return cast("CallOutcome", record.status)

    async def _act(self, call: CallRecord, emit: Emit) -> CallRecord | None:
        """Make a call, at most once if it is not repeatable. Returns the call as it is then."""
        if call.id in self._returned:
            return await self._end_call(call)
        mode = await self._mode_for(call)
        is_mine = call.begun_by == self._turn.attempt and call.id not in self._started
        if call.status == "begun" and not is_mine and not self._is_repeatable(call):
            return await self._turn.records.lose(call) or await self._turn.records.call(call.id)
        if (refusal := self._refusal(call, mode)) is not None:
            return await self._refuse(call, refusal)
        # Only the status that was read may change: of two attempts, one makes the call.
        begin: dict[str, JsonValue] = {
            "status": "begun",
            "begun_at": now_ms(),
            "begun_by": self._turn.attempt,
        }
        ready: CallStatus = "proposed" if call.gate == "free" else "approved"
        was: CallStatus = "begun" if call.status == "begun" else ready
        begun = await self._turn.records.change_call(call, begin, was=(was,))
        if begun is None:
            return await self._turn.records.call(call.id)
        with nullcontext() if call.gate == "free" else self._turn.settings.actions.one_more():
            try:
                returned = await self._run_tool(begun, emit)
            except asyncio.CancelledError:
                await self._lose_cancelled(begun)
                raise
            if returned is None:
                return await self._turn.records.lose(begun) or await self._turn.records.call(call.id)
            self._returned[call.id] = returned
            return await self._end_call(begun)

    async def _end_call(self, call: CallRecord) -> CallRecord | None:
        """Store what a call has returned. If the store is unavailable, it is stored when it is back."""
        returned = self._returned[call.id]
        ended = await self._turn.records.end_call(
            call,
            {
                "status": "failed" if returned.is_error else "done",
                "text": returned.text,
                "is_error": returned.is_error,
                "result": cast("JsonValue", returned.result),
                "chart": returned.chart,
            },
            was=("begun",),
        )
        del self._returned[call.id]
        return ended or await self._turn.records.call(call.id)

    async def _lose_cancelled(self, call: CallRecord) -> None:
        """Store that it is not known how an action ended, which was cancelled under way."""
        if self._is_repeatable(call):
            return
        with suppress(StorageUnavailable, TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(self._turn.records.lose(call)), _LOSE_SECONDS)

    def _is_repeatable(self, call: CallRecord) -> bool:
        """True if a call may run again after its process died: it reads, or a second run changes nothing."""
        if call.gate == "free" and call.category == "read":
            return True
        tool = self._turn.settings.registry.find(call.tool)
        return tool is not None and tool.repeatable

    async def _mode_for(self, call: CallRecord) -> Mode:
        """Returns the mode in which a call is made: for one that acts, that of now."""
        acts = call.gate == "asks" or call.category != "read"
        return await self._turn.read_mode() if acts and self._turn.read_mode is not None else self._turn.mode

    def _refusal(self, call: CallRecord, mode: Mode) -> str | None:
        """The second lock: returns why a call may not be made now, or None.

        Everything is computed again from what was shown; arguments that a person has changed are read when
        the call runs.
        """
        if mode == "ask" and self._turn.mode == "agent":
            return "This call was not made: the session has been changed to ask mode."
        try:
            parsed = self._turn.parsed(call, mode)
            if call.gate == "free":
                must_ask = self._turn.settings.registry.gate(parsed.tool) != "free"
                return "This call was not made: it needs an approval now." if must_ask else None
            hash_now = self._hash_of(parsed, self._connection_of(parsed).connection)
        except (CallRefused, NoSuchDatabase) as error:
            return str(error)
        is_same = hash_now == call.call_hash
        return None if is_same else "This call was not made. Refused: changed since it was approved."

    def _say(self, call: CallRecord, events: Sequence[SessionEvent], emit: Emit) -> None:
        """Emit events of a call, unless this attempt has emitted them."""
        for event in events:
            if (call.id, event.event) not in self._said:
                self._said.add((call.id, event.event))
                emit(event)

    async def _run_tool(self, call: CallRecord, emit: Emit) -> ToolResult | None:
        """Make the call. What goes wrong becomes the result, which the model reads.

        Returns None if an action failed in a way that does not tell whether it has had its effect.
        """
        earlier = self._turn.earlier(call, await self._turn.records.up_to(call.step - 1))
        if call.gate == "free" and earlier is not None:
            return ToolResult(text=said_before(earlier), is_error=earlier.is_error, chart=earlier.chart)
        seconds = self._turn.settings.limits.tool_seconds
        patience = asyncio.timeout(seconds)
        try:
            parsed = self._turn.parsed(replace(call, arguments=call.used_arguments), self._turn.mode)
            seconds = parsed.tool.timeout_seconds or seconds
            patience = asyncio.timeout(seconds)
            self._started.add(call.id)
            progress = CallProgress(call.id, emit)
            context = ToolContext(
                call_id=call.id,
                owner=self._turn.run.owner,
                result_name=result_name(call.step, call.position),
                databases=self._turn.databases,
                results=self._turn.results,
                knowledge=self._turn.knowledge,
                history=self._turn.history,
                tools=[tool.offer for tool in self._turn.offered().values()],
                progress=progress,
                facts=self._turn.settings.facts,
                is_approved=call.gate == "asks",
                is_tainted=await self._is_tainted(call.step),
            )
            async with patience:
                with progress.of_silent_call():
                    returned = _checked(await parsed.tool.run(parsed.arguments, context))
        except StorageUnavailable:
            raise
        except (CallRefused, ToolFailed, ResultUnknown, NoSuchDatabase) as error:
            return ToolResult(text=cut_text(str(error)), is_error=True)
        except (StatementFailed, DatabaseUnavailable, Problem) as error:
            return ToolResult(text=cut_text(error.detail), is_error=True)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            if not self._is_repeatable(call):
                logger.exception("run %s: how a call of %s ended is not known", self._turn.run.id, call.tool)
                return None
            if isinstance(error, TimeoutError) and patience.expired():
                return ToolResult(text=f"The call did not end within {seconds:g} s.", is_error=True)
            logger.exception("run %s: the tool %s failed", self._turn.run.id, call.tool)
            return ToolResult(text="The tool failed: this is a defect in it.", is_error=True)
        return await self._append_facts(call, returned)

    async def _append_facts(self, call: CallRecord, returned: ToolResult) -> ToolResult:
        """Returns what a tool has returned, with the facts of its rows below its text."""
        if returned.result is None:
            return returned
        of = await self._turn.sheets.read_call(
            result_name(call.step, call.position), call.id, returned.result
        )
        return replace(returned, text=append_facts(returned.text, of.sheet))


def _checked(returned: object) -> ToolResult:
    """Returns a result that can be stored. Raises `TypeError` if a tool returned something else."""
    if not isinstance(returned, ToolResult):
        raise TypeError(f"the tool returned {type(returned).__name__}")
    return replace(returned, text=cut_text(returned.text).encode(errors="replace").decode())


def _is_cancelled() -> bool:
    """Returns True if the run is cancelled, False if a tool raised the error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
