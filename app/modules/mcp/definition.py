"""A tool as an MCP server describes it, and the fingerprint by which an administrator approves it."""

import json
from dataclasses import dataclass

from pydantic import JsonValue

from app.core.ids import digest

_MAX_NAME = 128
_MAX_DESCRIPTION = 4_000
_MAX_SCHEMA = 16_384


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """What a server says of a tool. `annotations` are shown, and decide nothing."""

    name: str
    description: str
    input_schema: dict[str, JsonValue]
    annotations: dict[str, JsonValue]

    def fingerprint(self, address: str) -> str:
        """Returns the SHA-256 of all that the tool says of itself, and of where it is."""
        return digest(
            {
                "server": address,
                "name": self.name,
                "description": self.description,
                "input_schema": self.input_schema,
                "annotations": self.annotations,
            }
        )

    def fault(self) -> str | None:
        """Returns why the tool cannot be used. Returns None if it can."""
        if not 0 < len(self.name) <= _MAX_NAME or not self.name.isprintable():
            return f"its name is empty, not printable, or longer than {_MAX_NAME} characters"
        if len(self.description) > _MAX_DESCRIPTION:
            return f"its description is longer than {_MAX_DESCRIPTION:,} characters"
        try:
            if len(json.dumps(self.input_schema)) > _MAX_SCHEMA:
                return f"its schema is longer than {_MAX_SCHEMA:,} characters"
        except RecursionError:
            return "its schema is nested too deeply"
        return None
