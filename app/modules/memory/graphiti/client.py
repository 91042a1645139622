"""Client of Graphiti's REST service (`graph_service`), as releases 0.29 to 0.31 behave.

Its defects shape the methods here. It has no authentication, so an address is checked before anything is
sent to it. A failed request resets the next one on its connection, so every request has its own. An answer
says little, so callers check what it has led to.
"""

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from types import TracebackType
from typing import Literal, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import JsonValue

from app.core.network.addresses import IpNetwork, is_connectable, is_metadata_name
from app.modules.memory.graphiti.circuit import Circuit
from app.modules.memory.scopes import GroupId

MAX_ANSWER_BYTES = 256 * 1024
MAX_TEXT_CHARACTERS = 500
LAST_EPISODES = 20
"""Episodes that are looked through for a name."""

_SECONDS = 10.0
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ANY = (ip_network("0.0.0.0/0"), ip_network("::/0"))
_PORTS = {"http": 80, "https": 443}

RoleType = Literal["user", "assistant", "system"]
T = TypeVar("T")


class GraphitiFailed(Exception):
    """A request to Graphiti has failed. The text holds no secret.

    `may_have_arrived`: the service may have taken the request all the same.
    """

    may_have_arrived = False


class GraphitiUnavailable(GraphitiFailed):
    """The service cannot be reached, is too slow, or answers with an error of its own."""

    def __init__(self, text: str, *, may_have_arrived: bool = False) -> None:
        super().__init__(text)
        self.may_have_arrived = may_have_arrived


class GraphitiSkipped(GraphitiFailed):
    """No request was sent: the latest ones have failed (`Circuit`)."""


class GraphitiRefused(GraphitiFailed):
    """The service, or a proxy before it, does not take the request. Trying again does not help."""


class AddressNotAllowed(GraphitiRefused):
    """KAI does not send memories to this address."""


class AnswerTooLarge(GraphitiFailed):
    """The answer is longer than `MAX_ANSWER_BYTES`."""


@dataclass(frozen=True)
class GraphitiAddress:
    """`header` is the value of `Authorization` for a proxy before the service."""

    endpoint: str
    header: str | None = None
    networks: Sequence[IpNetwork] = ()


@dataclass(frozen=True, kw_only=True)
class GraphMessage:
    """A message to remember. It has no uuid: one made by a client stops the service's worker."""

    name: str
    role_type: RoleType
    content: str
    timestamp: str
    """RFC 3339."""
    source_description: str = "kai"

    def body(self) -> dict[str, JsonValue]:
        role = "KAI" if self.role_type == "assistant" else self.role_type
        return {
            "name": self.name,
            "role_type": self.role_type,
            "role": role,  # the service answers 422 without it
            "content": self.content,
            "timestamp": self.timestamp,
            "source_description": self.source_description,
        }


@dataclass(frozen=True)
class Episode:
    """A message that the service has taken in."""

    name: str
    uuid: str
    content: str


@dataclass(frozen=True)
class GraphFact:
    """A sentence that the service has derived: text from outside, to be fenced in a prompt."""

    text: str


