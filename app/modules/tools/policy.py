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

    `never_allow` holds names of tools, and `toolset.*`.
    """

    auto_approve: Sequence[Category] = ("read",)
    require_confirmation: Sequence[Category] = ("write", "delete", "external")
    never_allow: Sequence[str] = ()

    def gate(self, tool: Tool) -> Gate:
        """Returns how a call of the tool may begin. Nothing that a model says changes it."""
        if tool.name in self.never_allow or f"{tool.toolset}.*" in self.never_allow:
            return "never"
        if tool.category in self.require_confirmation or tool.is_extension:
            return "asks"
        return "free" if tool.category in self.auto_approve else "asks"
