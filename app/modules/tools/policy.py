"""Policy of tools: which ones run freely, which ask a person first, which never run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.modules.tools.tool import Category, Tool

Gate = Literal["free", "asks", "never"]


@dataclass(frozen=True, kw_only=True)
class ToolPolicy:
    """`never_allow` counts before `require_confirmation`, and that before `auto_approve`. A category in
    neither asks.

    A tool of an MCP server or of category `external` always asks. A tool of an extension asks unless
    `safe_extensions` names it. `never_allow` and `safe_extensions` hold names of tools, and `toolset.*`.
    """

    auto_approve: Sequence[Category] = ("read",)
    require_confirmation: Sequence[Category] = ("write", "delete", "external")
    never_allow: Sequence[str] = ()
    safe_extensions: Sequence[str] = ()

    def gate(self, tool: Tool) -> Gate:
        """Returns how a call of the tool may begin. Nothing that a model says changes it."""
        if _is_named(tool, self.never_allow):
            return "never"
        if tool.source == "mcp" or tool.category == "external":
            return "asks"
        if tool.category in self.require_confirmation:
            return "asks"
        if tool.source == "extensions" or tool.category == "extension":
            return "free" if _is_named(tool, self.safe_extensions) else "asks"
        return "free" if tool.category in self.auto_approve else "asks"


def _is_named(tool: Tool, names: Sequence[str]) -> bool:
    return tool.name in names or f"{tool.toolset}.*" in names
