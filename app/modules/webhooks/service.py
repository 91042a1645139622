"""Webhooks of owners: registered, changed, tested, and their deliveries read and repeated."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.keyed_ids import created_id
from app.modules.webhooks.delivering import LEASE_MS, WebhookDeliveries
from app.modules.webhooks.errors import TooManyWebhooks, WebhookUnknown
from app.modules.webhooks.events import WebhookEvents
from app.modules.webhooks.model import (
    MOST_WEBHOOKS,
    Webhook,
    WebhookContent,
    WebhookDelivery,
    WebhookEvent,
)
from app.modules.webhooks.repository import WebhookRepository
from app.modules.webhooks.sending import WebhookSender

audit = logging.getLogger("kai.audit")


@dataclass(frozen=True)
class MadeWebhook:
    """A webhook, and its secret if that was just made. It is shown this once."""

    webhook: Webhook
    secret: str | None = None


class WebhookService:
    """Every method names the owner. It raises `WebhookUnknown` for a webhook of another owner."""

    def __init__(
        self,
        repository: WebhookRepository,
        sender: WebhookSender,
        *,
        events: WebhookEvents,
        deliveries: WebhookDeliveries,
    ) -> None:
        self.repository = repository
        self._sender = sender
        self._events = events
        self._deliveries = deliveries

    async def create(
        self, owner: str, url: str, events: Sequence[WebhookEvent], *, content: WebhookContent
    ) -> MadeWebhook:
        """Raises `WebhookRefused` or `TooManyWebhooks`."""
        if await self.repository.count(owner) >= MOST_WEBHOOKS:
            raise TooManyWebhooks(most=MOST_WEBHOOKS)
        receiver, _ = await self._sender.make(url)
        now = now_ms()
        webhook = Webhook(
            id=created_id(),
            owner=owner,
            receiver=receiver,
            events=tuple(dict.fromkeys(events)),
            content=content,
            created_at=now,
            updated_at=now,
        )
        webhook = await self.repository.add(webhook)
        await self._events.make_known()
        _audit(webhook, "added")
        return MadeWebhook(webhook, self._sender.secret_of(webhook.receiver))

    async def change(self, owner: str, webhook_id: str, changes: Mapping[str, JsonValue]) -> MadeWebhook:
        """Change the fields that `changes` names; a new `url` has a new secret, and `enabled` true sends
        again. Raises `WebhookRefused`.
        """
        webhook = await self.repository.get(owner, webhook_id)
        stored: dict[str, JsonValue] = {"updated_at": now_ms()}
        secret = None
        if isinstance(url := changes.get("url"), str):
            receiver, secret = await self._sender.make(url)
            stored |= {"receiver": asdict(receiver), "previous": None, "rotated_at": None}
        for name in ("events", "content"):
            if name in changes:
                stored[name] = changes[name]
        if "enabled" in changes:
            why = None if changes["enabled"] else "Its owner has disabled it."
            stored |= {"disabled_because": why, "failing_since": None}
        return await self._store(webhook, stored, secret)

    async def rotate(self, owner: str, webhook_id: str) -> MadeWebhook:
        """Make a new secret. The present one signs, too, for a day."""
        webhook = await self.repository.get(owner, webhook_id)
        receiver, secret = self._sender.rotate(webhook.receiver)
        now = now_ms()
        stored: dict[str, JsonValue] = {
            "receiver": asdict(receiver),
            "previous": asdict(webhook.receiver),
            "rotated_at": now,
            "updated_at": now,
        }
        return await self._store(webhook, stored, secret)

    async def _store(
        self, webhook: Webhook, changes: Mapping[str, JsonValue], secret: str | None
    ) -> MadeWebhook:
        """Edit a webhook. Returns it with its new secret, if it has one. Raises `WebhookUnknown`."""
        changed = await self.repository.edit(webhook, changes)
        if changed is None:
            raise WebhookUnknown
        _audit(changed, "changed" if secret is None else "changed with a new secret")
        return MadeWebhook(changed, secret)

    async def delete(self, owner: str, webhook_id: str) -> None:
        webhook = await self.repository.get(owner, webhook_id)
        await self.repository.delete(webhook)
        _audit(webhook, "deleted")

    async def test(self, owner: str, webhook_id: str) -> WebhookDelivery:
        """Send a test now. Returns its delivery, which is tried again like any other."""
        webhook = await self.repository.get(owner, webhook_id)
        now, delivery_id = now_ms(), new_id()
        delivery = WebhookDelivery(
            id=delivery_id,
            owner=owner,
            webhook_id=webhook.id,
            event="webhook.test",
            subject_id=delivery_id,
            at=now,
            created_at=now,
            tries=1,
            due_at=now + LEASE_MS,
        )
        await self.repository.add_deliveries([delivery])
        return await self._deliveries.try_claimed(delivery, now)

    async def redeliver(self, owner: str, webhook_id: str, delivery_id: str) -> WebhookDelivery:
        """Send a delivery once more, with its id. Raises `DeliveryUnknown`."""
        webhook = await self.repository.get(owner, webhook_id)
        delivery = await self.repository.get_delivery(webhook, delivery_id)
        again: dict[str, JsonValue] = {"state": "waiting", "tries": 0, "due_at": now_ms(), "error": None}
        changed = await self.repository.deliveries.change(delivery, again)
        return changed or await self.repository.get_delivery(webhook, delivery_id)


def _audit(webhook: Webhook, action: str) -> None:
    """One line for each change, without addresses."""
    audit.info(
        "webhook",
        extra={
            "owner": webhook.owner,
            "webhook_id": webhook.id,
            "webhook_host": webhook.receiver.host,
            "events": [*webhook.events],
            "action": action,
        },
    )
