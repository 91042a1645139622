"""Tools that show which databases, tables and stored texts there are."""

import asyncio
from typing import Annotated

from pydantic import Field

from app.modules.sql_generation.linking.mentions import mentions
from app.modules.sql_generation.linking.words import words_of
from app.modules.tools.context import ToolContext
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
from graph.errors import DatabaseUnavailable

_MOST_TABLES = 15
_MOST_DESCRIBED = 10

DatabaseLabel = Annotated[str, Field(max_length=300)] | None
TableName = Annotated[str, Field(min_length=1, max_length=300)]
Words = Annotated[str, Field(min_length=1, max_length=500)]


class NoArguments(Arguments):
    """Nothing."""


class FindByWords(Arguments):
    """Words to look for."""

    words: Words
    """Words of the question or the business."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class DescribeTables(Arguments):
    """Tables to describe."""

    names: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=300)]],
        Field(min_length=1, max_length=_MOST_DESCRIBED),
    ]
    """Names of the tables."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class DescribeTableAs(Arguments):
    """A description to store."""

    table: TableName
    """Name of the table."""
    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    """What the table holds, in a sentence or two. It replaces the present description."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


class RescanSchema(Arguments):
    """A database to scan."""

    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


async def list_databases(_: NoArguments, context: ToolContext) -> ToolResult:
    lines = []
    for database in context.databases.all:
        try:
            count = f"{len((await database.index()).tables)} tables"
        except DatabaseUnavailable as error:
            count = f"unavailable: {error.detail}"
        about = _about(database.connection.description)
        lines.append(f"- {database.label} ({database.dialect}, {count}){about}")
    return ToolResult(text="\n".join(lines))


async def find_tables(given: FindByWords, context: ToolContext) -> ToolResult:
    index = await context.databases.named(given.database).index()
    ranked = await asyncio.to_thread(index.words.ranked, words_of(given.words))
    if not ranked:
        names = ", ".join(list(index.tables)[:_MOST_TABLES])
        return ToolResult(text=f"No table has these words. Some of {len(index.tables)} tables: {names}.")
    lines = []
    for name in ranked[:_MOST_TABLES]:
        table = index.tables[name]
        rows = "" if table.row_count is None else f", {table.row_count:,} rows"
        columns = ", ".join(column.name for column in table.columns[:12])
        lines.append(f"- {name} ({table.kind}{rows}){_about(table.description)}; columns: {columns}")
    return ToolResult(text="\n".join(lines))


async def describe_tables(given: DescribeTables, context: ToolContext) -> ToolResult:
    index = await context.databases.named(given.database).index()
    known = index.names.table_names
    unknown = [name for name in given.names if not known.read(name)]
    if unknown:
        raise ToolFailed(f"There is no table {', '.join(unknown)}. Look for tables with find_tables.")
    cards = []
    for name in dict.fromkeys(each for given_name in given.names for each in known.read(given_name)):
        count = index.tables[name].row_count
        rows = "" if count is None else f"\n-- {count:,} rows at the last scan"
        cards.append(index.cards[name] + rows)
    return ToolResult(text="\n\n".join(cards))


async def find_values(given: FindByWords, context: ToolContext) -> ToolResult:
    index = await context.databases.named(given.database).index()
    found = await asyncio.to_thread(mentions, [given.words], index.stored, index.columns)
    lines = [
        f"- {place.table}.{place.column} holds {place.text!r}"
        + ("" if each.exact else f" (like {each.said!r})")
        for each in found
        for place in each.places
    ]
    return ToolResult(text="\n".join(lines) or "No stored text is like these words.")


async def describe_table_as(given: DescribeTableAs, context: ToolContext) -> ToolResult:
    database = context.databases.named(given.database)
    name = await _table_name(given.table, context, given.database)
    await database.connections.describe_table(
        context.owner, database.connection.id, name, description=given.text
    )
    return ToolResult(text=f"The description of {name} is stored.")


async def rescan_schema(given: RescanSchema, context: ToolContext) -> ToolResult:
    database = context.databases.named(given.database)
    progress = await database.connections.start_scan(context.owner, database.connection.id)
    return ToolResult(
        text=f"The scan of {database.label} is {progress.state}. What it finds is there for later questions."
    )


async def _table_name(name: str, context: ToolContext, database: str | None) -> str:
    """Returns a table's name as it is scanned. Raises `ToolFailed`."""
    index = await context.databases.named(database).index()
    found = index.names.table_names.read(name)
    if not found:
        raise ToolFailed(f"There is no table {name}. Look for tables with find_tables.")
    if len(found) > 1:
        raise ToolFailed(f"{name} may be {' or '.join(found)}. Name the one that is meant.")
    return found[0]


def _about(description: str) -> str:
    return f": {' '.join(description.split())}" if description else ""


DATABASES = (
    tool(
        "list_databases",
        toolset="databases",
        category="read",
        description="List the databases of this session, with their SQL dialect.",
        arguments=NoArguments,
        run=list_databases,
    ),
    tool(
        "find_tables",
        toolset="databases",
        category="read",
        description="Find the tables whose names, columns or descriptions have these words.",
        arguments=FindByWords,
        run=find_tables,
    ),
    tool(
        "describe_tables",
        toolset="databases",
        category="read",
        description="Show columns, types, keys, values and number of rows of tables.",
        arguments=DescribeTables,
        run=describe_tables,
    ),
    tool(
        "find_values",
        toolset="databases",
        category="read",
        description="Find stored texts that these words may mean, spelled as they are stored.",
        arguments=FindByWords,
        run=find_values,
    ),
    tool(
        "describe_table_as",
        toolset="databases",
        category="write",
        description="Store a description of a table, which users and models read from then on.",
        arguments=DescribeTableAs,
        run=describe_table_as,
        describe=lambda given: f"Replace the description of the table {given.table}.",
        repeatable=True,
    ),
    tool(
        "rescan_schema",
        toolset="databases",
        category="write",
        description="Read the schema of a database again, after tables or columns have changed.",
        arguments=RescanSchema,
        run=rescan_schema,
        describe=lambda given: "Read the schema of the database again.",
        repeatable=True,
    ),
)
