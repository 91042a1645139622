"""Tools by which a model ends its investigation, and one that finds the tools which a prompt leaves out.

The loop takes the arguments of those that end it; they run nothing.
"""

import asyncio
from typing import Annotated

from pydantic import Field

from app.modules.tools.choosing import FIND_TOOLS, find_for_model
from app.modules.tools.context import ToolContext
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool

ASK_USER = "ask_user"
FINISH = "finish"


OptionText = Annotated[str, Field(min_length=1, max_length=300)]


class AskUser(Arguments):
    """A question back to the user."""

    question: Annotated[str, Field(min_length=1, max_length=1_000)]
    """The question, in one or two sentences."""
    options: Annotated[list[OptionText], Field(max_length=6)] = Field(default_factory=list)
    """Answers to choose from, each a complete question that could be asked in place of the first."""


class GivenFinding(Arguments):
    """A statement of the answer, with the result that it was read from."""

    claim: Annotated[str, Field(min_length=1, max_length=1_000)]
    """The statement, in one sentence."""
    value: Annotated[str, Field(max_length=200)] | None = None
    """The figure or text of the result that it rests on, as it stands there."""
    result: Annotated[str, Field(max_length=40)]
    """Name of the result, such as r2.1."""
    where: Annotated[str, Field(max_length=300)] = ""
    """Column and row of the value."""


class Finish(Arguments):
    """The answer."""

    answer: Annotated[str, Field(min_length=1, max_length=20_000)]
    """The answer for the user, in Markdown."""
    findings: Annotated[list[GivenFinding], Field(max_length=20)] = Field(default_factory=list)
    """Each figure and fact of the answer, with its result."""
    main_result: Annotated[str, Field(max_length=40)] | None = None
    """Name of the result that is shown with the answer."""


class FindTools(Arguments):
    """What a tool should do."""

    words: Annotated[str, Field(min_length=1, max_length=500)]
    """What the tool should do, in a few words."""


async def find_tools(given: FindTools, context: ToolContext) -> ToolResult:
    found = await asyncio.to_thread(find_for_model, context.tools, given.words)
    lines = [f"- {each.name}: {each.description}" for each in found]
    return ToolResult(text="\n".join(lines) or "No tool has these words.")


async def _refuse(arguments: Arguments, context: ToolContext) -> ToolResult:
    raise ToolFailed("Call this tool alone, when all else is done.")


CONTROL = (
    tool(
        FIND_TOOLS,
        toolset="control",
        category="read",
        description="Find tools that are not listed here. You can call those that are found in the next "
        "step.",
        arguments=FindTools,
        run=find_tools,
    ),
    tool(
        ASK_USER,
        toolset="control",
        category="read",
        description="Ask the user, when only they can say what is meant. Ends the investigation. Call it "
        "alone.",
        arguments=AskUser,
        run=_refuse,
    ),
    tool(
        FINISH,
        toolset="control",
        category="read",
        description="Give the answer. Ends the investigation. Call it alone, after you have read the results "
        "that it rests on.",
        arguments=Finish,
        run=_refuse,
    ),
)
