"""All MCP servers that KAI uses."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from app.modules.mcp.approvals import McpApprovals
from app.modules.mcp.config import McpConfiguration
from app.modules.mcp.connection import McpConnection
from app.modules.mcp.errors import McpServerUnknown
from app.modules.tools.tool import Tool


class McpServers:
    """Connections to the servers of the configuration, in its order."""

    def __init__(self, settings: McpConfiguration, approvals: McpApprovals, own_name: str) -> None:
        self.all: Sequence[McpConnection] = [
            McpConnection(name, server, settings, approvals=approvals, own_name=own_name)
            for name, server in settings.servers.items()
        ]

    def get(self, name: str) -> McpConnection:
        """Returns the connection to a server. Raises `McpServerUnknown`."""
        for each in self.all:
            if each.name == name:
                return each
        raise McpServerUnknown("The configuration (KAI_MCP__CONFIG) names no such server.")

    def tools(self) -> list[Tool]:
        """Returns the approved tools of the servers that are connected now."""
        return [tool for each in self.all for tool in each.offered]


@asynccontextmanager
async def connected_servers(servers: McpServers) -> AsyncGenerator[None]:
    """Connect to the servers within the block, in the background."""
    for each in servers.all:
        each.start()
    try:
        yield
    finally:
        await asyncio.gather(*(each.aclose() for each in servers.all))
