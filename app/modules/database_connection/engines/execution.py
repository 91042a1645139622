"""Checks and runs one statement."""

from dataclasses import dataclass

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.guard.named import named_tables
from app.modules.database_connection.limits import StatementLimits
from app.modules.database_connection.results import ResultSet, collect
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop


@dataclass(frozen=True, kw_only=True)
class UncheckedStatement:
    """A statement that is not checked yet, with its database and limits."""

    sql: str
    schema: Schema
    database: Database
    limits: StatementLimits
    connect_seconds: float

    def run(self, stop: Stop) -> ResultSet:
        """Check and run the statement. Blocks the calling thread.

        Raises `StatementRefused` (before it ran), `StatementFailed` or `DatabaseUnavailable`.
        """
        return self.run_checked(check(self.sql, self.schema, self.limits.max_characters), stop)

    def run_checked(self, sql: str, stop: Stop) -> ResultSet:
        """Run what `check` returned for this statement. SQLite itself refuses to read what the guard did not
        see in it.
        """
        database = self.database
        if isinstance(database, SqliteDatabase):
            database = database.reading_only(named_tables(self.sql, self.schema))
        with database.session(stop, self.connect_seconds) as session:
            stop.after(self.limits.timeout_seconds)
            return collect(session.execute(sql), self.limits)
