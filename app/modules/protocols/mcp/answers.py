"""What the tools of KAI's MCP server return."""

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from app.modules.database_connection.model import Connection
from app.modules.database_connection.schema import ColumnType, Table
from app.modules.memory.model import Sentiment
from graph.answer import Statements
from graph.described import Described


class DatabaseInfo(Described):
    """A database that may be asked about."""

    id: str
    """Id, for the argument `database` of other tools."""
    name: str
    """Name, which other tools take as well if no other database has it."""
    description: str
    """Description for users."""
    dialect: str
    """Dialect of its SQL."""
    table_count: int | None
    """Number of its tables. Null before the first scan."""

    @classmethod
    def of(cls, connection: Connection) -> "DatabaseInfo":
        return cls(
            id=connection.id,
            name=connection.name,
            description=connection.description,
            dialect=connection.dialect,
            table_count=connection.table_count,
        )


class DatabaseList(Described):
    """Databases that may be asked about, oldest first."""

    databases: list[DatabaseInfo]
    """At most 100 of them."""


class _TableResult(Described):
    name: str
    """Name of the table."""
    kind: Literal["table", "view"]
    """Table or view."""
    description: str
    """Description of the table."""
    row_count: int | None
    """Rows at the last scan. Null if unknown."""


class TableInfo(_TableResult):
    """A table without its columns' details."""

    columns: list[str]
    """Names of its columns."""

    @classmethod
    def of(cls, table: Table) -> "TableInfo":
        return cls(
            name=table.name,
            kind=table.kind,
            description=table.description,
            row_count=table.row_count,
            columns=[column.name for column in table.columns],
        )


class DatabaseDescription(Described):
    """Tables of a database."""

    database: DatabaseInfo
    """The database."""
    tables: list[TableInfo]
    """The tables, those that fit the words best first."""
    more_tables: int
    """Number of tables that are left out."""


class ColumnInfo(Described):
    """A column."""

    name: str
    """Name of the column."""
    type: ColumnType
    """Type of its values."""
    description: str
    """Comment on the column."""
    nullable: bool
    """The column may hold NULL."""
    primary_key: bool
    """The column belongs to the primary key."""


class ForeignKeyInfo(Described):
    """A foreign key."""

    columns: list[str]
    """Columns of the table."""
    refers_to: str
    """Table that they refer to."""
    referred_columns: list[str]
    """Columns that they refer to."""


class TableDescription(_TableResult):
    """A table with its columns and keys."""

    columns: list[ColumnInfo]
    """Its columns, in order."""
    foreign_keys: list[ForeignKeyInfo]
    """Its foreign keys."""

    @classmethod
    def of(cls, table: Table) -> "TableDescription":
        return cls(
            name=table.name,
            kind=table.kind,
            description=table.description,
            row_count=table.row_count,
            columns=[
                ColumnInfo(
                    name=column.name,
                    type=column.type,
                    description=column.description,
                    nullable=column.nullable,
                    primary_key=column.primary_key,
                )
                for column in table.columns
            ],
            foreign_keys=[
                ForeignKeyInfo(
                    columns=list(key.columns),
                    refers_to=key.referred_table,
                    referred_columns=list(key.referred_columns),
                )
                for key in table.foreign_keys
            ],
        )


class TableDescriptions(Described):
    """Tables with their columns and keys."""

    tables: list[TableDescription]
    """The tables, in the order they were asked for."""


class RowsOfStatement(Described):
    """Rows of a statement."""

    columns: list[str]
    """Names of the columns."""
    rows: list[list[JsonValue]]
    """Rows, one list of values each."""
    row_count: int
    """Number of rows that the statement returned, up to a limit of KAI."""
    truncated: bool
    """There are more rows than `rows` holds, or long values are cut."""


class AnswerToQuestion(Statements):
    """An answer to a question."""

    answer: str
    """The answer in Markdown. For a question back, that question."""
    needs_clarification: bool
    """The answer is a question back: ask again with the session's id and what it wants to know."""
    sql: str | None
    """The statement. Null if there is none."""
    columns: list[str]
    """Names of the result's columns."""
    rows: list[list[JsonValue]]
    """The first rows, at most 50."""
    row_count: int
    """Number of rows of the result."""
    truncated: bool
    """There are more rows than `rows` holds."""
    chart: dict[str, JsonValue] | None
    """Vega-Lite specification of the chart, with its data. Null without one, if it takes more than 64 KiB, or
    if a column of the result is secret.
    """
    session_id: str
    """Id of the session, for a follow-up."""
    run_id: str
    """Id of the run."""
    status: Literal["complete"]
    """Outcome of the run. One that failed or was cancelled is an error of the tool."""


class PastConversation(Described):
    """A conversation of the caller."""

    session_id: str
    """Id of the session, for a follow-up by `ask`."""
    title: str | None
    """Title of the session."""
    summary: str | None
    """Summary of the conversation. Null if there is none yet."""
    themes: list[str]
    """Themes of the conversation."""
    persons: list[str]
    """Persons that it mentions."""
    places: list[str]
    """Places that it mentions."""
    user_sentiment: Sentiment | None
    """Your sentiment in it. Null if it is not known."""
    relevance: float | None
    """How well its summary fits, from 0 to 1. Null if its title or a question was found."""
    updated_at: str
    """Time of its last change (RFC 3339)."""


class PastConversations(Described):
    """Conversations of the caller."""

    conversations: list[PastConversation]
    """The conversations, those that fit best first."""


class ConversationSummary(Described):
    """What a conversation of the caller was about."""

    session_id: str
    """Id of the session."""
    summary: str
    """Summary of the conversation."""
    themes: list[str]
    """Themes of the conversation."""
    updated_at: str
    """Time at which the summary was written (RFC 3339)."""


class UserMemories(Described):
    """What KAI remembers of the caller."""

    profile: dict[str, list[str]]
    """Sentences about the caller by attribute, such as `output_preferences`. Attributes without any are left
    out.
    """
    conversations: list[ConversationSummary]
    """The latest conversations, last written first."""


def names_of(connections: Sequence[Connection]) -> str:
    """Returns the names of databases, for a message."""
    return ", ".join(each.name for each in connections) or "none"
