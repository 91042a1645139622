"""Webhooks and their deliveries. Times are epoch milliseconds."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from app.modules.webhooks.retries import DeliveryState

MOST_WEBHOOKS = 20
"""Webhooks of an owner."""
DELIVERY_DAYS = 30
"""Days after which deliveries are deleted."""
OVERLAP_MS = 24 * 3_600_000
"""Time for which the secret before a rotation signs, too."""
MOST_FAILING_MS = 5 * 24 * 3_600_000
"""Time of failures alone after which a webhook is disabled."""

WebhookEvent = Literal[
    "run.complete",
    "run.failed",
    "run.cancelled",
    "run.awaiting_approval",
    "schedule.ran",
    "schedule.met",
    "schedule.failed",
    "schedule.missed",
]
WEBHOOK_EVENTS: tuple[WebhookEvent, ...] = get_args(WebhookEvent)
DeliveredEvent = Literal[WebhookEvent, "webhook.test"]
WebhookContent = Literal["ids", "answer"]


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Where webhooks are sent. Address and secret are encrypted; of the address, only the host is shown."""

    host: str
    url: str = field(repr=False)
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A receiver of an owner's events. `previous` has the secret before the latest rotation."""

    id: str
    owner: str
    receiver: Receiver
    events: tuple[WebhookEvent, ...]
    content: WebhookContent
    created_at: int
    updated_at: int
    previous: Receiver | None = None
    rotated_at: int | None = None
    failing_since: int | None = None
    """Time of the first failed try after the latest success."""
    disabled_because: str | None = None
    """None for one that is sent to."""
    version: int = 0
    """Number of edits. What its receiver answers is none."""

    def signer(self, now: int) -> Receiver | None:
        """Returns what signs beside the receiver."""
        return self.previous if now < (self.rotated_at or 0) + OVERLAP_MS else None


@dataclass(frozen=True, kw_only=True)
class WebhookDelivery:
    """An event on its way to a webhook; its id is the `webhook-id`. It names what it tells of, and what that
    is by then is read when it is sent. `due_at` is when it is tried next, None when it has ended.
    """

    id: str
    owner: str
    webhook_id: str
    event: DeliveredEvent
    subject_id: str
    """Id of the run or notice. For a test, of the delivery itself."""
    at: int
    created_at: int
    state: DeliveryState = "waiting"
    tries: int = 0
    due_at: int | None = None
    error: str | None = None