class GraphitiClient:
    """Methods raise `GraphitiFailed`. Nothing is connected to before the first call."""

    def __init__(self, address: GraphitiAddress, circuit: Circuit | None = None) -> None:
        self.circuit = circuit or Circuit()
        self._address = address
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def check_health(self) -> None:
        """Proves that something answers, and nothing more: the answer is a constant."""
        await self._twice("GET", "/healthcheck")

    async def add_messages(self, group: GroupId, messages: Sequence[GraphMessage]) -> None:
        """Returns once the service has accepted the messages. That it keeps them is another matter."""
        body: JsonValue = {"group_id": group, "messages": [each.body() for each in messages]}
        await self._request("POST", "/messages", body)

    async def search(
        self, groups: Sequence[GroupId], query: str, *, max_facts: int, seconds: float = _SECONDS
    ) -> list[GraphFact]:
        """Returns at most so many facts, the most relevant first, without those that hold no longer.

        Raises `ValueError` without a group: the service would search all of them, or none.
        """
        if not groups:
            raise ValueError("name at least one group")
        body: JsonValue = {"group_ids": list(groups), "query": query, "max_facts": max_facts}
        answer = await self._twice("POST", "/search", body, seconds=seconds)
        return _facts(answer, groups)[:max_facts]

    async def episodes(self, group: GroupId, last: int = LAST_EPISODES) -> list[Episode]:
        """Returns so many of a group's latest episodes."""
        return _episodes(await self._twice("GET", f"/episodes/{group}?last_n={last}"))

    async def delete_group(self, group: GroupId) -> None:
        """The service answers 200 even if it deletes nothing."""
        await self._request("DELETE", f"/group/{group}")

    async def delete_episode(self, uuid: str) -> None:
        """Does nothing if there is no such episode."""
        try:
            await self._request("DELETE", f"/episode/{quote(uuid, safe='')}")
        except _NotThere:
            return

    async def _twice(
        self, method: str, path: str, body: JsonValue = None, *, seconds: float = _SECONDS
    ) -> JsonValue:
        """A request that changes nothing. It is sent again if its connection was reset."""
        async with _within(seconds), self._counted():
            try:
                return await self._send(method, path, body)
            except _ConnectionReset:
                return await self._send(method, path, body)

    async def _request(self, method: str, path: str, body: JsonValue = None) -> JsonValue:
        async with self._counted():
            return await self._send(method, path, body)

    @asynccontextmanager
    async def _counted(self) -> AsyncGenerator[None]:
        """Raises `GraphitiSkipped` while the circuit is open."""
        if not self.circuit.admit():
            raise GraphitiSkipped("Graphiti has failed several times in a row; it is tried again in a minute")
        failed = True  # also if the caller stops waiting
        try:
            yield
            failed = False
        except (GraphitiRefused, AnswerTooLarge):
            failed = False
            raise
        finally:
            if failed:
                self.circuit.fail()
            else:
                self.circuit.succeed()

    async def _send(self, method: str, path: str, body: JsonValue) -> JsonValue:
        if self._client is None:
            self._client = _http_client(self._address)
        arrived = False
        try:
            async with (
                asyncio.timeout(_SECONDS),
                self._client.stream(method, self._address.endpoint + path, json=body) as response,
            ):
                arrived = True
                return _parsed(response.status_code, await _read(response))
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise GraphitiUnavailable("Graphiti cannot be reached") from None
        except (TimeoutError, httpx.TimeoutException):
            raise GraphitiUnavailable("Graphiti does not answer in time", may_have_arrived=True) from None
        except httpx.TransportError:
            if arrived:
                raise GraphitiUnavailable("Graphiti's answer was cut off", may_have_arrived=True) from None
            raise _ConnectionReset("Graphiti has reset the connection", may_have_arrived=True) from None


class _ConnectionReset(GraphitiUnavailable):
    """The connection ended before an answer began."""


class _NotThere(GraphitiRefused):
    """The service answers 404."""


