"""A Typesense client that bears with a server that is slow, away for a moment, or just back.

Every write of ours may be repeated, so every request is: with growing, jittered pauses on one node, and
on another node where there are several (the client's own rotation).
"""

import asyncio
import time
import weakref
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx
from httpx_retries import Retry, RetryTransport
from pydantic import SecretStr
from typesense import AsyncClient
from typesense.exceptions import (
    RequestForbidden,
    RequestUnauthorized,
    ServiceUnavailable,
    TypesenseClientError,
)

from app.core.storage.port import StorageRefused, StorageStarting, StorageUnavailable

_CATCH_UP_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.05
_MEASURE_SECONDS = 1.0
_BACKLOG = 1_000
"""Writes that a server under load does not have left to apply, and one after a restart may."""
_NOT_READY = "Not Ready"
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class TypesenseAddress:
    """Where the store is. Of several nodes the one that leads is asked."""

    nodes: Sequence[str]
    api_key: SecretStr
    timeout_seconds: float
    max_retries: int


class ServerStarting(httpx.TransportError):
    """Typesense has been started and cannot be read yet; the text says why and for how long.

    `remaining_seconds` is an estimate, None if there is none.
    """

    def __init__(self, message: str, request: httpx.Request, remaining_seconds: int | None = None) -> None:
        super().__init__(message, request=request)
        self.remaining_seconds = remaining_seconds


class ReadYourWrites(httpx.AsyncBaseTransport):
    """Lets no reader see the past.

    For a second or so after its start, Typesense says that it is well and answers from a part of what it
    holds, while it applies the rest of its log (measured with 0.24.1). And a node that follows another
    one is behind it. A start always shows as a new connection; so what is read first on one is read
    again when the server has nothing left to apply, and a node that does not lead is left for another.

    With many documents a start takes minutes (six for a million, measured): first Typesense refuses all
    requests, then it applies its log. Both are said with their duration; nothing waits for minutes.
    """

    def __init__(self, wire: httpx.AsyncBaseTransport, measure_seconds: float = _MEASURE_SECONDS) -> None:
        self._wire = wire
        self._measure_seconds = measure_seconds
        self._current: weakref.WeakSet[object] = weakref.WeakSet()
        self._refused_since: float | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._wire.handle_async_request(request)
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            return await self._explained(response)
        self._refused_since = None
        connection = response.extensions["network_stream"]
        if connection in self._current or not _reads(request):
            return response
        await response.aread()
        await self._wait_until_current(request)
        self._current.add(connection)
        return await self._wire.handle_async_request(request)

    async def _wait_until_current(self, request: httpx.Request) -> None:
        """Raises `ServerStarting` as soon as it shows that this would take too long."""
        began = time.monotonic()
        first = await self._queued_writes(request)
        queued = first
        while queued:
            seconds = time.monotonic() - began
            applied = first - queued
            left = round(queued * seconds / applied) if applied > 0 else None
            is_long = left is not None and left > _CATCH_UP_SECONDS - seconds and queued > _BACKLOG
            if seconds > _CATCH_UP_SECONDS or (is_long and seconds >= self._measure_seconds):
                duration = f"for {seconds:.0f} s so far" if left is None else f"for about {left} s more"
                raise ServerStarting(
                    f"it has been started and applies its log {duration} ({queued:,} writes are left)",
                    request,
                    left,
                )
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            queued = await self._queued_writes(request)

    async def _explained(self, response: httpx.Response) -> httpx.Response:
        """The refusal, with why and for how long if it is that of a start."""
        body = (await response.aread()).decode(errors="replace")
        if _NOT_READY not in body:
            return response
        now = time.monotonic()
        if self._refused_since is None:
            self._refused_since = now
        message = (
            f"it has been started and loads its documents, for {now - self._refused_since:.0f} s so far; "
            "with a million this takes minutes"
        )
        return httpx.Response(response.status_code, json={"message": message}, extensions=response.extensions)

    async def _queued_writes(self, request: httpx.Request) -> int:
        url = request.url.copy_with(path="/status", query=None)
        answer = await self._wire.handle_async_request(httpx.Request("GET", url, headers=_key_of(request)))
        await answer.aread()
        if answer.status_code != httpx.codes.OK:
            return 0
        status = answer.json()
        if status.get("state", "LEADER") != "LEADER":
            raise httpx.ConnectError("this node does not lead", request=request)
        return int(status.get("queued_writes", 0))

    async def aclose(self) -> None:
        await self._wire.aclose()


def _reads(request: httpx.Request) -> bool:
    return request.method == "GET" or request.url.path == "/multi_search"


def _key_of(request: httpx.Request) -> dict[str, str]:
    return {name: request.headers[name] for name in ("host", "x-typesense-api-key")}


@asynccontextmanager
async def typesense_client(address: TypesenseAddress) -> AsyncGenerator[AsyncClient]:
    """A client for one event loop; its calls are made within `translated_errors`."""
    retry = Retry(
        total=address.max_retries,
        allowed_methods=_METHODS,
        status_forcelist=[httpx.codes.SERVICE_UNAVAILABLE],
        backoff_factor=0.1,
        max_backoff_wait=2,
    )
    several = len(address.nodes) > 1
    wire: httpx.AsyncBaseTransport = ReadYourWrites(httpx.AsyncHTTPTransport())
    transport = wire if several else RetryTransport(wire, retry)
    async with httpx.AsyncClient(transport=transport, timeout=address.timeout_seconds) as http:
        yield AsyncClient(
            {
                "api_key": address.api_key.get_secret_value(),
                "nodes": list(address.nodes),
                "num_retries": len(address.nodes) * address.max_retries if several else 0,
                "retry_interval_seconds": 0.3,  # nodes that have lost their leader choose another in seconds
                "healthcheck_interval_seconds": 5,
            },
            http,
        )


@contextmanager
def translated_errors() -> Generator[None]:
    """Raises `StorageUnavailable` for all that can be wrong with a server or the way to it."""
    try:
        yield
    except (RequestUnauthorized, RequestForbidden) as error:
        raise StorageRefused(
            "Typesense refuses the key. Set KAI_TYPESENSE__API_KEY to a valid one."
        ) from error
    except (ServiceUnavailable, ServerStarting) as error:
        left = error.remaining_seconds if isinstance(error, ServerStarting) else None
        raise StorageStarting(f"Typesense is not ready: {error}.", left) from error
    except TypesenseClientError as error:
        # Typesense names the cause (a full disk, a missing leader), and never what was to be written.
        raise StorageUnavailable(f"Typesense does not answer as it should: {error}.") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise StorageUnavailable(
            f"Typesense does not answer as it should: {type(error).__name__}. Check that it runs where "
            "KAI_TYPESENSE__NODES says."
        ) from error
