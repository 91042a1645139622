"""Records of the tools of MCP servers that an administrator has approved."""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.documents import Documents
from app.core.storage.port import Equals, Query, Storage
from app.modules.mcp.definition import ToolDefinition

_COLLECTION = "mcp_tools"
_PAGE = 250
_ROOT = "6e0d6b0e-5f4c-5d6b-9a55-1f2f5f3c7a10"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, kw_only=True)
class ApprovedTool:
    """A tool as it was when an administrator approved it. Times are epoch milliseconds."""

    id: str
    server: str
    name: str
    fingerprint: str
    address: str
    description: str
    input_schema: dict[str, JsonValue]
    annotations: dict[str, JsonValue]
    approved_by: str
    approved_at: int

    @property
    def definition(self) -> ToolDefinition:
        """The tool as it described itself."""
        return ToolDefinition(
            name=self.name,
            description=self.description,
            input_schema=self.input_schema,
            annotations=self.annotations,
        )


class McpApprovals:
    """Every method raises `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._approved = Documents(storage, _COLLECTION, ApprovedTool)

    async def of_server(self, server: str) -> dict[str, ApprovedTool]:
        """Returns the approved tools of a server, by name."""
        found = self._approved.all(Query([Equals("server", server)], limit=_PAGE))
        return {each.name: each async for each in found}

    async def find(self, server: str, name: str) -> ApprovedTool | None:
        """Returns an approved tool."""
        return await self._approved.get(_id(server, name))

    async def approve(
        self, server: str, address: str, definition: ToolDefinition, *, by: str
    ) -> ApprovedTool:
        """Store that an administrator approved a tool as it is, in place of an earlier approval."""
        approved = ApprovedTool(
            id=_id(server, definition.name),
            server=server,
            name=definition.name,
            fingerprint=definition.fingerprint(address),
            address=address,
            description=definition.description,
            input_schema=definition.input_schema,
            annotations=definition.annotations,
            approved_by=by,
            approved_at=now_ms(),
        )
        await self._approved.put(approved)
        return approved

    async def withdraw(self, server: str, name: str) -> None:
        """Delete an approval, if there is one."""
        await self._approved.delete(Equals("id", _id(server, name)))


def _id(server: str, name: str) -> str:
    return id_of(_ROOT, f"{server} {name}")
