"""HTTP to addresses that users or administrators name: only to allowed ones, and without proxies."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address

import httpx2

from app.core.network.addresses import IpNetwork, is_connectable, is_metadata_name

_PORTS = {"http": 80, "https": 443}


class AddressRefused(httpx2.TransportError):
    """The server is at an address that KAI does not connect to."""


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Connects to the very address that was checked, so that no later answer of a name server counts.

    `setting` names the setting of the networks in the text of a refusal.
    """

    def __init__(self, networks: Sequence[IpNetwork], setting: str) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._networks = networks
        self._setting = setting

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `AddressRefused`."""
        host = request.url.host
        address = await checked_address(request.url, self._networks, self._setting)
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def checked_address(url: httpx2.URL, networks: Sequence[IpNetwork], setting: str) -> str:
    """Returns an address of the URL's host. Raises `AddressRefused` if one of them is not allowed."""
    host = url.host
    if is_metadata_name(host):
        raise AddressRefused("The host is a cloud's metadata service.")
    port = url.port or _PORTS.get(url.scheme, 0)
    addresses = [host] if _is_address(host) else await _resolved(host, port)
    if not all(is_connectable(ip_address(each), networks) for each in addresses):
        raise AddressRefused(
            "The host has a private, local or reserved address. To allow it, add its network to "
            f"{setting}; a cloud's metadata service is never connected to."
        )
    return addresses[0]


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
