"""What a tool may use during a call: the session's databases, the turn's results and the knowledge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.llm.model import OfferedTool
from app.modules.context_store.service import ContextStore
from app.modules.database_connection.joins import DatabaseJoins, JoinedResult
from app.modules.database_connection.model import Connection
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.schema import Table
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.facts import Facts
from app.modules.records.model import Run
from app.modules.run.several_databases import asker_of
from app.modules.sql_generation.schema_context import SchemaContext
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.tools.history import ConversationHistory
from app.modules.tools.results import TurnResults


@dataclass(frozen=True, kw_only=True)
class ToolDatabase:
    """A database of the session. `label` is the name by which the model refers to it."""

    label: str
    connection: Connection
    schema_context: SchemaContext
    connections: DatabaseConnections
    run_of: Run

    @property
    def dialect(self) -> str:
        """sqlglot's name of its SQL."""
        return self.connection.dialect

    async def index(self) -> SchemaIndex:
        """Raises `DatabaseUnavailable`."""
        return await self.schema_context.index()

    async def table(self, name: str) -> Table | None:
        """Returns the one table of a name, in any case. Raises `DatabaseUnavailable`."""
        index = await self.index()
        found = index.names.table_names.read(name.strip())
        return index.tables[found[0]] if len(found) == 1 else None

    async def check(self, sql: str) -> None:
        """Check a statement as `run` does, without running it. Raises what `run` raises."""
        await self.schema_context.check(sql)
        await self.connections.check(self.connection, sql)

    async def find_approval(self, sql: str) -> str:
        """Returns why a person has to approve a statement before it runs. Empty if none has to."""
        if self.connection.ask_above_rows is None:
            return ""
        corrected = await self.schema_context.corrected(sql)
        asker = asker_of(self.run_of, "investigation")
        return await self.connections.find_approval(self.connection, corrected.sql, asker)

    async def run(self, sql: str, *, is_approved: bool = False) -> ResultSet:
        """Check a statement and run it read-only, as any statement of a question. `is_approved`: a person has
        approved what it reads.

        Raises `StatementFailed` or `DatabaseUnavailable`.
        """
        asker = asker_of(self.run_of, "investigation")
        return await self.connections.run(
            self.connection, sql, asker, check_names=self.schema_context.check, is_approved=is_approved
        )


class NoSuchDatabase(Exception):
    """The session has no database of this name."""


class SessionDatabases:
    """The databases of a session, its main one first. No others can be named."""

    def __init__(self, databases: Sequence[ToolDatabase]) -> None:
        self.all = databases

    async def run_joined(
        self, sql: str, first: str | None, tell: "ReportProgress", *, is_approved: bool
    ) -> JoinedResult | None:
        """Run a statement that names tables by several databases. Returns None for any other.

        `first` is the database whose tables need no name before them; without one the main one. Raises what
        `ToolDatabase.run` raises, and `NoSuchDatabase`.
        """
        main = self.named(first)
        ordered = sorted(self.all, key=lambda each: each is not main)
        joins = DatabaseJoins(main.connections, [(each.label, each.connection) for each in ordered])
        if not await joins.names_databases(sql):
            return None
        asker = asker_of(main.run_of, "investigation")
        return await joins.run(sql, asker, tell=tell, is_approved=is_approved)

    def named(self, label: str | None) -> ToolDatabase:
        """Returns the database of a name, without one the main one. Raises `NoSuchDatabase`."""
        if label is None:
            return self.all[0]
        wanted = label.strip().casefold()
        for each in self.all:
            if each.label.casefold() == wanted:
                return each
        names = ", ".join(each.label for each in self.all)
        raise NoSuchDatabase(f"There is no database {label[:80]!r}. The databases are: {names}.")


ReportProgress = Callable[[str, float], None]
"""Takes what the call does just now, and the part that is done: 0 to 1, or -1 if unknown."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What one call may use. Who asks and which databases there are is no argument of a call."""

    call_id: str
    owner: str
    """The owner of the session, whose rights the call has."""
    result_name: str
    """Name that the rows of this call have, if it makes any."""
    databases: SessionDatabases
    results: TurnResults
    knowledge: ContextStore
    history: ConversationHistory
    tools: Sequence[OfferedTool]
    """All tools that this investigation may call, also those that its prompt does not show."""
    progress: ReportProgress
    facts: Facts | None = None
    """None where no facts are kept."""
    is_approved: bool = False
    """A person has approved the call, after they have seen its arguments and warnings."""
    is_tainted: bool = False
    """The turn has read from a tool of others."""