@asynccontextmanager
async def _within(seconds: float) -> AsyncGenerator[None]:
    """Raises `GraphitiUnavailable` when the time is over."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise GraphitiUnavailable("Graphiti does not answer in time") from None


class _CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the very address that was checked, so that no later answer of a name server counts."""

    def __init__(self, networks: Sequence[IpNetwork]) -> None:
        limits = httpx.Limits(max_connections=20, max_keepalive_connections=0)
        self._inner = httpx.AsyncHTTPTransport(trust_env=False, limits=limits)
        self._networks = networks

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises `AddressNotAllowed`, or `httpx.ConnectError` for an unknown host."""
        host = request.url.host
        address = await _checked_address(request.url, self._networks)
        sent = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _checked_address(url: httpx.URL, networks: Sequence[IpNetwork]) -> str:
    """Returns an address of the URL's host. Without TLS, all have to be loopback or in `networks`."""
    if is_metadata_name(url.host):
        raise AddressNotAllowed("the endpoint of Graphiti is a cloud's metadata service")
    try:
        port = url.port or _PORTS[url.scheme]
        found = await asyncio.to_thread(socket.getaddrinfo, url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise httpx.ConnectError("the host is unknown") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for text in addresses:
        address = ip_address(text)
        if address.is_loopback:
            continue
        if not is_connectable(address, _ANY):
            raise AddressNotAllowed("the endpoint of Graphiti is a cloud's metadata service")
        if url.scheme != "https" and not any(address in network for network in networks):
            raise AddressNotAllowed(
                "without TLS, Graphiti has to be on this machine or in KAI_GRAPH_MEMORY__NETWORKS; use "
                "https:// or add its network"
            )
    return addresses[0]


def _http_client(address: GraphitiAddress) -> httpx.AsyncClient:
    headers = {"Accept-Encoding": "identity", "Accept": "application/json"}
    if address.header is not None:
        headers["Authorization"] = address.header
    return httpx.AsyncClient(
        transport=_CheckedTransport(address.networks),
        headers=headers,
        timeout=_SECONDS,
        follow_redirects=False,
        trust_env=False,
    )


async def _read(response: httpx.Response) -> bytes:
    """Raises `AnswerTooLarge`, or `GraphitiRefused` for a compressed answer, which was not asked for."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise GraphitiRefused("Graphiti compresses its answer although it was asked not to")
    read = bytearray()
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) > MAX_ANSWER_BYTES:
            raise AnswerTooLarge(f"Graphiti's answer is longer than {MAX_ANSWER_BYTES // 1024} KiB")
    return bytes(read)


def _parsed(status: int, body: bytes) -> JsonValue:
    if status >= 500 or status == 429:
        raise GraphitiUnavailable(f"Graphiti answers {status}")
    if status == 404:
        raise _NotThere("Graphiti answers 404")
    if not 200 <= status < 300:
        raise GraphitiRefused(f"Graphiti answers {status}")
    try:
        parsed: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        raise GraphitiUnavailable("Graphiti's answer is not JSON", may_have_arrived=True) from None
    return parsed


def _facts(answer: JsonValue, groups: Sequence[GroupId]) -> list[GraphFact]:
    """Older services leave fields out. An item without a text is left out, and one that names a group which
    was not asked.
    """
    listed = answer.get("facts") if isinstance(answer, dict) else None
    found = _items(listed, lambda item: _fact(item) if item.get("group_id") in (None, *groups) else None)
    return list(dict.fromkeys(found))


def _fact(item: Mapping[str, JsonValue]) -> GraphFact | None:
    if _is_past(item.get("invalid_at")) or _is_past(item.get("expired_at")):
        return None
    text = _text(item.get("fact"))
    return GraphFact(text) if text else None


def _episodes(answer: JsonValue) -> list[Episode]:
    return _items(answer, _episode)


def _episode(item: Mapping[str, JsonValue]) -> Episode | None:
    name, uuid = item.get("name"), item.get("uuid")
    if not isinstance(name, str) or not isinstance(uuid, str):
        return None
    return Episode(name, uuid, _text(item.get("content")))


def _items(listed: JsonValue, read: Callable[[Mapping[str, JsonValue]], T | None]) -> list[T]:
    if not isinstance(listed, list):
        raise GraphitiRefused("Graphiti's answer is no list")
    items = (read(each) for each in listed if isinstance(each, dict))
    return [each for each in items if each is not None]


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        return ""
    return " ".join(_CONTROL_CHARACTERS.sub(" ", value).split())[:MAX_TEXT_CHARACTERS]


def _is_past(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return False
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return False
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) <= datetime.now(UTC)
