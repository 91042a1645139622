"""Events for webhooks: ends of runs, and notices of schedules.

The end of a run marks the run as to be sent, in the same write. A worker makes a delivery for each webhook
of its owner and then removes the mark: if it dies in between, the next one makes the same deliveries.
"""

import asyncio
import time
from uuid import UUID

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.claims import Claims
from app.modules.records.model import Run, visible_owner
from app.modules.webhooks.model import WEBHOOK_EVENTS, WebhookDelivery
from app.modules.webhooks.repository import WebhookRepository

KNOWN_SECONDS = 1.0
"""Time after which every process knows a new webhook."""

_DELIVERIES = str(UUID(int=22))
_AT_ONCE = 50


class WebhookEvents:
    """Turns events into deliveries. `runs` are those with `webhook_due_at`. `has_others`: other processes
    make webhooks, too.
    """

    def __init__(self, repository: WebhookRepository, runs: Claims[Run], *, has_others: bool) -> None:
        self._repository = repository
        self._runs = runs
        self._has_others = has_others
        self._owners: frozenset[str] = frozenset()
        self._read_at: float | None = None

    async def due_at(self, owner: str) -> int | None:
        """Returns when the end of a run is to be sent (epoch ms). Returns None if its owner has no webhook.

        A webhook that another process made less than `KNOWN_SECONDS` ago may be unknown. Raises
        `StorageUnavailable`.
        """
        began = time.monotonic()
        if self._read_at is None or (self._has_others and began - self._read_at >= KNOWN_SECONDS):
            self._owners = await self._repository.owners()
            self._read_at = began
        return now_ms() if visible_owner(owner) in self._owners else None

    async def make_known(self) -> None:
        """Have every process know all webhooks. Returns when they do."""
        self._read_at = None
        if self._has_others:
            await asyncio.sleep(KNOWN_SECONDS)

    async def deliver_due(self, now: int) -> None:
        """Make the deliveries of ended runs. Raises `StorageUnavailable`."""
        runs = await self._runs.due(now, _AT_ONCE)
        await asyncio.gather(*(self._tell(run) for run in runs))

    async def _tell(self, run: Run) -> None:
        if run.status != "open":
            await self.add(run.owner, f"run.{run.status}", run.id, at=run.ended_at or run.created_at)
        await self._runs.change(run, {"webhook_due_at": None})

    async def add(self, owner: str, event: str, subject_id: str, *, at: int) -> None:
        """Make a delivery of an event for each webhook that wants it, once. `at` is its time (epoch ms)."""
        now, owner = now_ms(), visible_owner(owner)
        known = next((each for each in WEBHOOK_EVENTS if each == event), None)
        if known is None:
            return
        deliveries = [
            WebhookDelivery(
                id=id_of(_DELIVERIES, f"{webhook.id} {event} {subject_id}"),
                owner=owner,
                webhook_id=webhook.id,
                event=known,
                subject_id=subject_id,
                at=at,
                created_at=now,
                due_at=now,
            )
            for webhook in await self._repository.of_owner(owner)
            if event in webhook.events and webhook.disabled_because is None
        ]
        if deliveries:
            await self._repository.add_deliveries(deliveries)
