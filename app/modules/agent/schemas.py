"""Bodies of tools and capabilities on the wire."""

from typing import Literal

from pydantic import JsonValue

from app.http.routes import ResponseBody
from app.modules.tools.policy import Gate


class ToolBody(ResponseBody):
    """A tool of investigations."""

    name: str
    """Name of the tool."""
    toolset: str
    """Toolset that it belongs to."""
    category: Literal["read", "write", "delete", "external", "extension"]
    """What it does: only tools of category `read` exist so far."""
    description: str
    """Description, as the model reads it."""
    arguments: dict[str, JsonValue]
    """JSON Schema of its arguments."""
    gate: Gate
    """How a call begins: `free` runs, `asks` would ask a person first, `never` is refused."""
    offered: bool
    """Investigations may call it. There is no approval yet, so a tool that would ask is not offered."""


class ToolList(ResponseBody):
    """All tools of this KAI."""

    items: list[ToolBody]
    """The tools, toolset by toolset."""


class CapabilityBody(ResponseBody):
    """Something that is on, or off for a reason."""

    on: bool
    """It is on."""
    reason: str | None
    """Why it is off. Null if it is on."""


class CapabilitiesBody(ResponseBody):
    """What this KAI can do."""

    model: CapabilityBody
    """Answers by a language model. Without one the built-in writer answers simple questions."""
    investigations: CapabilityBody
    """Investigations: answers in several steps, by tools."""
