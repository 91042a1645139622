"""Ports between submission and workers: the queue of runs, and the event logs of runs.

In one process both are in memory; over Redis any process can answer any run, and any other can follow it.
The store is the source of truth: runs that the bus loses are requeued from there.
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
    """Reference to a run that is ready to be answered. The run itself is in the store."""

    session_id: str
    run_id: str


@dataclass(frozen=True)
class LeasedRun:
    """A run with its lease. `first` is true if certainly no earlier attempt has begun."""

    ref: RunRef
    first: bool


@dataclass(frozen=True)
class RenewedLease:
    """Result of renewing a lease."""

    ref: RunRef
    lost: bool
    """Another attempt at the run has begun, so this one must stop emitting."""
    cancelled: bool


class RunQueue(Protocol):
    """Queue of runs that are ready, oldest first. Each is delivered at least once, with a lease that
    expires unless it is renewed.

    All methods raise `BusUnavailable` if the queue is unavailable.
    """

    async def put(self, ref: RunRef, *, first: bool) -> None:
        """Add a run. One that waits or is leased already stays as it is."""

    async def take(self, patience_seconds: float) -> LeasedRun | None:
        """Take the next run, with a lease. Runs whose lease has expired come first. Returns None if
        there is none in time.
        """

    async def renew(self, attempts: Sequence[tuple[RunRef, int]]) -> Sequence[RenewedLease]:
        """Renew the leases of these runs at these attempts. Leases a forgotten run again."""

    async def ack(self, ref: RunRef) -> None:
        """Ack: the run has ended."""

    async def requeue(self, leased: LeasedRun) -> None:
        """Requeue the run, before all that wait."""

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        """Returns those of the runs that neither wait nor are leased."""

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

    Events are dropped once a later attempt has begun, or any attempt has ended the log.
    """

    @property
    def size(self) -> int:
        """Number of appended events."""

    def append(self, event: str, data: str) -> None:
        """Emit an event. It is being sent when this returns."""

    async def end(self, event: str, data: str) -> None:
        """Emit the last event. Returns when followers can read all events, or after 5 s without the bus."""

    def leave(self) -> None:
        """Close the writer of this attempt. If the log has not ended, another attempt continues it."""


class EventLogs(Protocol):
    """The event logs of open runs and, for ten minutes, of ended ones.

    No method fails if the bus is unavailable: events are buffered until it is back, and followers wait.
    """

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        """Returns the writer of this attempt at the run."""

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        """Emit events (name and data) outside of an attempt, under an attempt number that no attempt uses."""

    def follow(self, run_id: str) -> AbstractAsyncContextManager[EventLog]:
        """The log as it grows, for reading only. Empty if the bus has none."""

    async def aclose(self) -> None:
        """Send the buffered events, for a moment, and stop."""
