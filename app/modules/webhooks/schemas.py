"""Bodies of webhooks and their deliveries. Fields left out of a change stay unchanged."""

from typing import Annotated

from pydantic import ConfigDict, Field, field_validator

from app.http.routes import Body, ResponseBody, Text, Time, VersionedBody, not_null
from app.modules.webhooks.model import DeliveredEvent, Webhook, WebhookContent, WebhookEvent
from app.modules.webhooks.retries import DeliveryState
from app.modules.webhooks.service import MadeWebhook

WebhookUrl = Annotated[Text, Field(min_length=1, max_length=2_000)]
Events = Annotated[list[WebhookEvent], Field(min_length=1, max_length=50)]


class NewWebhook(Body):
    """A webhook to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://192.0.2.1/kai", "events": ["run.complete", "run.failed"]}]
        }
    )

    url: WebhookUrl
    """Address to send to. It is not shown again."""
    events: Events
    """What to send: ends of the caller's runs, and notices of their schedules."""
    content: WebhookContent = "ids"
    """`ids`: ids and metadata of a run. `answer`: also its SQL, text and the first 20 rows."""


class WebhookChange(Body):
    """Changes of a webhook. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "answer"}]})

    url: WebhookUrl | None = None
    """The new address, with a new secret."""
    events: Events | None = None
    """All events from now on."""
    content: WebhookContent | None = None
    """What a delivery has."""
    enabled: Annotated[bool, Field(strict=True)] | None = None
    """False sends nothing; true sends again."""

    _given = field_validator("url", "events", "content", "enabled", mode="before")(not_null)


class WebhookBody(VersionedBody):
    """A webhook."""

    id: str
    """Id of the webhook."""
    host: str
    """Host of its address."""
    events: list[WebhookEvent]
    """What is sent."""
    content: WebhookContent
    """What a delivery has: `ids` or `answer`."""
    secret: str | None
    """Secret that signs. Only in the answer that has made it, null in all others."""
    disabled_because: str | None
    """Why nothing is sent. Null if it is."""
    failing_since: Time | None
    """Time of the first failure after the latest success. Null without one."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest change."""

    @classmethod
    def of(cls, webhook: Webhook, secret: str | None = None) -> "WebhookBody":
        return cls.model_validate({**vars(webhook), "host": webhook.receiver.host, "secret": secret})

    @classmethod
    def made(cls, made: MadeWebhook) -> "WebhookBody":
        return cls.of(made.webhook, made.secret)


class WebhookDeliveryBody(ResponseBody):
    """An event on its way to a webhook."""

    id: str
    """Id of the delivery, which is sent as `webhook-id`."""
    event: DeliveredEvent
    """What it tells."""
    subject_id: str
    """Id of the run or notice that it tells of."""
    state: DeliveryState
    """`waiting`, `delivered`, or `given_up` after six tries or a refusal."""
    tries: int
    """Tries so far."""
    error: str | None
    """Why the last try failed."""
    at: Time
    """Time of the event."""
    due_at: Time | None
    """When it is tried next. Null when it has ended."""
