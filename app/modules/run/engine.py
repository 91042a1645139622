"""Services that all attempts at runs share, and the stream of events of one attempt."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.core.bus.port import EventLogs, LogWriter
from app.modules.records.model import Run, Session
from app.modules.records.repository import SessionRepository
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.messages import wire
from app.modules.run.observer import RunObserver
from app.modules.run.record import AttemptRecord
from app.modules.usage.service import Allowances
from graph import Ports, SessionEvent, SessionGraph
from graph.events import Done, Status, TextChunk

MAX_EVENTS = 10_000
"""Events of one attempt. Token deltas beyond this are left out, because the whole text follows them."""

Bind = Callable[[Session, Run], Awaitable[Ports]]


@dataclass(frozen=True, kw_only=True)
class RunServices:
    """Services of all attempts in a process."""

    graph: SessionGraph
    lifecycle: RunLifecycle
    repository: SessionRepository
    logs: EventLogs
    bind: Bind
    allowances: Allowances
    observer: RunObserver
    store_patience_seconds: float
    """Time that a run waits for an unavailable store: as long as the election of a leader takes."""


@dataclass(frozen=True)
class RunStream:
    """Events of one attempt: each is appended to the run's log, recorded and observed."""

    run: Run
    log: LogWriter
    observer: RunObserver
    used_tokens: Callable[[], int]
    """Tokens that the run has used so far."""
    record: AttemptRecord = field(default_factory=AttemptRecord)

    def emit(self, event: SessionEvent) -> None:
        """Emit any event but the last."""
        if isinstance(event, Status):
            event = event.model_copy(update={"tokens_used": self.used_tokens()})
        if self.log.size >= MAX_EVENTS and isinstance(event, TextChunk):
            return
        self.log.append(*wire(event))
        self.record.observe(event)
        self.observer.observe(self.run, event)

    async def end(self, done: Done) -> None:
        """Emit the last event. Returns when followers can read all events."""
        await self.log.end(*wire(done))

    def count(self, done: Done) -> None:
        """Count the end of the run, once it is kept."""
        self.observer.observe(self.run, done)
