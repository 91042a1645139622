"""Deliveries of events to webhooks.

A worker claims a delivery by moving `due_at` to the end of a lease. If it dies in between, the receiver may
get the event again, with the same `webhook-id`.
"""

import asyncio
import logging
import time
from asyncio import FIRST_COMPLETED
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from pydantic import JsonValue

from app.core.clock import rfc3339
from app.core.storage.port import StorageUnavailable
from app.core.tasks import end_tasks
from app.modules.webhooks.model import MOST_FAILING_MS, Webhook, WebhookContent, WebhookDelivery
from app.modules.webhooks.repository import WebhookRepository
from app.modules.webhooks.retries import DeliveryFailed, check_tries, settle_try
from app.modules.webhooks.sending import WebhookSender

logger = logging.getLogger(__name__)

LEASE_MS = 60_000
_AT_ONCE = 40
_AT_ONCE_TO_ONE = 8
"""Deliveries to one webhook."""
_LOOK_SECONDS = 1.0


class Subjects(Protocol):
    """Runs or notices that events tell of."""

    async def data(self, subject_id: str, content: WebhookContent) -> dict[str, JsonValue] | None:
        """Returns what a delivery says of one. Returns None if it was deleted."""


class WebhookDeliveries:
    """Sends the deliveries that wait. `subjects` are by the first word of an event."""

    def __init__(
        self, repository: WebhookRepository, sender: WebhookSender, subjects: Mapping[str, Subjects]
    ) -> None:
        self._repository = repository
        self._sender = sender
        self._subjects = subjects

    async def deliver_due(self, now: int) -> None:
        """Send the deliveries that wait, until none does. Any number of processes may do so: each claims a
        delivery first. A receiver that does not answer holds up its own deliveries alone.
        """
        began, sending = time.monotonic(), dict[asyncio.Task[None], str]()
        try:
            while True:
                now_there = now + int(1_000 * (time.monotonic() - began))
                busy = Counter(sending.values())
                for each in await self._find_due(now_there, busy):
                    if busy[each.webhook_id] < _AT_ONCE_TO_ONE:
                        busy[each.webhook_id] += 1
                        task = asyncio.create_task(self._deliver(each, now_there), name=f"deliver {each.id}")
                        sending[task] = each.webhook_id
                if not sending:
                    return
                done, _ = await asyncio.wait(sending, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for task in done:
                    del sending[task]
                    task.result()
        finally:
            await end_tasks(sending)

    async def _find_due(self, now: int, busy: Mapping[str, int]) -> Sequence[WebhookDelivery]:
        """Returns deliveries for the room that is left. `busy` has the numbers of those that are being sent,
        by webhook.
        """
        room = _AT_ONCE - sum(busy.values())
        if room == 0:
            return []
        full = [webhook_id for webhook_id, count in busy.items() if count >= _AT_ONCE_TO_ONE]
        return await self._repository.due_deliveries(now, room, busy=full)

    async def _deliver(self, delivery: WebhookDelivery, now: int) -> None:
        claim: dict[str, JsonValue] = {"due_at": now + LEASE_MS, "tries": delivery.tries + 1}
        claimed = await self._repository.deliveries.change(delivery, claim)
        if claimed is None:
            return
        try:
            await self.try_claimed(claimed, now)
        except StorageUnavailable as error:
            logger.warning("delivery %s is tried again: %s", delivery.id, error)

    async def try_claimed(self, delivery: WebhookDelivery, now: int) -> WebhookDelivery:
        """Send a delivery that this process has claimed. Returns it as it is then."""
        webhook = await self._repository.find(delivery.webhook_id)
        failure: DeliveryFailed | None = None
        try:
            await self._send(delivery, webhook, now)
        except DeliveryFailed as error:
            logger.info("delivery %s, try %d: %s", delivery.id, delivery.tries, error)
            failure = error
        if webhook is not None and webhook.disabled_because is None:
            await self._note(webhook, failure, now)
        after = settle_try(failure, delivery.tries, now)
        changes: dict[str, JsonValue] = {"state": after.state, "due_at": after.due_at, "error": after.error}
        return await self._repository.deliveries.change(delivery, changes) or delivery

    async def _send(self, delivery: WebhookDelivery, webhook: Webhook | None, now: int) -> None:
        """Raises `DeliveryFailed`."""
        if webhook is None:
            raise DeliveryFailed("The webhook was deleted.", again=False)
        if webhook.disabled_because is not None:
            raise DeliveryFailed(f"The webhook is disabled: {webhook.disabled_because}", again=False)
        check_tries(delivery.tries)
        data: dict[str, JsonValue] | None = {"webhook_id": webhook.id}
        if delivery.event != "webhook.test":
            subjects = self._subjects[delivery.event.partition(".")[0]]
            data = await subjects.data(delivery.subject_id, webhook.content)
        if data is None:
            raise DeliveryFailed("What it tells of was deleted.", again=False)
        payload: dict[str, JsonValue] = {
            "type": delivery.event,
            "timestamp": rfc3339(delivery.at),
            "data": data,
        }
        await self._sender.send(webhook.receiver, delivery.id, payload, now=now, previous=webhook.signer(now))

    async def _note(self, webhook: Webhook, failure: DeliveryFailed | None, now: int) -> None:
        """Note how long the receiver has failed, and disable a webhook whose receiver is gone."""
        since = webhook.failing_since
        if failure is None:
            if since is not None:
                await self._repository.change(webhook, {"failing_since": None})
        elif failure.is_gone:
            await self._disable(webhook, "Its receiver answers 410: it wants nothing any more.")
        elif since is None:
            await self._repository.change(webhook, {"failing_since": now})
        elif now - since >= MOST_FAILING_MS:
            await self._disable(webhook, "Every try of five days has failed.")

    async def _disable(self, webhook: Webhook, reason: str) -> None:
        logger.warning("webhook %s is disabled: %s", webhook.id, reason)
        await self._repository.change(webhook, {"disabled_because": reason})
