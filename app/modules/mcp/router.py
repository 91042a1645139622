"""Routes of the MCP servers that KAI uses."""

from typing import Annotated

from fastapi import Depends, Path, Request, status

from app.core.errors import NotFound
from app.http.callers import ADMIN, READ, Owner
from app.http.router import Router
from app.modules.agent.capabilities import Capabilities
from app.modules.mcp.schemas import McpServerBody, McpServerList, McpToolBody, ToolApproval
from app.modules.mcp.servers import McpServers

router = Router(prefix="/mcp/servers", tags=["mcp"])


async def _servers(request: Request) -> McpServers:
    """Raises `NotFound` where investigations are off, which alone use the servers."""
    capabilities: Capabilities = request.app.state.services.capabilities
    if not capabilities.investigations.on:
        raise NotFound(f"Investigations are off. {capabilities.investigations.reason}")
    servers: McpServers = request.app.state.services.mcp_servers
    return servers


Servers = Annotated[McpServers, Depends(_servers)]
ServerName = Annotated[str, Path(description="Name of the server in the configuration.")]
ToolName = Annotated[str, Path(description="Name of the tool, as the server gives it.")]


@router.get("", summary="List the MCP servers that KAI uses", dependencies=[READ])
async def list_servers(servers: Servers) -> McpServerList:
    """Lists the servers of the configuration with their state and tools: for each tool what it is now and
    what was approved. Needs scope `read`.

    Servers are named by a file (`KAI_MCP__CONFIG`), never by a route. Answers 404 if investigations are off.
    """
    return McpServerList(items=[McpServerBody.of(each) for each in servers.all])


@router.post(
    "/{name}/tools/{tool:path}/approve", summary="Approve a tool of an MCP server", dependencies=[ADMIN]
)
async def approve_tool(
    name: ServerName, tool: ToolName, body: ToolApproval, owner: Owner, servers: Servers
) -> McpToolBody:
    """Approves a tool as it is, so that investigations in agent mode can offer it; each call still asks.
    Needs scope `admin`.

    Answers 404 for an unknown server or tool, and 409 (`mcp-tool-changed`) if the fingerprint is no longer
    that of the tool. Other processes know of it within 15 seconds.
    """
    return McpToolBody.of(await servers.get(name).approve(tool, body.fingerprint, by=owner))


@router.delete(
    "/{name}/tools/{tool:path}/approve",
    summary="Withdraw the approval of a tool of an MCP server",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[ADMIN],
)
async def withdraw_approval(name: ServerName, tool: ToolName, servers: Servers) -> None:
    """Withdraws an approval; calls that wait for a decision are then refused. Needs scope `admin`.

    Answers 404 for an unknown server. Can be repeated.
    """
    await servers.get(name).withdraw(tool)
