"""Ports between processes: a queue of jobs for workers, and the event logs of runs.

In one process both are plain memory; over NATS any process can do any job and follow any run. The store is
the source of truth of which runs there are: a run that the queue has lost is put in again from there.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.core.bus.event_log import EventLog
from app.core.errors import CannotRun

Kind = Literal["run", "title", "memory"]
"""A job of kind `run` answers a run; the other kinds follow each answer."""

FollowUp = Literal["title", "memory"]
FOLLOW_UPS: tuple[FollowUp, ...] = ("title", "memory")


class BusUnavailable(CannotRun):
    """The queue cannot be reached or did not answer in time."""


@dataclass(frozen=True)
class RunRef:
    """Ids of a run that there is a job for. Everything else is in the store."""

    owner: str
    session_id: str
    run_id: str


@dataclass(frozen=True)
class LeasedJob:
    """A job with its lease."""

    kind: Kind
    ref: RunRef
    first: bool
    """No attempt at the run has begun before. False if that is not certain."""
    tries: int
    """Deliveries of the job, this one included."""
    added_at: int = field(default=0, compare=False)
    """When the job was added, by the queue's clock (epoch ms); 0 if it is of no interest."""


class JobQueue(Protocol):
    """Jobs of all kinds, each delivered at least once, for a lease that expires unless it is renewed.

    All methods raise `BusUnavailable` when the queue is unavailable.
    """

    async def put(self, ref: RunRef, *, first: bool) -> None:
        """Make a run ready. One that is waiting or leased already stays as it is."""

    async def publish_completed(self, ref: RunRef) -> None:
        """Add a job of each kind that follows an answer. May be repeated."""

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        """Lease the next job; one whose lease has expired goes first. None if none comes.

        When runs wait, owners take turns; the runs of one owner are delivered oldest first. Runs of
        `except_owners` are left to other workers.
        """

    async def is_under_way(self, leased: LeasedJob) -> bool:
        """Ask whether another worker is still at a job that is not `first`. If so, it has the lease now."""

    async def renew(self, leased: Collection[LeasedJob]) -> None:
        """Renew the leases."""

    async def ack(self, leased: LeasedJob) -> None:
        """The job is done."""

    async def requeue(self, leased: LeasedJob, *, delay_seconds: float = 0) -> None:
        """Let another take it, before all that wait; with a delay, only after so long."""

    async def drop(self, leased: LeasedJob) -> None:
        """Give up the lease without a word: another worker has the job, or gets it when the lease expires."""

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        """The runs that neither wait nor are leased."""

    async def waiting(self) -> int:
        """The number of runs that wait for a worker."""

    async def emptied_at(self) -> int:
        """When the queue was made, or made again because it had lost its jobs (epoch ms)."""

    async def cancel(self, run_id: str) -> None:
        """Signal the worker that answers the run to stop. The signal may be lost."""

    def cancellations(self) -> AsyncIterator[str]:
        """The runs that are signalled to stop, as it happens."""

    async def check(self) -> None:
        """Returns if the queue takes a job; tries what a question needs."""


class LogWriter(Protocol):
    """Appends to the log of one attempt at a run.

    Its events are dropped once a later attempt has written, or one has ended the log.
    """

    @property
    def size(self) -> int:
        """The number of events that were appended."""

    def append(self, event: str, data: str) -> None:
        """Append an event. Returns before it is published."""

    async def end(self, event: str, data: str) -> None:
        """Append the last event. Returns when followers can read all, or after 5 s without the bus."""

    def leave(self) -> None:
        """Stop writing. If this attempt has not ended the log, another continues it."""


class EventLogs(Protocol):
    """The logs of runs under way and of those that ended lately.

    No method fails when the bus is unavailable: events are kept until it is back, and followers wait.
    """

    def writer(self, run_id: str, attempt: int) -> LogWriter:
        """A writer for the attempt at the run."""

    async def say(self, run_id: str, attempt: int, said: Sequence[tuple[str, str]], *, ended: bool) -> None:
        """Append events (names and data) as an attempt that no worker makes."""

    def follow(self, run_id: str) -> AbstractAsyncContextManager[EventLog]:
        """The log as it grows, empty if there is none; to be read only."""

    async def latest_attempts(self, run_ids: Collection[str]) -> Mapping[str, int]:
        """The latest attempt that has written to each log; logs without events are left out.

        Raises `BusUnavailable`.
        """

    async def aclose(self) -> None:
        """Publish what is not published yet, for a moment, and stop."""
