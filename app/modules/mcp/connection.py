"""One MCP server that KAI uses: connected in the background, its tools checked against their approvals."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.storage.port import StorageUnavailable
from app.modules.mcp.approvals import ApprovedTool, McpApprovals
from app.modules.mcp.config import HttpServer, McpConfiguration, StdioServer
from app.modules.mcp.definition import ToolDefinition
from app.modules.mcp.errors import CallFailed, McpToolUnknown, ServerUnavailable, ToolHasChanged
from app.modules.mcp.offering import tools_of
from app.modules.tools.context import ReportProgress
from app.modules.tools.tool import Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from app.modules.mcp.client_session import McpSession

Status = Literal["NotConnected", "Connecting", "Connected", "FailedToConnect"]
ToolState = Literal["approved", "new", "changed", "unusable"]

MAX_TOOLS = 40
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_PROBE_SECONDS = 5.0
_APPROVALS_SECONDS = 15.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SeenTool:
    """A tool as its server describes it now, and as it was approved."""

    definition: ToolDefinition
    fingerprint: str
    fault: str | None
    """Why it cannot be used. None if it can."""
    approved: ApprovedTool | None

    @property
    def state(self) -> ToolState:
        if self.fault is not None:
            return "unusable"
        if self.approved is None:
            return "new"
        return "approved" if self.approved.fingerprint == self.fingerprint else "changed"


class McpConnection:
    """Tries again with growing pauses while the server is unavailable."""

    def __init__(
        self,
        name: str,
        server: HttpServer | StdioServer,
        settings: McpConfiguration,
        *,
        approvals: McpApprovals,
        own_name: str,
    ) -> None:
        self.name = name
        self.server = server
        self.status: Status = "NotConnected"
        self.error: str | None = None
        self.connected_at: int | None = None
        self.seen: Sequence[SeenTool] = ()
        self.left_out = 0
        """Tools beyond the most that are taken of a server."""
        self.offered: Sequence[Tool] = ()
        self._settings = settings
        self._approvals = approvals
        self._own_name = own_name
        self._link: McpSession | None = None
        self._lost = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connect in the background."""
        self._keeping = asyncio.create_task(self._keep(), name=f"MCP server {self.name}")

    async def aclose(self) -> None:
        """Disconnect."""
        if self._keeping is not None:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        self._disconnected("NotConnected", None)

    async def approve(self, tool: str, fingerprint: str, *, by: str) -> SeenTool:
        """Approve a tool as an administrator has seen it.

        Raises `McpToolUnknown`, or `ToolHasChanged` if it is no longer so or cannot be used.
        """
        seen = self.find(tool)
        if seen.fingerprint != fingerprint:
            raise ToolHasChanged(
                "The tool is not as you have seen it. Read GET /mcp/servers again and approve what it shows.",
                fingerprint=seen.fingerprint,
            )
        if seen.fault is not None:
            raise ToolHasChanged(f"The tool cannot be used: {seen.fault}.")
        await self._approvals.approve(self.name, self.server.address, seen.definition, by=by)
        await self._read_approvals()
        return self.find(tool)

    async def withdraw(self, tool: str) -> None:
        """Withdraw the approval of a tool, also while the server is unavailable."""
        await self._approvals.withdraw(self.name, tool)
        await self._read_approvals()

    def find(self, tool: str) -> SeenTool:
        """Returns a tool that the server offers now. Raises `McpToolUnknown`."""
        for each in self.seen:
            if each.definition.name == tool:
                return each
        raise McpToolUnknown(f"The server {self.name} ({self.status}) offers no such tool now.")

    # In the background

    async def _keep(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            began = monotonic()
            self._disconnected("Connecting", self.error)
            try:
                await self._stay_connected()
            except ServerUnavailable as error:
                self._disconnected("FailedToConnect", str(error))
            except StorageUnavailable:
                self._disconnected("FailedToConnect", "KAI's store does not answer.")
            logger.warning("MCP server %s is unavailable: %s", self.name, self.error)
            if monotonic() - began > _LONGEST_PAUSE_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE_SECONDS, 2 * pause)

    async def _stay_connected(self) -> None:
        """Raises `ServerUnavailable` when the connection has ended, or `StorageUnavailable`."""
        # The SDK takes most of a second to import.
        await asyncio.to_thread(import_module, "app.modules.mcp.client_session")
        from app.modules.mcp.client_session import opened_link  # noqa: PLC0415 - loaded by now

        async with opened_link(
            self.server,
            networks=self._settings.networks,
            client_name=self._own_name,
            call_seconds=self._settings.call_seconds,
        ) as link:
            if link.name == self._own_name:
                raise ServerUnavailable("This is KAI itself. Take it out of KAI_MCP__CONFIG.")
            await self._look(link)
            self._lost.clear()
            self._link = link
            self.status = "Connected"
            self.error = None
            self.connected_at = now_ms()
            logger.info("MCP server %s is connected: %d tools", self.name, len(self.seen))
            await self._watch(link)

    async def _watch(self, link: "McpSession") -> None:
        """Raises `ServerUnavailable` when the server is lost."""
        looked = approvals_read = monotonic()
        while not self._lost.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(link.ended.wait(), min(_PROBE_SECONDS, self._settings.check_seconds))
                raise ServerUnavailable("The server has ended.")
            await link.check(self._settings.networks)
            if monotonic() - looked >= self._settings.check_seconds:
                looked = approvals_read = monotonic()
                await self._look(link)
            elif monotonic() - approvals_read >= _APPROVALS_SECONDS:
                approvals_read = monotonic()
                await self._read_approvals()
        raise ServerUnavailable("The server was lost during a call.")

    def _disconnected(self, status: Status, error: str | None) -> None:
        self._link = None
        self.status = status
        self.error = error
        self.connected_at = None
        self.seen = ()
        self.left_out = 0
        self.offered = ()

    # Tools and approvals

    async def _look(self, link: "McpSession") -> None:
        """Read the server's tools, and what was approved of them."""
        self._show(await link.definitions(), await self._approvals.of_server(self.name))

    async def _read_approvals(self) -> None:
        approved = await self._approvals.of_server(self.name)
        self._show([each.definition for each in self.seen], approved, self.left_out)

    def _show(
        self, definitions: Sequence[ToolDefinition], approved: dict[str, ApprovedTool], left_out: int = 0
    ) -> None:
        by_name: dict[str, ToolDefinition] = {}
        for each in definitions:
            by_name.setdefault(each.name, each)
        taken = list(by_name.values())[:MAX_TOOLS]
        self.left_out = left_out + len(by_name) - len(taken)
        self.seen = [
            SeenTool(
                definition=each,
                fingerprint=each.fingerprint(self.server.address),
                fault=each.fault(),
                approved=approved.get(each.name),
            )
            for each in taken
        ]
        usable = [each.definition for each in self.seen if each.state == "approved"]
        self.offered = tools_of(
            self.name, self.server, usable, call=self.call, call_seconds=self._settings.call_seconds
        )

    async def call(
        self, definition: ToolDefinition, arguments: dict[str, JsonValue], report: ReportProgress
    ) -> ToolResult:
        """Make a call of a tool that is still as it was approved.

        Raises `ToolFailed`, or `OutcomeUnknown` if the call was sent and no answer came.
        """
        link = self._link
        if link is None or link.ended.is_set():
            raise ToolFailed(f"The MCP server {self.name} is not connected. The call was not made.")
        try:
            await self._check_again(link, definition)
            text, is_error = await link.call(definition.name, arguments, report)
        except ServerUnavailable as error:
            self._lost.set()
            raise ToolFailed(f"{error} The call was not made.") from error
        except CallFailed as failed:
            raise ToolFailed(str(failed)) from failed
        return ToolResult(text=text, is_error=is_error)

    async def _check_again(self, link: "McpSession", definition: ToolDefinition) -> None:
        """Compare the tool with its approval, both read again. Raises `ToolFailed` if they differ."""
        definitions, approved = await asyncio.gather(
            link.definitions(), self._approvals.find(self.name, definition.name)
        )
        now = next((each for each in definitions if each.name == definition.name), None)
        is_approved = (
            approved is not None
            and approved.address == self.server.address
            and approved.definition == definition
        )
        if now == definition and is_approved:
            return
        self._show(definitions, await self._approvals.of_server(self.name))
        if now is None:
            raise ToolFailed("The server no longer has this tool. The call was not made.")
        raise ToolFailed(
            "The tool has changed, or is no longer approved by an administrator. The call was not made."
        )
