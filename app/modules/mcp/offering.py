"""Approved tools of an MCP server as tools of investigations."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from pydantic import BaseModel, JsonValue

from app.core.ids import digest
from app.core.redaction.text import redacted_address
from app.modules.mcp.arguments import arguments_of
from app.modules.mcp.config import HttpServer, StdioServer
from app.modules.mcp.definition import ToolDefinition
from app.modules.tools.context import ReportProgress, ToolContext
from app.modules.tools.tool import Tool, ToolResult

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME = 64
_CHECK_SECONDS = 5.0
"""For the comparison with the approval before a call."""

MakeCall = Callable[[ToolDefinition, dict[str, JsonValue], ReportProgress], Awaitable[ToolResult]]


def tools_of(
    server: str,
    config: HttpServer | StdioServer,
    definitions: Sequence[ToolDefinition],
    *,
    call: MakeCall,
    call_seconds: float,
) -> list[Tool]:
    """Returns the tools, each as `server__tool`."""
    names = _names(server, [each.name for each in definitions])
    return [
        _tool(names[each.name], server, config, definition=each, call=call, call_seconds=call_seconds)
        for each in definitions
    ]


def _tool(
    name: str,
    server: str,
    config: HttpServer | StdioServer,
    *,
    definition: ToolDefinition,
    call: MakeCall,
    call_seconds: float,
) -> Tool:
    async def run(arguments: BaseModel, context: ToolContext) -> ToolResult:
        return await call(definition, arguments.model_dump(mode="json"), context.progress)

    return Tool(
        name=name,
        toolset=server,
        category="external",
        description=definition.description,
        arguments=arguments_of(definition.input_schema),
        run=run,
        describe=partial(_described, definition.name, server),
        source="mcp",
        server=redacted_address(config.address),
        timeout_seconds=call_seconds + _CHECK_SECONDS,
    )


def _described(tool: str, server: str, _: BaseModel) -> str:
    return f"Send these arguments to the tool {tool} of the MCP server {server}, which is outside of KAI."


def _names(server: str, tools: Sequence[str]) -> Mapping[str, str]:
    """Returns names that models accept. A name that had to be changed gets a mark that keeps it apart."""
    names: dict[str, str] = {}
    for tool in tools:
        name = f"{server}__{_UNSAFE.sub('_', tool)}"
        if name != f"{server}__{tool}" or len(name) > _MAX_NAME:
            mark = digest(tool)[:6]
            name = f"{name[: _MAX_NAME - len(mark) - 1]}_{mark}"
        names[tool] = name
    return names
