"""What packages that extend KAI import: the parts of a tool, and the registrar that takes it.

These names stay; everything else of KAI may change. `app.extending.contract` has the checks for authors.
"""

from app.modules.tools.context import ToolContext, ToolDatabase
from app.modules.tools.extensions import ExtensionRefused, Register, Registrar
from app.modules.tools.tool import Arguments, Tool, ToolFailed, ToolResult, tool
from app.modules.tools.toolsets.queries import keep_table

__all__ = [
    "Arguments",
    "ExtensionRefused",
    "Register",
    "Registrar",
    "Tool",
    "ToolContext",
    "ToolDatabase",
    "ToolFailed",
    "ToolResult",
    "keep_table",
    "tool",
]
