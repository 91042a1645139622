"""A Typesense client that retries while a server is slow, briefly unavailable, or starting.

Every write can be repeated, so every request is retried. With one node, the pauses grow and have jitter.
With several nodes, the client's own rotation tries another node.
"""

import asyncio
import time
import weakref
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx
from httpx._types import HeaderTypes, QueryParamTypes, RequestContent, URLTypes
from httpx_retries import Retry, RetryTransport
from pydantic import SecretStr
from typesense import AsyncClient
from typesense.exceptions import (
    RequestForbidden,
    RequestUnauthorized,
    ServiceUnavailable,
    TypesenseClientError,
)

from app.core.storage.port import StorageFull, StorageRefused, StorageStarting, StorageUnavailable
from app.core.storage.starting import CATCH_UP_SECONDS, NotReadable, catch_up_seconds
from app.core.storage.typesense_transport import KeepAliveTransport

_FORGOTTEN_SECONDS = 60.0
_LOOK_AGAIN_SECONDS = 0.05
_MEASURE_SECONDS = 1.0
_BACKLOG = 1_000
"""More queued writes than this mean a restart: a server that is only under load has fewer."""
_NOT_READY = "Not Ready"
_FULL = "OUT_OF_"
"""Typesense rejects writes with this and DISK or MEMORY."""
_CLIENT_PREFIX = "[Errno 503] "
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class TypesenseAddress:
    """Nodes and key of the store. Of several nodes, the leader is used."""

    nodes: Sequence[str]
    api_key: SecretStr
    timeout_seconds: float
    max_retries: int


class ServerStarting(NotReadable, httpx.TransportError):
    """`remaining_seconds` is an estimate, None if there is none."""

    def __init__(self, message: str, request: httpx.Request, remaining_seconds: int | None = None) -> None:
        super().__init__(message, request=request)
        self.remaining_seconds = remaining_seconds


@dataclass
class _CatchUp:
    """A server that applies its log: since when, from how many queued writes, and when it was seen last."""

    since: float
    first: int
    seen: float


class ReadYourWrites(httpx.AsyncBaseTransport):
    """Transport that prevents reads of stale data.

    For about a second after its start, Typesense reports that it is healthy but answers from a part of its
    data, while it applies the rest of its log (measured with 0.24.1). A follower can be behind its leader.
    After a start every connection is new. So the first read on a connection is repeated once the server has
    no queued writes, and a node that is not the leader raises `httpx.ConnectError`.

    With many documents a start takes minutes (six for a million, measured): first Typesense refuses all
    requests, then it applies its log. Both raise an error that states the duration, instead of waiting.
    """

    def __init__(self, wire: httpx.AsyncBaseTransport, measure_seconds: float = _MEASURE_SECONDS) -> None:
        self._wire = wire
        self._measure_seconds = measure_seconds
        self._current: weakref.WeakSet[object] = weakref.WeakSet()
        self._refused_since: float | None = None
        self._catch_up: _CatchUp | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._wire.handle_async_request(request)
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            self._catch_up = None
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
        """Wait until the server has no queued writes. Raises `ServerStarting` if that takes too long.

        What all requests see is measured together, so only the first ones wait for an estimate.
        """
        began = time.monotonic()
        patience = catch_up_seconds.get()
        while queued := await self._queued_writes(request):
            now = time.monotonic()
            waited = now - began
            seconds, left = self._measured(queued, now)
            lasts_long = left is None or left > CATCH_UP_SECONDS - waited
            is_restart = queued > _BACKLOG and left is not None
            is_known = waited >= self._measure_seconds and (is_restart or seconds > CATCH_UP_SECONDS)
            if waited > patience or (lasts_long and is_known):
                duration = f"for {seconds:.0f} s so far" if left is None else f"for about {left} s more"
                raise ServerStarting(
                    f"it has been started and applies its log {duration} ({queued:,} writes are left)",
                    request,
                    left,
                )
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        self._catch_up = None

    def _measured(self, queued: int, now: float) -> tuple[float, int | None]:
        """Returns for how many seconds the log has been applied, and an estimate of those that are left."""
        catch_up = self._catch_up
        if catch_up is None or now - catch_up.seen > _FORGOTTEN_SECONDS:
            catch_up = self._catch_up = _CatchUp(since=now, first=queued, seen=now)
        catch_up.seen = now
        seconds = now - catch_up.since
        applied = catch_up.first - queued
        return seconds, round(queued * seconds / applied) if applied > 0 else None

    async def _explained(self, response: httpx.Response) -> httpx.Response:
        """Returns the refusal. If the server is starting, its message says why and for how long."""
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


class DirectClient(httpx.AsyncClient):
    """Client that gives requests to its transport as they are: without cookies, redirects and hooks.

    Typesense uses none of them, and httpx spends more CPU on them than on the request.
    """

    async def request(
        self,
        method: str,
        url: URLTypes,
        *,
        content: RequestContent | None = None,
        params: QueryParamTypes | None = None,
        headers: HeaderTypes | None = None,
        **unused: object,
    ) -> httpx.Response:
        """Send a request and read the response. Raises `TypeError` for arguments that it does not support."""
        if unused:
            raise TypeError(f"not supported: {', '.join(unused)}")
        extensions = {"timeout": self.timeout.as_dict()}
        request = httpx.Request(
            method, url, params=params, headers=headers, content=content, extensions=extensions
        )
        response = await self._transport.handle_async_request(request)
        await response.aread()
        return response


@asynccontextmanager
async def typesense_client(address: TypesenseAddress) -> AsyncGenerator[AsyncClient]:
    """Open a client for one event loop. Make its calls within `translated_errors`."""
    retry = Retry(
        total=address.max_retries,
        allowed_methods=_METHODS,
        status_forcelist=[httpx.codes.SERVICE_UNAVAILABLE],
        backoff_factor=0.1,
        max_backoff_wait=2,
    )
    several = len(address.nodes) > 1
    wire: httpx.AsyncBaseTransport = ReadYourWrites(KeepAliveTransport())
    transport = wire if several else RetryTransport(wire, retry)
    async with DirectClient(transport=transport, timeout=address.timeout_seconds) as http:
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
    """Raises `StorageUnavailable`, or a subclass, for every failure of the server or the network."""
    try:
        yield
    except (RequestUnauthorized, RequestForbidden) as error:
        raise StorageRefused(
            "Typesense refuses the key. Set KAI_TYPESENSE__API_KEY to a valid one."
        ) from error
    except (ServiceUnavailable, ServerStarting) as error:
        left = error.remaining_seconds if isinstance(error, ServerStarting) else None
        reason = str(error).removeprefix(_CLIENT_PREFIX)
        raise StorageStarting(f"Typesense is not ready: {reason}.", left) from error
    except TypesenseClientError as error:
        # Typesense names the cause (a full disk, a missing leader), and never what was to be written.
        if _FULL in str(error):
            resource = "memory" if f"{_FULL}MEMORY" in str(error) else "disk"
            raise StorageFull(f"Typesense takes no writes: its {resource} is full.") from error
        raise StorageUnavailable(f"Typesense does not answer as it should: {error}.") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise StorageUnavailable(
            f"Typesense does not answer as it should: {type(error).__name__}. Check that it runs where "
            "KAI_TYPESENSE__NODES says."
        ) from error
