"""HTTP to MCP servers: only to allowed addresses, without proxies, and only so much of an answer."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address

import httpx2

from app.modules.database_connection.addresses import is_connectable, is_metadata_name
from app.modules.mcp.reading import Reading

_PORTS = {"http": 80, "https": 443}


class AddressRefused(httpx2.TransportError):
    """The server is at an address that KAI does not connect to."""


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects to the very address that was checked, so that no later answer of a name server counts."""

    def __init__(self, networks: Sequence[IPv4Network | IPv6Network], reading: Reading) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._networks = networks
        self._reading = reading

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `AddressRefused`."""
        host = request.url.host
        address = await checked_address(request.url, self._networks)
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        response = await self._inner.handle_async_request(sent)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the server compresses its answer although it was asked not to")
        stream = response.stream
        if request.method == "POST" and isinstance(stream, httpx2.AsyncByteStream):
            stream = _Limited(stream, self._reading)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer up to the limit."""

    def __init__(self, inner: httpx2.AsyncByteStream, reading: Reading) -> None:
        self._inner = inner
        self._reading = reading

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._reading.max_bytes:
                raise httpx2.ReadError("the answer is too long") from self._reading.refuse()
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _resolved(host: str, port: int) -> list[str]:
    try:
        found = await asyncio.to_thread(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused("The host is unknown.") from None
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def checked_address(url: httpx2.URL, networks: Sequence[IPv4Network | IPv6Network]) -> str:
    """Returns an address of the URL's host. Raises `AddressRefused` if one of them is not allowed."""
    host = url.host
    if is_metadata_name(host):
        raise AddressRefused("The host is a cloud's metadata service.")
    port = url.port or _PORTS.get(url.scheme, 0)
    addresses = [host] if _is_address(host) else await _resolved(host, port)
    if not all(is_connectable(ip_address(each), networks) for each in addresses):
        raise AddressRefused(
            "The host has a private, local or reserved address. To allow it, add its network to "
            "KAI_MCP__NETWORKS; a cloud's metadata service is never connected to."
        )
    return addresses[0]
