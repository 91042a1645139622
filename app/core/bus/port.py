"""Between those who take questions in and those who answer them: a queue of runs, and what runs say.

In one process both are plain memory; over Redis any process can answer any run, and any other can
follow it. The store stays the truth of which runs there are: whatever the bus forgets is put in again
from there.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from app.core.bus.event_log import EventLog
from app.core.errors import CannotRun


class BusUnavailable(CannotRun):
    """The queue cannot be reached or did not answer in time."""


@dataclass(frozen=True)
class RunRef:
    """A run that is ready to be answered; its particulars are in the store."""

    session_id: str
    run_id: str


@dataclass(frozen=True)
class LeasedRun:
    """A run with its lease. `first` means that certainly no attempt has begun before."""

    ref: RunRef
    first: bool


@dataclass(frozen=True)
class RenewedLease:
    """What became of a renewed lease."""

    ref: RunRef
    lost: bool
    """Another attempt of the run has begun to speak: this one has to fall silent."""
    cancelled: bool


class RunQueue(Protocol):
    """Runs ready to be answered, oldest first; at least once each, for a lease that runs out unless kept.

    All methods raise `BusUnavailable` if the queue is unavailable.
    """

    async def put(self, ref: RunRef, *, first: bool) -> None:
        """Make a run ready. One that is waiting or worked on already stays as it is."""

    async def take(self, patience_seconds: float) -> LeasedRun | None:
        """The next run, leased; one whose lease ran out goes first. None when there is none in time."""

    async def renew(self, attempts: Sequence[tuple[RunRef, int]]) -> Sequence[RenewedLease]:
        """Renew the leases of these runs at these attempts. Leases a forgotten run again."""

    async def ack(self, ref: RunRef) -> None:
        """The run is over."""

    async def requeue(self, leased: LeasedRun) -> None:
        """Let another take it, before all that wait."""

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        """Those of them that neither wait nor are leased."""

    async def waiting(self) -> int:
        """Number of runs that wait for a worker."""

    async def cancel(self, run_id: str) -> None:
        """Request that the run stops, in whichever process it runs."""

    def cancellations(self) -> AsyncIterator[str]:
        """Yields the runs that are to stop, as requests arrive. Some may be missed; `renew` returns those."""

    async def ping(self) -> None:
        """Returns if the queue answers."""


class LogWriter(Protocol):
    """Appends to the log of one attempt at a run.

    Nothing of it is heard any more once a later attempt has begun to speak, or one has ended the log.
    """

    @property
    def size(self) -> int:
        """How many events were appended."""

    def append(self, event: str, data: str) -> None:
        """Say an event; it is on its way when this returns."""

    async def end(self, event: str, data: str) -> None:
        """Say the last event; returns when all is where followers find it, or after 5 s without the bus."""

    def leave(self) -> None:
        """Close the writer of this attempt. If the log has not ended, another attempt continues it."""


class EventLogs(Protocol):
    """The logs of runs under way and, for ten minutes, of those that ended lately.

    No method fails if the bus is unavailable: events are buffered until it is back, and followers wait.
    """

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        """For who makes this attempt at the run."""

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        """Emit events (name and data) outside of an attempt, under an attempt number that no attempt uses."""

    def follow(self, run_id: str) -> AbstractAsyncContextManager[EventLog]:
        """The log as it grows, empty if the bus knows none; to be read only."""

    async def aclose(self) -> None:
        """Say what is still to be said, for a moment, and stop."""
