"""Protocols of database engines, one folder each beside this file."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from sqlalchemy import Connection, Engine

from app.modules.database_connection.engines.catalogs import Listing
from app.modules.database_connection.network import Access
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementTimedOut


class EncryptionRefused(DatabaseUnavailable):
    """Client and server agree on no encryption, or the certificate is not the server's."""


SCAN_AGAIN = "It was removed since the last scan: scan the database again."
"""Cure of a statement whose table the database does not find."""


class DatabaseSession(Protocol):
    """One read-only connection in one thread."""

    def execute(self, sql: str) -> RawRows:
        """Start one statement. Its rows are fetched while they are read.

        Raises `StatementFailed`, also when `stop` is due, and `DatabaseUnavailable`. Reading does, too.
        """


class Database(Protocol):
    """A database that a URL describes. Its repr holds no secret."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of the SQL dialect."""

    @property
    def url(self) -> str:
        """The whole URL, with its secrets."""

    @property
    def masked_url(self) -> str:
        """The URL without its secrets, for users."""

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """Returns sentences about rights of the account besides reading, with advice. Empty if none.

        Raises what `engine` raises.
        """

    def missing_right(self, connection: Connection) -> str:
        """Returns a sentence with the cure if the account may read no table of the database. Empty if it may
        read one, if there is none, and for an engine without accounts.
        """

    def schema_names(self, connection: Connection) -> list[str]:
        """Returns the names of the schemas that the account, or a role that it may take, may use, in order.

        Without those of the system. On MySQL they are the databases of the server. Empty for SQLite.
        """

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        """True if the schemas have tables or views that the account sees. SQLite has no schemas."""

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        """Returns the tables and views of the schemas, without system and temporary ones and partitions.

        The number of queries does not grow with the schemas or tables, except for SQLite. Raises
        `sqlalchemy.exc.DBAPIError`.
        """

    def session(self, stop: Stop, connect_seconds: float) -> AbstractContextManager[DatabaseSession]:
        """Opens a session for one statement, which ends when `stop` is due.

        Raises `DatabaseUnavailable`, without secrets in its text.
        """

    def engine(self, stop: Stop, connect_seconds: float) -> AbstractContextManager[Engine]:
        """Opens the same session under SQLAlchemy, to read the catalog. Each statement is its own
        transaction.

        Raises `DatabaseUnavailable`. A statement that `stop` ended raises `sqlalchemy.exc.DBAPIError`.
        """


@runtime_checkable
class ServerDatabase(Database, Protocol):
    """A database of a server that accounts sign in to."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def user(self) -> str: ...

    @property
    def access(self) -> Access:
        """The addresses that may be connected to."""

    def is_encrypted(self, connection: Connection) -> bool:
        """True if what is sent over this connection is encrypted."""


@runtime_checkable
class EstimatingDatabase(Database, Protocol):
    """A database that estimates what a statement would read."""

    def estimate_rows(self, connection: Connection, sql: str) -> int | None:
        """Returns about how many rows a checked statement would go through. It does not run.

        Returns None, or raises `sqlalchemy.exc.DBAPIError`, for one that cannot be planned.
        """


@runtime_checkable
class ReadLimitingDatabase(Database, Protocol):
    """A database that itself stops a statement that reads too much."""

    def limit_reads(self, rows: int) -> Database:
        """Returns the same database, whose server stops a statement that reads more rows."""


@runtime_checkable
class RoleDatabase(Database, Protocol):
    """A database whose sessions can run as another role than their account."""

    def acting_as(self, role: str) -> Database:
        """Returns the same database with statements that run as this role.

        A session's `execute` then raises `DatabaseRoleMissing` if the account may not take the role.
        """

    def roles_beyond_policies(self, roles: Collection[str], stop: Stop, connect_seconds: float) -> list[str]:
        """Returns those of the roles that bypass row-level security. Raises what `engine` raises."""


def stopped(stop: Stop) -> StatementTimedOut:
    """Returns the error of a statement that exceeded its time limit."""
    return StatementTimedOut(
        f"The statement was stopped after {stop.seconds:g} s. Make it cheaper: add filters, "
        "check that every join has a condition, aggregate in the database."
    )
