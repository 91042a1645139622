"""Registry of the tools of this process, and which of them an investigation may call."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import get_args

from app.modules.records.model import Mode
from app.modules.tools.choosing import FIND_TOOLS
from app.modules.tools.extensions import Extension
from app.modules.tools.policy import Gate, ToolPolicy
from app.modules.tools.tool import Source, Tool
from app.modules.tools.toolsets.checks import CHECKS
from app.modules.tools.toolsets.control import ASK_USER, CONTROL, FINISH
from app.modules.tools.toolsets.databases import DATABASES
from app.modules.tools.toolsets.knowledge import KNOWLEDGE
from app.modules.tools.toolsets.memory import MEMORY
from app.modules.tools.toolsets.queries import QUERIES

ALL_SOURCES: Sequence[Source] = get_args(Source)
BUILTIN: Sequence[Tool] = (*DATABASES, *QUERIES, *CHECKS, *KNOWLEDGE, *MEMORY, *CONTROL)
_ALWAYS = (ASK_USER, FINISH, FIND_TOOLS)


class ToolRegistry:
    """The tools by name, with the gate of each. Raises `ValueError` for two tools of one name."""

    def __init__(
        self,
        tools: Sequence[Tool],
        policy: ToolPolicy,
        extensions: Sequence[Extension] = (),
        *,
        live: Callable[[], Sequence[Tool]] = tuple,
    ) -> None:
        """`extensions` are those that were found, also if they failed. `live` returns the tools of others
        that can be called just now.
        """
        self.extensions = extensions
        self._own = {tool.name: tool for tool in tools}
        if len(self._own) < len(tools):
            raise ValueError("two tools have the same name")
        self._policy = policy
        self._live = live

    @property
    def _tools(self) -> Mapping[str, Tool]:
        """All tools by name. None of others takes the place of one of KAI's."""
        return {**self._own, **{tool.name: tool for tool in self._live() if tool.name not in self._own}}

    @property
    def all(self) -> Sequence[tuple[Tool, Gate]]:
        """Every tool with its gate, in the order of the toolsets."""
        return [(tool, self._policy.gate(tool)) for tool in self._tools.values()]

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def gate(self, tool: Tool) -> Gate:
        """Returns how a call of the tool may begin."""
        return self._policy.gate(tool)

    def offered(self, mode: Mode, sources: Collection[Source] = ALL_SOURCES) -> Mapping[str, Tool]:
        """The tools that an investigation may call, by name.

        In ask mode only those that run freely and read; in agent mode all but those that never run. What a
        tool of an extension does is known to its author alone: ask mode has it if an administrator has named
        it as safe.
        `sources` narrows them: by it a question can do without some. The tools that end an investigation and
        the one that finds others are always there.
        """
        return {
            tool.name: tool
            for tool, gate in self.all
            if (tool.source in sources or tool.name in _ALWAYS) and _is_offered(tool, gate, mode)
        }


def _is_offered(tool: Tool, gate: Gate, mode: Mode) -> bool:
    if mode == "agent":
        return gate != "never"
    return gate == "free" and tool.category in ("read", "extension")
