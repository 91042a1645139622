"""Events of a run for its followers: from its log, or from the store if the log has expired."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from app.core.bus.event_log import EventLog, LogEntry, entries, first_id
from app.core.bus.port import EventLogs
from app.core.storage.port import StorageUnavailable
from app.modules.records.errors import RowsGone
from app.modules.records.model import (
    HEAD_ROWS,
    Message,
    Row,
    Run,
)
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from app.modules.run.messages import Ending, done_event, message_events, wire
from graph.answer import Effort, TurnAnswer
from graph.events import Reset, SessionEvent
from graph.state import Rows

_SILENT_SECONDS = 5.0
"""Silence of a log, in seconds, after which the store is asked whether the run has ended. The pauses grow,
because a thousand waiting streams would otherwise keep the store and this process busy."""

_SILENT_AT_MOST_SECONDS = 30.0
_ON_ITS_WAY_SECONDS = 1.0
"""The end of a run is stored first, and then in its log: so long a log stays silent before it is extended."""

SaidInSteps = Callable[[Run], Awaitable[list[SessionEvent]]]
"""Returns what the steps of an ended run's investigation have emitted."""


class RunFollower:
    def __init__(
        self,
        repository: SessionRepository,
        rows: RowStore,
        logs: EventLogs,
        *,
        said_in_steps: SaidInSteps,
    ) -> None:
        self._said_in_steps = said_in_steps
        self._repository = repository
        self._rows = rows
        self._logs = logs

    @asynccontextmanager
    async def follow(self, run: Run) -> AsyncGenerator[EventLog]:
        """The log of a run as it grows to its end. If the log has expired, the stored answer is
        emitted instead.
        """
        async with self._logs.follow(run.id) as log:
            if run.status != "open" and log.last_id == 0:
                with suppress(StorageUnavailable):
                    await self._say_again(run, log)
            watching = asyncio.create_task(self._watch(run.id, log), name=f"run {run.id}: check a silent log")
            del run  # many streams wait, and its document takes memory
            try:
                yield log
            finally:
                watching.cancel()

    async def events(self, run: Run) -> AsyncGenerator[LogEntry]:
        """All events of a run, until it ends."""
        async with self.follow(run) as log:
            async for entry in log.read(after=0, stop=lambda: False):
                yield entry

    async def _watch(self, run_id: str, log: EventLog) -> None:
        """End the log of a run that has ended, if nothing else did."""
        patience = _SILENT_SECONDS
        while not log.ended:
            heard = log.last_id
            await asyncio.sleep(patience)
            if log.last_id > heard:
                patience = _SILENT_SECONDS
                continue
            patience = min(2 * patience, _SILENT_AT_MOST_SECONDS)
            with suppress(StorageUnavailable):
                now = await self._repository.find_run(run_id)
                if now is None:  # deleted, with its session
                    log.extend([], ended=True)
                elif now.status != "open":
                    await asyncio.sleep(_ON_ITS_WAY_SECONDS)
                    if log.last_id == heard:
                        await self._say_again(now, log)

    async def _say_again(self, run: Run, log: EventLog) -> None:
        """Extend the log by the stored answer, or by `done` alone if there is none.

        Does nothing while the run holds its session: its answer is being stored, and a client that sees
        `done` may ask the next question. A free session has the answers of all its ended runs, unless one was
        deleted; one that waits for people has the answer of the run that asks them. While that one holds it,
        a run that withdraws its calls has not ended the turn.
        """
        heard = log.last_id
        session = await self._repository.find(run.session_id)
        asks = session is not None and session.status == "awaiting_approval"
        holder = None if session is None else session.active_run_id
        is_held = (holder == run.id and not asks) or (holder is not None and holder == run.resumes)
        if run.status == "open" or is_held:
            return
        message = None if session is None else await self._repository.find_answer(session, run.message_id)
        if message is not None:
            events = await self._answer(run, message)
        else:
            answer = TurnAnswer(
                tokens_used=run.tokens_used, cached_tokens=run.cached_tokens, **run.cost.model_dump()
            )
            ending = Ending(run.status, run.ended_at or run.created_at, None, answer)
            events = [done_event(run, ending)]
        if log.last_id > heard:  # its own end is on its way
            return
        start = max(first_id(run.attempt + 1), log.last_id + 1)
        log.extend(entries(start, [wire(event) for event in events]), ended=True)

    async def _answer(self, run: Run, message: Message) -> list[SessionEvent]:
        head: Rows | None = None
        if message.row_count is not None:
            head = Rows(
                columns=message.columns,
                rows=await self._head(message),
                row_count=message.row_count,
                truncated=message.truncated,
                cut_by=message.cut_by,
            )
        effort = message.model_dump(include=set(Effort.model_fields))
        counts = {**effort, **run.cost.model_dump(), "cached_tokens": run.cached_tokens}
        reset = Reset(reason="The run ended a while ago; this is its answer.")
        steps = await self._said_in_steps(run) if message.steps else []
        if run.status == "awaiting_approval":
            answer = TurnAnswer(tokens_used=run.tokens_used, **counts)
            ending = Ending(run.status, run.ended_at or run.created_at, None, answer)
            return [reset, *steps, done_event(run, ending)]
        ended_at = run.created_at + message.elapsed_ms - run.elapsed_before
        tokens = max(0, message.tokens_used - run.tokens_before)
        answer = TurnAnswer(tokens_used=tokens, **counts)
        ending = Ending(message.status, ended_at, None, answer)
        return [reset, *steps, *message_events(message, head), done_event(run, ending)]

    async def _head(self, message: Message) -> list[Row]:
        try:
            return await self._rows.read(message.id, 0, min(HEAD_ROWS, message.row_count or 0))
        except RowsGone:
            return message.rows_head
