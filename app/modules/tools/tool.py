"""A tool: what a model sees of it, and what it does."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from app.core.ids import digest
from app.core.llm.model import OfferedTool
from app.modules.records.model import ToolSource
from app.modules.records.steps import KeptResult
from app.modules.tools.context import ToolContext
from graph.described import Described

Category = Literal["read", "write", "delete", "external", "extension"]
Source = ToolSource
"""Where a tool comes from: KAI itself, an MCP server, or an extension."""


_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_NAME_OF_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
"""Tools of MCP servers keep their own names as far as models accept them."""


class Arguments(Described):
    """Base of the arguments of tools. An unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What a call returns: the text that the model reads, and the rows or the chart that it has made."""

    text: str
    result: KeptResult | None = None
    chart: dict[str, JsonValue] | None = None
    is_error: bool = False


class ToolFailed(Exception):
    """The call cannot be made as it was written. The text tells the model what to change."""


A = TypeVar("A", bound=Arguments)
RunTool = Callable[[BaseModel, ToolContext], Awaitable[ToolResult]]
Describe = Callable[[BaseModel], str]
Warn = Callable[[BaseModel, bool], list[str]]
"""Takes the arguments, and whether the turn has read from a tool of others."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that an investigation may call. Create it by `tool`.

    What it says of itself decides less than its `source`: see `ToolPolicy`.
    """

    name: str
    toolset: str
    category: Category
    description: str
    arguments: type[Arguments]
    run: RunTool
    describe: Describe | None = None
    """Says what a call will do, for the person who is asked. Words of the tool's author, never of a model."""
    warn: Warn | None = None
    """Says what speaks for a second look at a call, for the person who is asked."""
    source: Source = "builtin"
    server: str = ""
    """Address that the arguments go to, if they leave KAI."""
    repeatable: bool = False
    """A call may run again under the same id without a second effect."""
    timeout_seconds: float | None = None
    """Time limit of a call, in place of the ordinary one."""

    def __post_init__(self) -> None:
        allowed = _NAME_OF_SERVER if self.source == "mcp" else _NAME
        if allowed.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is no name for a tool")

    def described(self, arguments: BaseModel) -> str:
        """Returns what a call will do, in a sentence for the person who is asked."""
        return f"Call {self.name}." if self.describe is None else self.describe(arguments)

    def warnings(self, arguments: BaseModel, *, is_tainted: bool) -> list[str]:
        """Returns what speaks for a second look at a call, a sentence each."""
        return [] if self.warn is None else self.warn(arguments, is_tainted)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what a person approves with a call: name, description, arguments and server."""
        shown: dict[str, JsonValue] = {
            "name": self.name,
            "description": self.description,
            "arguments": self.arguments.model_json_schema(),
            "server": self.server,
        }
        return digest(shown)

    @cached_property
    def offer(self) -> OfferedTool:
        """The tool as a model sees it. Making its schema takes a millisecond, and a step offers all tools."""
        return OfferedTool(self.name, self.description, self.arguments.model_json_schema())


def tool(
    name: str,
    *,
    toolset: str,
    category: Category,
    description: str,
    arguments: type[A],
    run: Callable[[A, ToolContext], Awaitable[ToolResult]],
    describe: Callable[[A], str] | None = None,
    warn: Callable[[A, bool], list[str]] | None = None,
    source: Source = "builtin",
    server: str = "",
    repeatable: bool = False,
    timeout_seconds: float | None = None,
) -> Tool:
    """Returns a tool. `run` raises `ToolFailed`, or anything that running a statement raises."""

    async def run_parsed(given: BaseModel, context: ToolContext) -> ToolResult:
        return await run(arguments.model_validate(given.model_dump()), context)

    def described(given: BaseModel) -> str:
        return "" if describe is None else describe(arguments.model_validate(given.model_dump()))

    def warned(given: BaseModel, is_tainted: bool) -> list[str]:
        return [] if warn is None else warn(arguments.model_validate(given.model_dump()), is_tainted)

    return Tool(
        name=name,
        toolset=toolset,
        category=category,
        description=description,
        arguments=arguments,
        run=run_parsed,
        describe=None if describe is None else described,
        warn=None if warn is None else warned,
        source=source,
        server=server,
        repeatable=repeatable,
        timeout_seconds=timeout_seconds,
    )
