"""Counts wrong credentials per client address, and slows the next ones down."""

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TypeVar

from cachetools import LRUCache
from prometheus_client import CollectorRegistry, Counter
from starlette.types import Scope

from app.core.errors import TooMany, Unauthenticated

MAX_WAIT_SECONDS = 5.0
_WINDOW_SECONDS = 60
_ADDRESSES = 10_000
_CREDENTIALS = 10_000

_Found = TypeVar("_Found")

logger = logging.getLogger(__name__)


class TooManyWrongKeys(TooMany):
    """The client's address has sent more wrong credentials than KAI checks."""

    problem = "wrong-keys"
    title = "Too many wrong credentials"

    def __init__(self, wait_seconds: float) -> None:
        super().__init__(
            "Too many wrong API keys or tokens came from this address. Check the credential, and try again "
            "later.",
            retry_after_seconds=math.ceil(wait_seconds),
        )


class WrongKeys:
    """Counts of wrong credentials by address, and the waits that follow from them.

    A credential that has been right in this process is never slowed, so that users who share an attacker's
    address (behind a proxy) can go on. Any other is checked at once while its address has sent at most
    `per_minute` wrong ones a minute, then after a wait, and refused when the wait would be longer than 5
    seconds.

    `per_minute` of 0 counts, and slows nothing.
    """

    def __init__(
        self, per_minute: int, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._used_until: LRUCache[str, float] = LRUCache(_ADDRESSES)
        """By address, the time from which on all of its allowance is there again."""
        self._right: LRUCache[bytes, None] = LRUCache(_CREDENTIALS)
        self._wrong = Counter(
            "kai_wrong_credentials", "Requests refused for a wrong API key or token", registry=registry
        )

    async def checked(self, address: str, credential: str, check: Callable[[], Awaitable[_Found]]) -> _Found:
        """Run a check of a credential, perhaps after a wait.

        Raises `TooManyWrongKeys`, and what the check raises; `Unauthenticated` counts as wrong.
        """
        digest = hashlib.sha256(credential.encode(errors="replace")).digest()
        charged = 0.0 if digest in self._right or not self._per_minute else _WINDOW_SECONDS / self._per_minute
        await self._charge(address, charged)
        try:
            found = await check()
        except Unauthenticated:
            self._wrong.inc()
            self._right.pop(digest, None)
            raise
        except BaseException:
            self._refund(address, charged)
            raise
        self._right[digest] = None
        self._refund(address, charged)
        return found

    async def _charge(self, address: str, seconds: float) -> None:
        if not seconds:
            return
        now = self._clock()
        until = max(now, self._used_until.get(address, now)) + seconds
        wait = until - now - _WINDOW_SECONDS
        if wait > MAX_WAIT_SECONDS:
            raise TooManyWrongKeys(wait)
        self._used_until[address] = until
        if wait >= seconds / 2:
            logger.warning("wrong credentials from %s; answers to them are delayed", address)
            await asyncio.sleep(wait)

    def _refund(self, address: str, seconds: float) -> None:
        if address in self._used_until:
            self._used_until[address] -= seconds


def address_of(scope: Scope) -> str:
    """The client's address; of IPv6, the network of 64 bits that one client usually has to itself."""
    client = scope.get("client")
    host = client[0] if client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((int(address), 64), strict=False))
    return str(address)
