"""Tools by which a model ends its investigation, and one that finds the tools which a prompt leaves out.

The loop takes the arguments of those that end it; they run nothing.
"""

import asyncio
from typing import Annotated

from pydantic import Field

from app.modules.tools.choosing import FIND_TOOLS, find_for_model
from app.modules.tools.context import ToolContext
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
from app.modules.tools.toolsets.databases import DatabaseLabel
from graph.state import ActionKind, LinkTarget

ASK_USER = "ask_user"
FINISH = "finish"


OptionText = Annotated[str, Field(min_length=1, max_length=300)]
Label = Annotated[str, Field(min_length=1, max_length=200)]


class AskUser(Arguments):
    """A question back to the user."""

    question: Annotated[str, Field(min_length=1, max_length=1_000)]
    """The question, in one or two sentences."""
    options: Annotated[list[OptionText], Field(max_length=6)] = Field(default_factory=list)
    """Answers to choose from, each a complete question that could be asked in place of the first."""


class GivenFinding(Arguments):
    """A fact of a result that answers the question. KAI writes its sentence."""

    result: Annotated[str, Field(max_length=40)]
    """Name of the result, such as r2.1. Of a call over two results, either of them."""
    fact: Annotated[str, Field(min_length=1, max_length=500)]
    """Key of the fact as it stands below that result, such as total_revenue; or a call for one that is not
    there, such as share(revenue, region="West") or gap(r1.1.total_revenue, r2.1.total_revenue).
    """
    reading: Annotated[str, Field(max_length=500)] | None = None
    """What the fact may mean, in one sentence without figures, names of the rows and comparisons. Seldom
    needed.
    """


class GivenCode(Arguments):
    """Code that the user may take along. It is shown, never run."""

    content: Annotated[str, Field(min_length=1, max_length=4_000)]
    """The code."""
    language: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+#-]{0,19}$")] = "sql"
    """Its language, such as sql or python."""
    database: DatabaseLabel = None
    """Of SQL: the database that it is for. Left out: the session's main one."""


class GivenLink(Arguments):
    """A thing that the answer points at."""

    label: Label
    """Words of the link."""
    resource_type: LinkTarget
    """Kind of the thing."""
    name: Annotated[str, Field(min_length=1, max_length=300)]
    """Its name: of a table, of a result such as r2.1, or of a database."""
    database: DatabaseLabel = None
    """Of a table: its database. Left out: the session's main one."""


class GivenAction(Arguments):
    """Something that the user may do next."""

    label: Label
    """Words of the action."""
    action: ActionKind
    """What it does: open a result or a table, ask a question, or ask this one again."""
    target: Annotated[str, Field(max_length=1_000)] = ""
    """Name of the result or table, or the question to ask. Empty for rerun."""
    database: DatabaseLabel = None
    """Of a table: its database. Left out: the session's main one."""


class Finish(Arguments):
    """The answer."""

    findings: Annotated[list[GivenFinding], Field(max_length=12)] = Field(default_factory=list)
    """The facts that answer the question, the most important first."""
    answer: Annotated[str, Field(max_length=20_000)] = ""
    """What is left to say, in Markdown: causes, and what stays open. Sentences with a figure, a name of the
    rows or a comparison are left out: say these by findings.
    """
    main_result: Annotated[str, Field(max_length=40)] | None = None
    """Name of the result that is shown with the answer."""
    code: Annotated[list[GivenCode], Field(max_length=3)] = Field(default_factory=list)
    """Code that the user has asked for, or needs for what KAI may not do itself. Seldom needed."""
    links: Annotated[list[GivenLink], Field(max_length=10)] = Field(default_factory=list)
    """Tables, results and databases that the user should look at. Seldom needed."""
    actions: Annotated[list[GivenAction], Field(max_length=5)] = Field(default_factory=list)
    """What the user may want to do next. Seldom needed."""


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
        description="Give the answer: name the facts of results that show it. Ends the investigation. Call "
        "it alone, after you have read these results.",
        arguments=Finish,
        run=_refuse,
    ),
)
