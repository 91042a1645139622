"""A tool: what a model sees of it, and what it does."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from app.core.llm.model import OfferedTool
from app.modules.tools.context import ToolContext
from app.modules.tools.results import KeptResult

Category = Literal["read", "write", "delete", "external", "extension"]

MAX_TEXT = 6_000
"""Characters of a tool's result that the model and the user see."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


class Arguments(BaseModel):
    """Base of the arguments of tools. An unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that an investigation may call. Create it by `tool`."""

    name: str
    toolset: str
    category: Category
    description: str
    arguments: type[Arguments]
    run: RunTool
    is_extension: bool = False

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is no name for a tool")

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
) -> Tool:
    """Returns a tool. `run` raises `ToolFailed`, or anything that running a statement raises."""

    async def run_parsed(given: BaseModel, context: ToolContext) -> ToolResult:
        return await run(arguments.model_validate(given.model_dump()), context)

    return Tool(
        name=name,
        toolset=toolset,
        category=category,
        description=description,
        arguments=arguments,
        run=run_parsed,
    )


def cut_text(text: str) -> str:
    """Returns the text, cut to `MAX_TEXT` with a closing line that says so."""
    if len(text) <= MAX_TEXT:
        return text
    note = "\n(cut: there is more)"
    return text[: MAX_TEXT - len(note)] + note
