"""Tools that read the knowledge that people have stored about a database."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import words_of
from app.modules.tools.context import ToolContext
from app.modules.tools.tool import Arguments, ToolResult, tool
from app.modules.tools.toolsets.databases import DatabaseLabel, Words


class SearchKnowledge(Arguments):
    """Words to look for."""

    words: Words
    """Words of the question or the business."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    """The most entries."""


async def search_examples(given: SearchKnowledge, context: ToolContext) -> ToolResult:
    database = context.databases.named(given.database)
    examples = await context.knowledge.verified_examples(database.connection)
    best = await asyncio.to_thread(_best, given.words, [each.question for each in examples], given.limit)
    texts = [f"Question: {examples[at].question}\nSQL: {examples[at].sql}" for at in best]
    return ToolResult(text="\n\n".join(texts) or "There is no verified example with these words.")


async def search_glossary(given: SearchKnowledge, context: ToolContext) -> ToolResult:
    connection = context.databases.named(given.database).connection
    terms, rules = await asyncio.gather(
        context.knowledge.terms.latest(connection.id), context.knowledge.instructions.latest(connection.id)
    )
    entries = [
        *(f"{each.term}: {each.meaning}" + (f" (SQL: {each.sql})" if each.sql else "") for each in terms),
        *(f"Rule{f' for {each.scope}' if each.scope else ''}: {each.text}" for each in rules),
    ]
    best = await asyncio.to_thread(_best, given.words, entries, given.limit)
    return ToolResult(text="\n".join(f"- {entries[at]}" for at in best) or "No entry has these words.")


def _best(words: str, texts: Sequence[str], limit: int) -> list[int]:
    """Returns the positions of the texts that share the rarer of the words, best first."""
    index = Bm25({str(at): words_of(text) for at, text in enumerate(texts)})
    return [int(name) for name in index.ranked(words_of(words))[:limit]]


KNOWLEDGE = (
    tool(
        "search_examples",
        toolset="knowledge",
        category="read",
        description="Find verified questions with their SQL that resemble these words.",
        arguments=SearchKnowledge,
        run=search_examples,
    ),
    tool(
        "search_glossary",
        toolset="knowledge",
        category="read",
        description="Find what business terms mean, and the data owner's rules for reading the data.",
        arguments=SearchKnowledge,
        run=search_glossary,
    ),
)
