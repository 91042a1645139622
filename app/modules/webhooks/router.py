"""Routes of webhooks."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, status

from app.http.callers import ASK, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import ChangedQuery, CreatedQuery
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.webhooks.retries import DeliveryState
from app.modules.webhooks.schemas import NewWebhook, WebhookBody, WebhookChange, WebhookDeliveryBody
from app.modules.webhooks.service import WebhookService

router = Router(tags=["webhooks"])


async def _webhooks(request: Request) -> WebhookService:
    webhooks: WebhookService = request.app.state.services.webhooks
    return webhooks


Service = Annotated[WebhookService, Depends(_webhooks)]
WebhookId = Annotated[str, Path(description="Id of the webhook.")]
DeliveryId = Annotated[str, Path(description="Id of the delivery.")]


class DeliveriesQuery(CreatedQuery):
    """Selects a page of deliveries."""

    state: Annotated[DeliveryState | None, Query(description="Only deliveries in this state.")] = None


@router.post(
    "/webhooks",
    summary="Create a webhook",
    status_code=status.HTTP_201_CREATED,
    dependencies=[ASK, located("/webhooks/{id}")],
)
async def create_webhook(body: NewWebhook, owner: Owner, webhooks: Service) -> WebhookBody:
    """Has KAI send ends of the caller's runs, and notices of their schedules, to an address. Needs scope
    `ask`.

    Requests are signed with `secret`, which is shown this once. Answers 422 (`webhook-address`,
    `too-many-webhooks`).
    """
    made = await webhooks.create(owner, body.url, body.events, content=body.content)
    return WebhookBody.made(made)


@router.get("/webhooks", summary="List webhooks", dependencies=[READ])
async def list_webhooks(
    query: Annotated[ChangedQuery, Query()], owner: Owner, webhooks: Service
) -> PageOf[WebhookBody]:
    """Lists the caller's webhooks, by default newest first. Needs scope `read`."""
    found = await webhooks.repository.page(owner, query.wanted())
    return query.page_of([WebhookBody.of(each) for each in found.items], found)


@router.get("/webhooks/{webhook_id}", summary="Get a webhook", dependencies=[READ])
async def read_webhook(webhook_id: WebhookId, owner: Owner, webhooks: Service) -> WebhookBody:
    """Returns the webhook, without its address and its secret. Needs scope `read`."""
    return WebhookBody.of(await webhooks.repository.get(owner, webhook_id))


@router.patch("/webhooks/{webhook_id}", summary="Change a webhook", dependencies=[ASK])
async def change_webhook(
    webhook_id: WebhookId, body: WebhookChange, owner: Owner, webhooks: Service
) -> WebhookBody:
    """Changes the fields that the body holds. Needs scope `ask`. A new address has a new secret."""
    changes = body.model_dump(exclude_unset=True)
    return WebhookBody.made(await webhooks.change(owner, webhook_id, changes))


@router.delete(
    "/webhooks/{webhook_id}",
    summary="Delete a webhook",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ASK],
)
async def delete_webhook(webhook_id: WebhookId, owner: Owner, webhooks: Service) -> None:
    """Deletes the webhook and its deliveries. Needs scope `ask`. What waits is not sent any more."""
    await webhooks.delete(owner, webhook_id)


@router.post("/webhooks/{webhook_id}/test", summary="Send a test to a webhook", dependencies=[ASK])
async def test_webhook(webhook_id: WebhookId, owner: Owner, webhooks: Service) -> WebhookDeliveryBody:
    """Sends `webhook.test` now, and answers what came of it. Needs scope `ask`."""
    return WebhookDeliveryBody.model_validate(await webhooks.test(owner, webhook_id))


@router.post("/webhooks/{webhook_id}/rotate-secret", summary="Make a new secret", dependencies=[ASK])
async def rotate_webhook_secret(webhook_id: WebhookId, owner: Owner, webhooks: Service) -> WebhookBody:
    """Makes a new secret, which is shown this once. Needs scope `ask`. For 24 hours the earlier one signs,
    too.
    """
    return WebhookBody.made(await webhooks.rotate(owner, webhook_id))


@router.get("/webhooks/{webhook_id}/deliveries", summary="List deliveries of a webhook", dependencies=[READ])
async def list_webhook_deliveries(
    webhook_id: WebhookId, query: Annotated[DeliveriesQuery, Query()], owner: Owner, webhooks: Service
) -> PageOf[WebhookDeliveryBody]:
    """Lists what was sent to a webhook and what waits, by default newest first. Needs scope `read`.
    Deliveries are kept for 30 days.
    """
    webhook = await webhooks.repository.get(owner, webhook_id)
    found = await webhooks.repository.page_of_deliveries(webhook, query.state, query.wanted())
    return query.page_of([WebhookDeliveryBody.model_validate(each) for each in found.items], found)


@router.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    summary="Send a delivery once more",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ASK],
)
async def repeat_delivery(
    webhook_id: WebhookId, delivery_id: DeliveryId, owner: Owner, webhooks: Service
) -> WebhookDeliveryBody:
    """Sends a delivery once more, with its `webhook-id`, within seconds. Needs scope `ask`."""
    return WebhookDeliveryBody.model_validate(await webhooks.redeliver(owner, webhook_id, delivery_id))
