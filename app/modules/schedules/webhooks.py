"""Webhooks: notices as signed HTTP requests, as Standard Webhooks describes them.

A receiver may get a notice twice, with the same `webhook-id`. It answers 2xx to take it.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from ipaddress import ip_address

import httpx2
from pydantic import JsonValue

from app import __version__
from app.core.clock import rfc3339
from app.core.network.addresses import IpNetwork
from app.core.network.outgoing import AddressRefused, CheckedTransport, checked_address
from app.core.secrets import SecretBox, SecretUnreadable
from app.core.storage.port import StorageUnavailable
from app.modules.schedules.errors import WebhookRefused
from app.modules.schedules.model import Notice, Webhook
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.retries import RETRY_SECONDS, DeliveryFailed

logger = logging.getLogger(__name__)

SETTING = "KAI_SCHEDULES__WEBHOOK_NETWORKS"
_PREFIX = "whsec_"
_SECONDS = 10.0
_LEASE_MS = 60_000
_AT_ONCE = 20
_AGAIN = frozenset({408, 425, 429})


class Webhooks:
    """Makes, and sends to, webhooks. `networks` are private ones that may be sent to."""

    def __init__(self, repository: ScheduleRepository, box: SecretBox, networks: Sequence[IpNetwork]) -> None:
        self._repository = repository
        self._box = box
        self._networks = networks

    async def make(self, url: str) -> tuple[Webhook, str]:
        """Returns a webhook with its new secret, which cannot be read again. Raises `WebhookRefused`."""
        try:
            address = httpx2.URL(url)
        except httpx2.InvalidURL:
            raise WebhookRefused("This is no address. Begin with https://.") from None
        if address.scheme not in ("http", "https") or not address.host or address.userinfo:
            raise WebhookRefused("Name an address that begins with https://, without a user and a password.")
        try:
            await self._check(address)
        except AddressRefused as error:
            raise WebhookRefused(str(error)) from None
        secret = _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
        sealed = Webhook(
            host=address.host, url=self._box.encrypt(str(address)), secret=self._box.encrypt(secret)
        )
        return sealed, secret

    def secret_of(self, webhook: Webhook) -> str:
        return self._box.decrypt(webhook.secret)

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
        try:
            await self._send(notice, await self._webhook(notice), now)
        except DeliveryFailed as error:
            logger.info("webhook of notice %s, try %d: %s", notice.id, notice.webhook_tries, error)
            if error.again and notice.webhook_tries <= len(RETRY_SECONDS):
                wait = RETRY_SECONDS[notice.webhook_tries - 1] * 1_000
                return {"webhook_due_at": now + wait, "webhook_error": str(error)}
            return {"webhook": "given_up", "webhook_due_at": None, "webhook_error": str(error)}
        logger.info("webhook of notice %s delivered", notice.id)
        return {"webhook": "delivered", "webhook_due_at": None, "webhook_error": None}

    async def _webhook(self, notice: Notice) -> Webhook:
        """Raises `DeliveryFailed`."""
        schedule = await self._repository.find(notice.schedule_id or "")
        if schedule is None or schedule.webhook is None:
            raise DeliveryFailed("The webhook was removed.", again=False)
        if notice.webhook_tries > len(RETRY_SECONDS) + 1:
            raise DeliveryFailed("KAI stopped while it was sending.", again=False)
        return schedule.webhook

    async def _send(self, notice: Notice, webhook: Webhook, now: int) -> None:
        """Raises `DeliveryFailed`."""
        try:
            url = httpx2.URL(self._box.decrypt(webhook.url))
            secret = self._box.decrypt(webhook.secret)
        except SecretUnreadable:
            raise DeliveryFailed("Its secret cannot be read: give the webhook again.", again=False) from None
        body = json.dumps(payload(notice), separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"KAI/{__version__}",
            **signed(notice.id, now // 1_000, body, secret=secret),
        }
        try:
            async with asyncio.timeout(_SECONDS):
                await self._check(url)
                status = await self._post(httpx2.Request("POST", url, content=body, headers=headers))
        except AddressRefused as error:
            raise DeliveryFailed(str(error), again=True) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise DeliveryFailed("The receiver does not answer in time.", again=True) from None
        except httpx2.TransportError:
            raise DeliveryFailed("The receiver cannot be reached.", again=True) from None
        if not 200 <= status < 300:
            raise DeliveryFailed(f"The receiver answers {status}.", again=status >= 500 or status in _AGAIN)

    async def _post(self, request: httpx2.Request) -> int:
        """Returns the status. Follows no redirect, and reads no body.

        Without a client, because clients of this library log the addresses that they request.
        """
        async with CheckedTransport(self._networks, SETTING) as transport:
            answer = await transport.handle_async_request(request)
            await answer.aclose()
        return answer.status_code

    async def _check(self, url: httpx2.URL) -> None:
        """Raises `AddressRefused`."""
        address = ip_address(await checked_address(url, self._networks, SETTING))
        if url.scheme != "https" and not any(address in network for network in self._networks):
            raise AddressRefused(f"Without TLS, KAI sends to networks of {SETTING} only. Use https://.")


def payload(notice: Notice) -> dict[str, JsonValue]:
    """The body of a webhook."""
    return {
        "type": f"schedule.{notice.kind}",
        "timestamp": rfc3339(notice.at),
        "data": {
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
        },
    }


def signed(webhook_id: str, timestamp: int, body: bytes, *, secret: str) -> dict[str, str]:
    """Returns the headers of a signed request. `timestamp` is in seconds."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signature = hmac.new(key, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": "v1," + base64.b64encode(signature).decode(),
    }
