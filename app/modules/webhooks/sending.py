"""Signed requests to webhooks, as Standard Webhooks describes them.

A receiver may get a message twice, with the same `webhook-id`. It answers 2xx to take it.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address

import httpx2
from pydantic import JsonValue

from app import __version__
from app.core.network.addresses import IpNetwork
from app.core.network.outgoing import AddressRefused, CheckedTransport, checked_address
from app.core.secrets import SecretBox, SecretUnreadable
from app.modules.webhooks.errors import WebhookRefused
from app.modules.webhooks.model import Receiver
from app.modules.webhooks.retries import DeliveryFailed

SETTING = "KAI_SCHEDULES__WEBHOOK_NETWORKS"
_PREFIX = "whsec_"
_SECONDS = 10.0
_AGAIN = frozenset({408, 425, 429})
_GONE = 410


class WebhookSender:
    """Makes, and sends to, receivers. `networks` are private ones that may be sent to."""

    def __init__(self, box: SecretBox, networks: Sequence[IpNetwork]) -> None:
        self._box = box
        self._networks = networks

    async def make(self, url: str) -> tuple[Receiver, str]:
        """Returns a receiver with its new secret, which cannot be read again. Raises `WebhookRefused`."""
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
        return self.rotate(Receiver(host=address.host, url=self._box.encrypt(str(address)), secret=""))

    def secret_of(self, receiver: Receiver) -> str:
        """Raises `SecretUnreadable`."""
        return self._box.decrypt(receiver.secret)

    def rotate(self, receiver: Receiver) -> tuple[Receiver, str]:
        """Returns the receiver with a new secret, and the secret."""
        secret = _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
        return replace(receiver, secret=self._box.encrypt(secret)), secret

    async def send(
        self,
        receiver: Receiver,
        webhook_id: str,
        payload: Mapping[str, JsonValue],
        *,
        now: int,
        previous: Receiver | None = None,
    ) -> None:
        """Send once. The secret of `previous` signs, too. Raises `DeliveryFailed`."""
        signers = [receiver] if previous is None else [receiver, previous]
        try:
            url = httpx2.URL(self._box.decrypt(receiver.url))
            keys = [self._box.decrypt(each.secret) for each in signers]
        except SecretUnreadable:
            raise DeliveryFailed("Its secret cannot be read: give the webhook again.", again=False) from None
        body = json.dumps(payload, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"KAI/{__version__}",
            **signed(webhook_id, now // 1_000, body, keys=keys),
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
            again = status >= 500 or status in _AGAIN
            raise DeliveryFailed(f"The receiver answers {status}.", again=again, is_gone=status == _GONE)

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


def signed(webhook_id: str, timestamp: int, body: bytes, *, keys: Sequence[str]) -> dict[str, str]:
    """Returns the headers of a signed request. `timestamp` is in seconds, and each key signs."""
    content = f"{webhook_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(content, each) for each in keys),
    }


def _signature(content: bytes, key: str) -> str:
    secret = base64.b64decode(key.removeprefix(_PREFIX))
    return "v1," + base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
