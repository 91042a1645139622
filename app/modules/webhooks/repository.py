"""Webhooks and their deliveries in the store."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from app.core.storage.claims import Claims
from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf, Condition, Equals, Query, Range, Storage
from app.modules.webhooks.errors import DeliveryUnknown, WebhookUnknown
from app.modules.webhooks.model import Webhook, WebhookDelivery

_PAGE = 1_000


class WebhookRepository:
    """Webhooks and their deliveries."""

    def __init__(self, storage: Storage) -> None:
        self._webhooks = Documents(storage, "webhooks", Webhook)
        self._deliveries = Documents(storage, "webhook_deliveries", WebhookDelivery)
        self.deliveries = Claims(self._deliveries, "due_at")
        """Deliveries that are to be tried."""

    async def add(self, webhook: Webhook) -> Webhook:
        """Returns the webhook that is stored."""
        return await self._webhooks.create(webhook)

    async def find(self, webhook_id: str) -> Webhook | None:
        return await self._webhooks.get(webhook_id)

    async def get(self, owner: str, webhook_id: str) -> Webhook:
        """Raises `WebhookUnknown`, also for a webhook of another owner."""
        found = await self.find(webhook_id)
        if found is None or found.owner != owner:
            raise WebhookUnknown
        return found

    async def of_owner(self, owner: str) -> list[Webhook]:
        """Newest first; an owner has few."""
        own = Query([Equals("owner", owner)], order_by="created_at", descending=True)
        return await self._webhooks.first(own)

    async def count(self, owner: str) -> int:
        return await self._webhooks.count(Equals("owner", owner))

    async def page(self, owner: str, wanted: ListRequest) -> Listed[Webhook]:
        return await self._webhooks.list_page([Equals("owner", owner)], wanted)

    async def owners(self) -> frozenset[str]:
        """Returns all owners of webhooks."""
        return frozenset([each.owner async for each in self._webhooks.all(Query(limit=_PAGE))])

    async def edit(self, webhook: Webhook, changes: Mapping[str, JsonValue]) -> Webhook | None:
        """Change a webhook for its owner. Returns the changed webhook, and None if it is gone."""
        return await self._webhooks.edit(webhook.id, changes)

    async def change(self, webhook: Webhook, changes: Mapping[str, JsonValue]) -> Webhook | None:
        """Note what its receiver did. Returns the changed webhook, and None if it is gone."""
        return await self._webhooks.change(webhook.id, changes)

    async def delete(self, webhook: Webhook) -> None:
        await self._webhooks.delete(Equals("id", webhook.id))
        await self._deliveries.delete(Equals("webhook_id", webhook.id))

    async def delete_all(self, owner: str) -> None:
        """Delete the webhooks and deliveries of an owner."""
        await self._webhooks.delete(Equals("owner", owner))
        await self._deliveries.delete(Equals("owner", owner))

    # Deliveries

    async def add_deliveries(self, deliveries: Sequence[WebhookDelivery]) -> None:
        """Store those that are not stored yet."""
        await self._deliveries.add_missing(deliveries)

    async def due_deliveries(
        self, now: int, limit: int, *, busy: Collection[str]
    ) -> Sequence[WebhookDelivery]:
        """Returns deliveries that are due by now (epoch ms), the longest due first, but none of the webhooks
        whose ids are in `busy`. Raises `StorageUnavailable`.
        """
        if not busy:
            return await self.deliveries.due(now, limit)
        found: list[WebhookDelivery] = []
        others = [each.id async for each in self._webhooks.all(Query(limit=_PAGE)) if each.id not in busy]
        for start in range(0, len(others), _PAGE):
            where = [AnyOf("webhook_id", others[start : start + _PAGE])]
            found += await self.deliveries.due(now, limit - len(found), where=where)
            if len(found) == limit:
                break
        return found

    async def get_delivery(self, webhook: Webhook, delivery_id: str) -> WebhookDelivery:
        """Raises `DeliveryUnknown`."""
        found = await self._deliveries.get(delivery_id)
        if found is None or found.webhook_id != webhook.id:
            raise DeliveryUnknown(webhook_id=webhook.id)
        return found

    async def page_of_deliveries(
        self, webhook: Webhook, state: str | None, wanted: ListRequest
    ) -> Listed[WebhookDelivery]:
        """`state` None: of all states."""
        where: list[Condition] = [Equals("webhook_id", webhook.id)]
        if state is not None:
            where.append(Equals("state", state))
        return await self._deliveries.list_page(where, wanted)

    async def delete_old(self, before: int) -> int:
        """Delete deliveries of before this time."""
        return await self._deliveries.delete(Range("created_at", below=before))
