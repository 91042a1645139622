"""Registry of the tools of this process, and which of them an investigation may call."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from app.modules.tools.policy import Gate, ToolPolicy
from app.modules.tools.tool import Tool
from app.modules.tools.toolsets.checks import CHECKS
from app.modules.tools.toolsets.control import CONTROL
from app.modules.tools.toolsets.databases import DATABASES
from app.modules.tools.toolsets.knowledge import KNOWLEDGE
from app.modules.tools.toolsets.queries import QUERIES

BUILTIN: Sequence[Tool] = (*DATABASES, *QUERIES, *CHECKS, *KNOWLEDGE, *CONTROL)


class ToolRegistry:
    """The tools by name, with the gate of each. Raises `ValueError` for two tools of one name."""

    def __init__(self, tools: Sequence[Tool], policy: ToolPolicy) -> None:
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) < len(tools):
            raise ValueError("two tools have the same name")
        self._policy = policy

    @property
    def all(self) -> Sequence[tuple[Tool, Gate]]:
        """Every tool with its gate, in the order of the toolsets."""
        return [(tool, self._policy.gate(tool)) for tool in self._tools.values()]

    @cached_property
    def offered(self) -> Mapping[str, Tool]:
        """The tools that an investigation may call, by name.

        There is no way yet to ask a person, so a tool that would have to ask is not offered.
        """
        return {tool.name: tool for tool, gate in self.all if gate == "free"}
