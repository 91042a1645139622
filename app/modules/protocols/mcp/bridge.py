"""MCP over stdio in front of a KAI that serves elsewhere. Each message is a request of its own, so the bridge
goes on when that KAI was started again.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequestParams,
    ErrorData,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)

from app.core.errors import CannotRun
from app.modules.protocols.mcp.asking import WAITS, can_ask_user

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 600.0
"""Longer than any turn."""

Context = ServerRequestContext[object]


async def serve_bridge(url: str, api_key: str | None) -> None:
    """Serve until stdin ends. Raises `CannotRun` if the KAI at the URL cannot be used."""
    async with _connected(url, api_key) as kai, stdio_server() as (reads, writes):
        server = _server_before(kai)
        await server.run(reads, writes, server.create_initialization_options())


@asynccontextmanager
async def _connected(url: str, api_key: str | None) -> AsyncGenerator[Client]:
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
        await _check(http, url)
        async with AsyncExitStack() as opened:
            try:
                kai = await opened.enter_async_context(
                    Client(
                        streamable_http_client(f"{url}/mcp", http_client=http),
                        cache=None,
                        elicitation_callback=_answers_nothing,
                    )
                )
            except (ExceptionGroup, MCPError) as error:
                raise CannotRun(f"The KAI at {url} serves no MCP.") from error
            yield kai


async def _check(http: httpx2.AsyncClient, url: str) -> None:
    """Raises `CannotRun` with a reason that the SDK would hide."""
    try:
        answer = await http.get(f"{url}/api/v1/me")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise CannotRun(
            f"No KAI answers at {url} ({type(error).__name__}). Start it, or correct --url."
        ) from error
    if answer.status_code == httpx2.codes.UNAUTHORIZED:
        raise CannotRun(f"The KAI at {url} wants a valid key: pass it by --api-key or KAI_API_KEY.")
    if answer.status_code != httpx2.codes.OK:
        raise CannotRun(f"The server at {url} answers {answer.status_code}: it is no KAI, or not ready.")


async def _answers_nothing(context: ClientRequestContext, params: ElicitRequestParams) -> ErrorData:
    """What KAI asks is passed on, and answered by the client before the bridge."""
    return ErrorData(code=INVALID_REQUEST, message="The bridge has no user to ask.")


def _server_before(kai: Client) -> Server[object]:
    """Returns a server that passes every request on. It has the name of the KAI behind it, by which that KAI
    recognizes itself.
    """

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return await kai.list_tools(cursor=params.cursor if params else None)

    async def call_tool(
        context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        result = await kai.session.call_tool(
            params.name,
            params.arguments,
            progress_callback=context.session.report_progress,
            input_responses=params.input_responses,
            request_state=params.request_state,
            allow_input_required=True,
        )
        asks = isinstance(result, InputRequiredResult)
        if asks and not can_ask_user(context.protocol_version, context.session.client_capabilities):
            return CallToolResult(content=[TextContent(text=WAITS)], is_error=True)
        return result

    async def list_resources(_: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        return await kai.list_resources(cursor=params.cursor if params else None)

    async def list_templates(
        _: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return await kai.list_resource_templates(cursor=params.cursor if params else None)

    async def read_resource(_: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await kai.read_resource(str(params.uri))

    async def list_prompts(_: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        return await kai.list_prompts(cursor=params.cursor if params else None)

    async def get_prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return await kai.get_prompt(params.name, params.arguments)

    info = kai.server_info
    if info is None:
        raise CannotRun("The server does not say that it is a KAI.")
    return Server(
        info.name,
        title=info.title,
        version=info.version,
        instructions=kai.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
