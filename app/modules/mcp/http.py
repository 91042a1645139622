"""HTTP to MCP servers: only to allowed addresses, and only so much of an answer."""

from collections.abc import AsyncIterator, Sequence
from ipaddress import IPv4Network, IPv6Network

import httpx2

from app.core.network.outgoing import CheckedTransport
from app.modules.mcp.reading import MessageLimit

SETTING = "KAI_MCP__NETWORKS"


class LimitedTransport(CheckedTransport):
    """Refuses compressed answers, and those of calls that are too long."""

    def __init__(self, networks: Sequence[IPv4Network | IPv6Network], reading: MessageLimit) -> None:
        super().__init__(networks, SETTING)
        self._reading = reading

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `AddressRefused`."""
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.ReadError("the server compresses its answer although it was asked not to")
        stream = response.stream
        if request.method == "POST" and isinstance(stream, httpx2.AsyncByteStream):
            stream = _Limited(stream, self._reading)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer up to the limit."""

    def __init__(self, inner: httpx2.AsyncByteStream, reading: MessageLimit) -> None:
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
