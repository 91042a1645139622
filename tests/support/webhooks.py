"""Events of webhooks over a store under test."""

from app.core.storage.port import Storage
from app.modules.records.repository import SessionRepository
from app.modules.webhooks.events import WebhookEvents
from app.modules.webhooks.repository import WebhookRepository


def events_of(storage: Storage) -> WebhookEvents:
    return WebhookEvents(WebhookRepository(storage), SessionRepository(storage).run_events, has_others=True)
