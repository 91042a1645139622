"""Errors of MCP servers that KAI uses, and of their tools."""

from app.core.errors import Conflict, NotFound


class ServerUnavailable(Exception):
    """The server cannot be connected to, or was lost. The text says why, without secrets."""


class CallFailed(Exception):
    """A call has failed. The text is for the model."""


class OutcomeUnknown(Exception):
    """A call was sent, and it is not known whether it has had its effect. The text is for the log."""


class McpServerUnknown(NotFound):
    """The configuration names no such server."""

    title = "No such MCP server"


class McpToolUnknown(NotFound):
    """The server offers no such tool now."""

    title = "No such tool"


class ToolHasChanged(Conflict):
    """The tool is no longer as the administrator has seen it."""

    problem = "mcp-tool-changed"
    title = "The tool has changed"
