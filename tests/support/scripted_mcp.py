"""A real MCP server by the SDK, whose tools do what a file says: `python -m tests.support.scripted_mcp`.

Over stdio by default, over HTTP with `--port`. The file may change while it runs.
"""

import argparse
import asyncio
import json
import os
from pathlib import Path

import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

Context = ServerRequestContext[object]
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}


def scripted_server(script: Path, calls: Path) -> Server[object]:
    """`script` is a JSON object: `name`, `description`, `tools` (names), `more_tools` (a number),
    `schema` and `annotations` (of all tools), `hang_list`, `results` (what a call answers to a text: a text,
    or a whole result). Each call is a line of `calls`.
    """

    def read() -> dict[str, object]:
        found: dict[str, object] = json.loads(script.read_text())
        return found

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        wanted = read()
        if wanted.get("hang_list"):
            await asyncio.sleep(600)
        names = wanted.get("tools", ["echo", "hang", "flood", "die", "fail", "environment"])
        assert isinstance(names, list)
        names = [*names, *(f"tool{n}" for n in range(int(str(wanted.get("more_tools", 0)))))]
        description = str(wanted.get("description", "Says what it is given."))
        said = {"description": description, "inputSchema": wanted.get("schema", SCHEMA)}
        annotations = wanted.get("annotations")
        return ListToolsResult(
            tools=[Tool.model_validate({"name": name, **said, "annotations": annotations}) for name in names]
        )

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        arguments = params.arguments or {}
        with calls.open("a") as lines:
            lines.write(json.dumps({"tool": params.name, "arguments": arguments}) + "\n")
        match params.name:
            case "hang":
                await asyncio.sleep(600)
            case "flood":
                return _said("x" * 5_000_000)
            case "die":
                os._exit(3)
            case "fail":
                return CallToolResult(content=[TextContent(text="It is out of order.")], is_error=True)
            case "environment":
                return _said(json.dumps(dict(os.environ)))
        await context.session.report_progress(1, 2, "halfway")
        results = read().get("results", {})
        assert isinstance(results, dict)
        text = str(arguments.get("text"))
        result = results.get(text, f"You said {text}.")
        return _said(result) if isinstance(result, str) else CallToolResult.model_validate(result)

    name = str(read().get("name", "scripted"))
    return Server(name, version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def _said(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


async def _serve_stdio(server: Server[object]) -> None:
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--script", type=Path, required=True)
    options.add_argument("--calls", type=Path, required=True)
    options.add_argument("--port", type=int)
    given = options.parse_args()
    server = scripted_server(given.script, given.calls)
    if given.port is None:
        asyncio.run(_serve_stdio(server))
    else:
        app = server.streamable_http_app(stateless_http=True)
        uvicorn.run(app, host="127.0.0.1", port=given.port, log_level="error")


if __name__ == "__main__":
    main()
