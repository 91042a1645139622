"""Records of the tools of MCP servers that an administrator has approved."""

import re
from dataclasses import asdict, dataclass
from typing import cast

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.port import AnyOf, Document, Equals, Storage
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


_APPROVED = TypeAdapter(ApprovedTool)


class McpApprovals:
    """Every method raises `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def of_server(self, server: str) -> dict[str, ApprovedTool]:
        """Returns the approved tools of a server, by name."""
        found: dict[str, ApprovedTool] = {}
        cursor: str | None = None
        while True:
            page = await self._storage.query(
                _COLLECTION, [Equals("server", server)], limit=_PAGE, cursor=cursor
            )
            for each in map(_APPROVED.validate_python, page.items):
                found[each.name] = each
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def find(self, server: str, name: str) -> ApprovedTool | None:
        """Returns an approved tool."""
        found = await self._storage.get(_COLLECTION, _id(server, name))
        return None if found is None else _APPROVED.validate_python(found)

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
        await self._storage.put(_COLLECTION, [cast("Document", asdict(approved))])
        return approved

    async def withdraw(self, server: str, name: str) -> None:
        """Delete an approval, if there is one."""
        await self._storage.delete(_COLLECTION, [AnyOf("id", [_id(server, name)])])


def _id(server: str, name: str) -> str:
    return id_of(_ROOT, f"{server} {name}")
