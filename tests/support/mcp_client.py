"""The SDK's own client in front of KAI, over HTTP and over stdio."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from pydantic import JsonValue

SECONDS = 60.0


@asynccontextmanager
async def mcp_client(
    address: str, key: str | None = None, mode: str = "auto", *, user: ElicitationFnT | None = None
) -> AsyncGenerator[Client]:
    """A client of the KAI at this address. `legacy` is the revision with a handshake. `user` answers forms;
    without one the client shows none.
    """
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
        Client(
            streamable_http_client(f"{address}/mcp", http_client=http), mode=mode, elicitation_callback=user
        ) as client,
    ):
        yield client


def kai_mcp(*options: str, **variables: str) -> StdioServerParameters:
    """`kai mcp` with these options, for a client that starts it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KAI_", "OPENAI_"))}
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", "from app.cli import main; main()", "mcp", *options],
        env={**clean, **variables},
    )


async def said_by(client: Client, tool: str, **arguments: JsonValue) -> dict[str, Any]:
    """The structured answer of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused_by(client: Client, tool: str, **arguments: JsonValue) -> str:
    """The error of a tool."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
