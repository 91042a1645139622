"""Errors of webhooks. Each names the cure."""

from app.core.errors import Invalid, NotFound


class WebhookRefused(Invalid):
    """KAI does not send to this address."""

    problem = "webhook-address"
    title = "KAI does not send to this address"


class WebhookUnknown(NotFound):
    """There is no such webhook, or it belongs to another owner."""

    sentence = "There is no webhook with this id. GET /webhooks lists yours."


class DeliveryUnknown(NotFound):
    """The webhook has no such delivery."""

    sentence = "The webhook has no delivery with this id. GET /webhooks/{webhook_id}/deliveries lists them."


class TooManyWebhooks(Invalid):
    """The owner has as many webhooks as an owner may have."""

    problem = "too-many-webhooks"
    title = "Too many webhooks"
    sentence = "You have {most} webhooks, as many as an owner may have. Delete one first."
