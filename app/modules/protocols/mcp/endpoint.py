"""KAI's MCP server as an ASGI application, opened when it is needed."""

import asyncio
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from app.modules.protocols.mcp.services import McpServices

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class McpEndpoint:
    """Opens KAI's MCP server with the first request: importing the SDK takes most of a second, which a KAI
    without MCP need not wait for.
    """

    def __init__(self, services: McpServices) -> None:
        self._services = services
        self.origins = services.origins
        self._opening = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._closing = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def app(self) -> ASGIApp:
        """Returns the ASGI application of the server, opened."""
        async with self._opening:
            if self._app is None:
                opened: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(self._run(opened), name="MCP server")
                self._app = await opened
            return self._app

    async def aclose(self) -> None:
        """End the server, and with it all requests under way."""
        self._closing.set()
        if self._running is not None:
            await self._running

    async def _run(self, opened: "asyncio.Future[ASGIApp]") -> None:
        """The SDK's sessions begin and end in one task."""
        try:
            manager = await asyncio.to_thread(_session_manager, self._services)
            async with manager.run():
                opened.set_result(manager.handle_request)
                await self._closing.wait()
        except BaseException as error:
            if not opened.done():
                opened.set_exception(error)
                return
            raise


def _session_manager(services: McpServices) -> "StreamableHTTPSessionManager":
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    from app.modules.protocols.mcp.server import mcp_server  # noqa: PLC0415

    server = mcp_server(services)
    # Host and Origin are checked before: the SDK knows no patterns of hosts.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=security)
    return server.session_manager
