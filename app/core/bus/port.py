"""Ports between processes: a queue of jobs for workers, the event logs of runs, and what one process decides
for all.

In one process all are plain memory; over NATS any process can do any job and follow any run. The store is
the source of truth of which runs there are: a run that the queue has lost is put in again from there.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.core.bus.event_log import EventLog
from app.core.errors import CannotRun

Kind = Literal["run", "title", "memory", "graph"]
"""A job of kind `run` answers a run; the other kinds follow each answer."""

FollowUp = Literal["title", "memory", "graph"]
FOLLOW_UPS: tuple[FollowUp, ...] = ("title", "memory")
"""Kinds that follow every answer. `graph` does only where the graph memory takes answers in."""


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


class StartedRuns(Protocol):
    """Emits which runs of a session start. Queues of runs implement it, for they see every start."""

    def runs_of(self, session_id: str) -> AbstractAsyncContextManager[asyncio.Queue[str]]:
        """Ids of the session's runs as they start, from now on, in any process. An id may come twice, or be
        lost while the bus is unavailable.

        Raises `BusUnavailable`.
        """


class RunQueue(JobQueue, StartedRuns, Protocol):
    """A queue of jobs for workers and for those who follow sessions."""


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
        """The latest attempt that has written to each log; logs without events are left out. An attempt
        whose process has died is known, too.

        Raises `BusUnavailable`.
        """

    async def expire(self, run_ids: Collection[str]) -> None:
        """Delete the logs of runs that have ended, as their age does. Raises `BusUnavailable`."""

    async def erase(self, run_ids: Collection[str]) -> None:
        """Delete the logs of runs that have ended. What is written to them afterwards is dropped.

        Waits for up to 5 seconds for events that are not published yet, so that live followers get them.
        Raises `BusUnavailable`.
        """

    async def aclose(self) -> None:
        """Publish what is not published yet, for a moment, and stop."""


ERASED = "[]"
"""The decision in the place of each that was erased."""


@dataclass(frozen=True)
class Decision:
    """The latest decision about a document. Later decisions have higher numbers, all above 0."""

    number: int
    value: str


class Decisions(Protocol):
    """What one process decides for all, about one document after another: who names the latest decision makes
    the next one.

    A decision is the successor of a stored document's state; its document is written after it. Decisions
    expire long after that, or may be lost with the data of the bus. So the first decision about a document is
    no proof that there was none before.

    A document is named by its collection and its id, with a dot between them: letters, digits, hyphens and
    underscores.
    """

    @property
    def may_lose(self) -> bool:
        """Whether decisions may be lost while processes that know of them go on."""

    @property
    def connections(self) -> int:
        """The number of connections so far. After a break, a server that has crashed may have earlier
        decisions as its latest, and give numbers once more.
        """

    async def decide(self, document: str, value: str, after: int) -> int | None:
        """Returns the number of the decision, None if the latest one has another number than `after`. That is
        0 if there is none. It may be called again with the same value.

        Raises `BusUnavailable`: the value may be the decision or not.
        """

    async def find(self, document: str) -> Decision | None:
        """The latest decision, None if there is none. Raises `BusUnavailable`."""

    async def erase(self, documents: Sequence[str]) -> None:
        """Replace what was decided about deleted documents by `ERASED`, so that a late change of such a
        document is refused as before. Raises `BusUnavailable`.
        """
