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
from typesense.exceptions import RequestForbidden, RequestUnauthorized, TypesenseClientError

from app.core.storage.port import StorageRefused, StorageUnavailable

_CATCH_UP_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.05
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class TypesenseAddress:
    """Where the store is. Of several nodes the one that leads is asked."""

    nodes: Sequence[str]
    api_key: SecretStr
    timeout_seconds: float
    max_retries: int


class ReadYourWrites(httpx.AsyncBaseTransport):
    """Lets no reader see the past.

    For a second or so after its start, Typesense says that it is well and answers from a part of what it
    holds, while it applies the rest of its log (measured with 0.24.1). And a node that follows another
    one is behind it. A start always shows as a new connection; so what is read first on one is read
    again when the server has nothing left to apply, and a node that does not lead is left for another.
    """

    def __init__(self, wire: httpx.AsyncBaseTransport) -> None:
        self._wire = wire
        self._current: weakref.WeakSet[object] = weakref.WeakSet()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._wire.handle_async_request(request)
        connection = response.extensions["network_stream"]
        if connection in self._current or not _reads(request):
            return response
        await response.aread()
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        while await self._lags(request):
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("the server applies its log for too long", request=request)
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        self._current.add(connection)
        return await self._wire.handle_async_request(request)

    async def _lags(self, request: httpx.Request) -> bool:
        url = request.url.copy_with(path="/status", query=None)
        answer = await self._wire.handle_async_request(httpx.Request("GET", url, headers=_key_of(request)))
        await answer.aread()
        if answer.status_code != httpx.codes.OK:
            return False
        status = answer.json()
        if status.get("state", "LEADER") != "LEADER":
            raise httpx.ConnectError("this node does not lead", request=request)
        return bool(status.get("queued_writes", 0) > 0)

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
    except TypesenseClientError as error:
        # Typesense names the cause (a full disk, a missing leader), and never what was to be written.
        raise StorageUnavailable(f"Typesense does not answer as it should: {error}.") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise StorageUnavailable(
            f"Typesense does not answer as it should: {type(error).__name__}. Check that it runs where "
            "KAI_TYPESENSE__NODES says."
        ) from error
