"""Tools that read and change the knowledge that people have stored about a database."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from pydantic import Field

from app.modules.context_store.errors import EntryUnknown
from app.modules.context_store.repository import Entries, Entry
from app.modules.context_store.service import ContextStore
from app.modules.sql_generation.linking.bm25 import Bm25
from app.modules.sql_generation.linking.words import words_of
from app.modules.tools.context import ToolContext
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
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
    knowledge = context.knowledge
    examples = await knowledge.verified_examples(database.connection)
    best = await asyncio.to_thread(_best, given.words, [each.question for each in examples])
    texts: list[str] = []
    for each in (examples[at] for at in best):
        if len(texts) == given.limit:
            break
        if await knowledge.find_fault(database.connection, each.sql) is None:
            texts.append(f"Question: {each.question}\nSQL: {each.sql}\nId: {each.id}")
    return ToolResult(text="\n\n".join(texts) or "There is no verified example with these words.")


async def search_glossary(given: SearchKnowledge, context: ToolContext) -> ToolResult:
    connection = context.databases.named(given.database).connection
    known = await context.knowledge.knowledge_of_person(connection)
    entries = [
        *(
            f"{each.term}: {each.meaning}"
            + (f" (SQL: {each.sql})" if each.sql else "")
            + f" (term {each.id})"
            for each in known.terms
        ),
        *(
            f"Rule{f' for {each.scope}' if each.scope else ''}: {each.text} (instruction {each.id})"
            for each in known.instructions
        ),
    ]
    best = await asyncio.to_thread(_best, given.words, entries)
    return ToolResult(
        text="\n".join(f"- {entries[at]}" for at in best[: given.limit]) or "No entry has these words."
    )


def _best(words: str, texts: Sequence[str]) -> list[int]:
    """Returns the positions of the texts that share the rarer of the words, best first."""
    index = Bm25({str(at): words_of(text) for at, text in enumerate(texts)})
    return [int(name) for name in index.ranked(words_of(words))]


class SaveExample(Arguments):
    """A verified example to store."""

    question: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The question, in words that stand alone."""
    sql: Annotated[str, Field(min_length=1, max_length=65_536)]
    """The statement that answers it. It must pass the guard."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class DefineTerm(Arguments):
    """A business term to define."""

    term: Annotated[str, Field(min_length=1, max_length=200)]
    """The term, as users write it."""
    meaning: Annotated[str, Field(min_length=1, max_length=2_000)]
    """Its definition."""
    sql: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None
    """SQL expression of the term."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class AddInstruction(Arguments):
    """A rule for reading the data."""

    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    """The rule, in a sentence or two."""
    table: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Name of the table that the rule is about. Left out: the whole database."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class DeleteEntry(Arguments):
    """An entry to delete."""

    id: Annotated[str, Field(min_length=1, max_length=40)]
    """Id of the entry, as a search shows it."""
    database: DatabaseLabel = None
    """Name of the database that it belongs to. Left out: the session's main one."""


async def save_example(given: SaveExample, context: ToolContext) -> ToolResult:
    connection = context.databases.named(given.database).connection
    saved = await context.knowledge.add_example(
        context.owner,
        connection.id,
        given.question,
        sql=given.sql,
        status="verified",
        entry_id=context.call_id,
    )
    return ToolResult(text=f"The example is stored with the id {saved.id}.")


async def define_term(given: DefineTerm, context: ToolContext) -> ToolResult:
    connection = context.databases.named(given.database).connection
    saved = await context.knowledge.add_term(
        context.owner,
        connection.id,
        given.term,
        meaning=given.meaning,
        sql=given.sql,
        entry_id=context.call_id,
    )
    return ToolResult(text=f"The term is stored with the id {saved.id}.")


async def add_instruction(given: AddInstruction, context: ToolContext) -> ToolResult:
    connection = context.databases.named(given.database).connection
    saved = await context.knowledge.add_instruction(
        context.owner, connection.id, given.text, scope=given.table, entry_id=context.call_id
    )
    return ToolResult(text=f"The instruction is stored with the id {saved.id}.")


Delete = Callable[[DeleteEntry, ToolContext], Awaitable[ToolResult]]


def _deletion(entries_of: Callable[[ContextStore], Entries[Entry]], kind: str) -> Delete:
    """Returns the function of a tool that deletes entries of one kind."""

    async def delete(given: DeleteEntry, context: ToolContext) -> ToolResult:
        connection = context.databases.named(given.database).connection
        entries = entries_of(context.knowledge)
        try:
            entry = await context.knowledge.own(entries, context.owner, given.id)
        except EntryUnknown:
            return ToolResult(text=f"There is no {kind} with this id, or it is deleted already.")
        if entry.db_connection_id != connection.id:
            raise ToolFailed(f"The {kind} belongs to another database.")
        await entries.delete(entry)
        return ToolResult(text=f"The {kind} is deleted.")

    return delete


_DELETIONS: Sequence[tuple[str, Delete]] = (
    ("example", _deletion(lambda knowledge: knowledge.examples, "example")),
    ("term", _deletion(lambda knowledge: knowledge.terms, "term")),
    ("instruction", _deletion(lambda knowledge: knowledge.instructions, "instruction")),
)


def _described_deletion(kind: str) -> Callable[[DeleteEntry], str]:
    return lambda given: f"Delete the {kind} {given.id}. It cannot be brought back."


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
    tool(
        "save_example",
        toolset="knowledge",
        category="write",
        description="Store a question with the SQL that answers it as a verified example. The same question "
        "is answered with it from then on.",
        arguments=SaveExample,
        run=save_example,
        describe=lambda given: "Store this question and its SQL as a verified example.",
        repeatable=True,
    ),
    tool(
        "define_term",
        toolset="knowledge",
        category="write",
        description="Store what a business term means.",
        arguments=DefineTerm,
        run=define_term,
        describe=lambda given: f"Store the meaning of the term {given.term}.",
        repeatable=True,
    ),
    tool(
        "add_instruction",
        toolset="knowledge",
        category="write",
        description="Store a rule for reading the data, which every later question follows.",
        arguments=AddInstruction,
        run=add_instruction,
        describe=lambda given: "Store this rule for all later questions about the database.",
        repeatable=True,
    ),
    *(
        tool(
            f"delete_{kind}",
            toolset="knowledge",
            category="delete",
            description=f"Delete the {kind} with this id.",
            arguments=DeleteEntry,
            run=run,
            describe=_described_deletion(kind),
            repeatable=True,
        )
        for kind, run in _DELETIONS
    ),
)
