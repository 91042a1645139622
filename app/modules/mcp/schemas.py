"""Bodies of MCP servers on the wire."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from app.core.redaction.text import redacted_address
from app.http.routes import Body, ResponseBody, Text, Time
from app.modules.mcp.connection import McpConnection, SeenTool, Status, ToolState


class ApprovedToolBody(ResponseBody):
    """A tool as it was when an administrator approved it."""

    fingerprint: str
    """SHA-256 of server address, name, description, input schema and annotations."""
    address: str
    """Address of the server."""
    description: str
    """Description."""
    input_schema: dict[str, JsonValue]
    """JSON Schema of its arguments."""
    annotations: dict[str, JsonValue]
    """Annotations of the server. They decide nothing."""
    approved_by: str
    """Owner who approved it."""
    approved_at: Time
    """Time of the approval."""


class McpToolBody(ResponseBody):
    """A tool of an MCP server as it is now, beside what was approved."""

    name: str
    """Name of the tool."""
    state: ToolState
    """`approved`: investigations may offer it. `new`: it waits for an administrator. `changed`: it differs
    from what was approved. `unusable`: see `fault`.
    """
    fault: str | None
    """Why it cannot be used. Null if it can."""
    fingerprint: str
    """SHA-256 of what the tool is now; an approval repeats it."""
    description: str
    """Description, as the model would read it."""
    input_schema: dict[str, JsonValue]
    """JSON Schema of its arguments."""
    annotations: dict[str, JsonValue]
    """Annotations of the server. They decide nothing."""
    approved: ApprovedToolBody | None
    """What was approved. Null if it never was."""

    @classmethod
    def of(cls, seen: SeenTool) -> "McpToolBody":
        approved = seen.approved
        shown = None
        if approved is not None:
            shown = ApprovedToolBody.model_validate(
                {**vars(approved), "address": redacted_address(approved.address)}
            )
        return cls(
            name=seen.definition.name,
            state=seen.state,
            fault=seen.fault,
            fingerprint=seen.fingerprint,
            description=seen.definition.description,
            input_schema=seen.definition.input_schema,
            annotations=seen.definition.annotations,
            approved=shown,
        )


class McpServerBody(ResponseBody):
    """An MCP server that KAI uses, as the process that answers sees it."""

    name: str
    """Name in the configuration."""
    description: str
    """Description in the configuration."""
    transport: Literal["streamableHttp", "stdio"]
    """How it is reached."""
    address: str
    """URL or command line, without secrets."""
    status: Status
    """State of the connection."""
    error: str | None
    """Why it is not connected. Null if it is."""
    connected_at: Time | None
    """Time since which it is connected. Null if it is not."""
    tools: list[McpToolBody]
    """Its tools, at most 40. Empty while it is not connected."""
    tools_left_out: int
    """Number of further tools, which are not taken."""

    @classmethod
    def of(cls, connection: McpConnection) -> "McpServerBody":
        server = connection.server
        return cls(
            name=connection.name,
            description=server.description,
            transport=server.transport,
            address=redacted_address(server.address),
            status=connection.status,
            error=connection.error,
            connected_at=connection.connected_at,
            tools=[McpToolBody.of(each) for each in connection.seen],
            tools_left_out=connection.left_out,
        )


class McpServerList(ResponseBody):
    """All MCP servers that KAI uses."""

    items: list[McpServerBody]
    """The servers, in the order of the configuration; at most 50."""


class ToolApproval(Body):
    """The approval of a tool as an administrator has seen it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fingerprint": "0" * 64}]})

    fingerprint: Annotated[Text, Field(min_length=64, max_length=64)]
    """`fingerprint` of the tool, as `GET /mcp/servers` showed it."""
