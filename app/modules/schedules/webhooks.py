"""Webhooks of schedules: notices as signed requests to the receiver of their schedule, or as deliveries to
webhooks of their owner.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import asdict

from pydantic import JsonValue

from app.core.clock import rfc3339
from app.core.storage.port import StorageUnavailable
from app.modules.schedules.model import Notice
from app.modules.schedules.repository import ScheduleRepository
from app.modules.webhooks.model import Receiver, WebhookContent
from app.modules.webhooks.retries import DeliveryFailed, check_tries, settle_try
from app.modules.webhooks.sending import WebhookSender

logger = logging.getLogger(__name__)

_LEASE_MS = 60_000
_AT_ONCE = 20


class ScheduleWebhooks:
    """Sends notices to the receivers of their schedules."""

    def __init__(self, repository: ScheduleRepository, sender: WebhookSender) -> None:
        self._repository = repository
        self._sender = sender

    async def deliver_due(self, now: int) -> None:
        """Send the notices that wait. Any number of processes may do so: each claims a notice first."""
        waiting = await self._repository.webhooks.due(now, _AT_ONCE)
        await asyncio.gather(*(self._deliver(notice, now) for notice in waiting))

    async def _deliver(self, notice: Notice, now: int) -> None:
        claim = {"webhook_due_at": now + _LEASE_MS, "webhook_tries": notice.webhook_tries + 1}
        claimed = await self._repository.webhooks.change(notice, claim)
        if claimed is None:
            return
        try:
            changes = await self._try(claimed, now)
            await self._repository.webhooks.change(claimed, changes)
        except StorageUnavailable as error:
            logger.warning("webhook of notice %s is tried again: %s", notice.id, error)

    async def _try(self, notice: Notice, now: int) -> Mapping[str, JsonValue]:
        """Returns the changes of the notice."""
        failure: DeliveryFailed | None = None
        try:
            receiver = await self._receiver(notice)
            await self._sender.send(receiver, notice.id, payload(notice), now=now)
        except DeliveryFailed as error:
            failure = error
        logger.info("webhook of notice %s, try %d: %s", notice.id, notice.webhook_tries, failure or "done")
        after = settle_try(failure, notice.webhook_tries, now)
        return {"webhook": after.state, "webhook_due_at": after.due_at, "webhook_error": after.error}

    async def _receiver(self, notice: Notice) -> Receiver:
        """Raises `DeliveryFailed`."""
        schedule = await self._repository.find(notice.schedule_id or "")
        if schedule is None or schedule.webhook is None:
            raise DeliveryFailed("The webhook was removed.", again=False)
        check_tries(notice.webhook_tries)
        return schedule.webhook


class NoticeSubjects:
    """Notices that events tell of."""

    def __init__(self, repository: ScheduleRepository) -> None:
        self._repository = repository

    async def data(self, subject_id: str, content: WebhookContent) -> dict[str, JsonValue] | None:
        """Returns the fields of a notice, whatever the content. Returns None if it was deleted."""
        notice = await self._repository.find_notice(subject_id)
        return None if notice is None else notice_data(notice)


def payload(notice: Notice) -> dict[str, JsonValue]:
    """The body of a webhook."""
    return {"type": f"schedule.{notice.kind}", "timestamp": rfc3339(notice.at), "data": notice_data(notice)}


def notice_data(notice: Notice) -> dict[str, JsonValue]:
    """Returns what a webhook says of a notice."""
    return {
        "notice_id": notice.id,
        "schedule_id": notice.schedule_id,
        "board_id": notice.board_id,
        "pin_id": notice.pin_id,
        "title": notice.title,
        "scheduled_for": rfc3339(notice.scheduled_for),
        "missed": notice.missed,
        "row_count": notice.row_count,
        "condition": None if notice.condition is None else asdict(notice.condition),
        "value": notice.value,
        "previous": notice.previous,
        "failure": None if notice.failure is None else asdict(notice.failure),
        "failed_pins": notice.failed_pins,
    }
