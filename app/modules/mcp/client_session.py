"""An open connection to an MCP server: the adapter of the SDK, and the only place that knows its errors.

Imports the SDK, which takes most of a second; so it is imported only where a server is configured.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import IPv4Network, IPv6Network
from typing import cast

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as WireTool
from pydantic import JsonValue, ValidationError

from app import __version__
from app.core.llm.model import ToolCall
from app.core.network.outgoing import checked_address
from app.core.redaction.text import redacted
from app.modules.mcp.config import HttpServer, StdioServer
from app.modules.mcp.definition import ToolDefinition
from app.modules.mcp.errors import CallFailed, OutcomeUnknown, ServerUnavailable
from app.modules.mcp.http import SETTING, LimitedTransport
from app.modules.mcp.reading import MAX_RESULT_BYTES, MessageLimit
from app.modules.mcp.stdio import stdio_transport

_CONNECT_SECONDS = 5.0
_START_SECONDS = 30.0
"""A program may have to load first."""
_LIST_SECONDS = 5.0
_MOST_PAGES = 20
_TOO_LARGE = (
    f"The result is larger than {MAX_RESULT_BYTES // 1024} KiB, so it was not read. The call may have had "
    "its effect: look before you repeat it, and ask for less."
)

Report = Callable[[str, float], None]


class McpSession:
    """A connection."""

    def __init__(
        self, client: Client, reading: MessageLimit, server: HttpServer | StdioServer, *, call_seconds: float
    ) -> None:
        self._client = client
        self._reading = reading
        self._server = server
        self._call_seconds = call_seconds

    @property
    def name(self) -> str:
        """The name by which the server introduces itself. Empty if it does not."""
        info = self._client.server_info
        return "" if info is None else info.name

    @property
    def ended(self) -> asyncio.Event:
        """Set when the server has closed the connection, where that is noticed at once."""
        return self._reading.ended

    async def definitions(self) -> list[ToolDefinition]:
        """Returns all tools of the server, in its order. Raises `ServerUnavailable`."""
        found: list[ToolDefinition] = []
        cursor: str | None = None
        try:
            with self._reading.of_list():
                async with asyncio.timeout(_LIST_SECONDS):
                    for _ in range(_MOST_PAGES):
                        params = PaginatedRequestParams(cursor=cursor)
                        page = await self._client.session.list_tools(params=params)
                        found += map(_definition, page.tools)
                        cursor = page.next_cursor
                        if cursor is None:
                            break
        except (MCPError, ValidationError, TimeoutError, ExceptionGroup) as error:
            raise ServerUnavailable(f"It does not list its tools ({_reason(error)}).") from error
        return found

    async def check(self, networks: Sequence[IPv4Network | IPv6Network]) -> None:
        """Raises `ServerUnavailable` if the server cannot be reached. No message is sent."""
        if not isinstance(self._server, HttpServer):
            return
        url = httpx2.URL(self._server.url)
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(await checked_address(url, networks, SETTING), port)
        except (OSError, TimeoutError, httpx2.TransportError) as error:
            raise ServerUnavailable(f"It cannot be reached ({_reason(error)}).") from error
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def call(self, name: str, arguments: dict[str, JsonValue], report: Report) -> tuple[str, bool]:
        """Returns the text of a result, and True if the tool says that it failed. Secrets in the arguments
        are redacted.

        Raises `CallFailed` with a text for the model, or `OutcomeUnknown`.
        """

        async def note(progress: float, total: float | None, message: str | None) -> None:
            fraction = min(1.0, max(0.0, progress / total)) if total else -1.0
            report((message or "")[:200], fraction)

        sent = _without_secrets(name, arguments)
        self._reading.exceeded = False
        try:
            async with asyncio.timeout(self._call_seconds):
                result = await self._client.session.send_request(
                    CallToolRequest(params=CallToolRequestParams(name=name, arguments=sent)),
                    CallToolResult,
                    progress_callback=note,
                )
        except TimeoutError as error:
            raise OutcomeUnknown(f"no answer came within {self._call_seconds:g} s") from error
        except ValidationError as error:
            raise OutcomeUnknown("the answer is no result of a tool") from error
        except (MCPError, ExceptionGroup, httpx2.HTTPError, OSError) as error:
            if self._reading.exceeded:
                raise CallFailed(_TOO_LARGE) from error
            if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                raise CallFailed(f"The server refused the call: {redacted(error.message)[:500]}") from error
            raise OutcomeUnknown("the server was lost during the call") from error
        return _text(result), bool(result.is_error)


@asynccontextmanager
async def opened_link(
    server: HttpServer | StdioServer,
    *,
    networks: Sequence[IPv4Network | IPv6Network],
    client_name: str,
    call_seconds: float,
) -> AsyncGenerator[McpSession]:
    """Connects within the block. KAI offers no sampling, no roots and no elicitation.

    Raises `ServerUnavailable`, also if the server is lost in a way that ends the connection.
    """
    reading = MessageLimit()
    try:
        async with AsyncExitStack() as opened:
            if isinstance(server, HttpServer):
                http = await opened.enter_async_context(_http_client(server, networks, reading))
                transport = streamable_http_client(server.url, http_client=http)
            else:
                transport = stdio_transport(server, reading)
            info = Implementation(name=client_name, version=__version__)
            client = Client(transport, client_info=info, cache=None)
            seconds = _CONNECT_SECONDS if isinstance(server, HttpServer) else _START_SECONDS
            with reading.of_list():
                async with asyncio.timeout(seconds):
                    await opened.enter_async_context(client)
            yield McpSession(client, reading, server, call_seconds=call_seconds)
    except (ExceptionGroup, MCPError, httpx2.HTTPError, OSError, ValueError, TimeoutError) as error:
        leaf = _leaf(error)
        if isinstance(leaf, ServerUnavailable):
            raise leaf from error
        raise ServerUnavailable(f"It cannot be connected to ({_reason(error)}).") from error


def _http_client(
    server: HttpServer, networks: Sequence[IPv4Network | IPv6Network], reading: MessageLimit
) -> httpx2.AsyncClient:
    headers = {name: value.get_secret_value() for name, value in server.headers.items()}
    return httpx2.AsyncClient(
        headers={**headers, "Accept-Encoding": "identity"},
        transport=LimitedTransport(networks, reading),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=300.0),
        trust_env=False,
    )


def _definition(tool: WireTool) -> ToolDefinition:
    annotations = tool.annotations
    shown = {} if annotations is None else annotations.model_dump(mode="json", exclude_none=True)
    return ToolDefinition(
        name=tool.name,
        description=tool.description or "",
        input_schema=cast("dict[str, JsonValue]", tool.input_schema),
        annotations=cast("dict[str, JsonValue]", shown),
    )


def _text(result: CallToolResult) -> str:
    """Returns the text blocks of a result. What is no text is named, not shown."""
    parts = [
        block.text if isinstance(block, TextContent) else f"({block.type} left out: only text is read)"
        for block in result.content
    ]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return "\n".join(parts) or "(The tool returned nothing.)"


def _without_secrets(name: str, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Returns the arguments as a model would be sent them."""
    call = ToolCall("", name, json.dumps(arguments, ensure_ascii=False)).redacted()
    found: dict[str, JsonValue] = json.loads(call.arguments)
    return found


def _leaf(error: BaseException) -> BaseException:
    """Returns the first error of a group, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _reason(error: BaseException) -> str:
    """Returns the cause in a few words."""
    error = _leaf(error)
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return redacted(" ".join(str(error).split()) or type(error).__name__)[:300]
