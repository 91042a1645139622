"""Events of completed messages, delivered to the workers that act on them: one kind of worker per purpose.

An event holds ids only; the data are in the store when it is published. Every kind gets every event at
least once, in about the order of publishing, so its work must be idempotent.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["history", "memory"]
KINDS: tuple[Kind, ...] = ("history", "memory")

MOST_KEPT = 100_000
"""Number of events that not every kind has processed. Beyond it the oldest are dropped."""


@dataclass(frozen=True)
class Completed:
    """A run has ended, and its answer is stored as this message."""

    owner: str
    session_id: str
    message_id: str
    run_id: str
    outcome: str


@dataclass(frozen=True)
class Notice:
    """An event, leased to the worker that has taken it. `tries` counts this lease and those before it."""

    event: Completed
    receipt: str
    tries: int


class CompletedEvents(Protocol):
    """All methods raise `BusUnavailable` if the bus is unavailable."""

    async def publish(self, event: Completed) -> None:
        """Publish an event to every kind of worker, also to kinds without a running worker."""

    async def take(self, kind: Kind, patience_seconds: float) -> Notice | None:
        """Take the next event for a kind, with a lease. Events whose lease has expired come first. Returns
        None if there is none in time.
        """

    async def renew(self, kind: Kind, notice: Notice) -> None:
        """Renew the lease. Has no effect if another worker has taken the event since."""

    async def ack(self, kind: Kind, notice: Notice) -> None:
        """Ack: this kind has processed the event."""
