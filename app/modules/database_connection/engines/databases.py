"""Protocols of database engines, implemented by `sqlite`, `postgres`, `mysql` and `duckdb`."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol, runtime_checkable

from sqlalchemy import Engine

from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import StatementTimedOut

Dialect = Literal["sqlite", "postgres", "mysql", "duckdb"]


class DatabaseSession(Protocol):
    """One read-only connection in one thread."""

    def execute(self, sql: str) -> RawRows:
        """Start one statement. Its rows are fetched while they are read.

        Raises `StatementFailed`, also when `stop` is due, and `DatabaseUnavailable`. Reading the rows
        raises the same.
        """


class Database(Protocol):
    """A database as its URL names it. Its repr holds no secret."""

    @property
    def dialect(self) -> Dialect:
        """sqlglot's name for the SQL."""

    @property
    def url(self) -> str:
        """The whole URL, with its secrets."""

    @property
    def masked_url(self) -> str:
        """The URL without its secrets, for users."""

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """Returns what the account may do besides reading, as sentences with the cure. Empty if it only
        reads.

        Raises what `engine` raises.
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
class RoleDatabase(Database, Protocol):
    """A database whose sessions can take another role than that of their account."""

    def acting_as(self, role: str) -> Database:
        """The same database, each of whose statements runs as this role.

        A session's `execute` then raises `DatabaseRoleMissing` when the account may not take it.
        """

    def roles_beyond_policies(self, roles: Collection[str], stop: Stop, connect_seconds: float) -> list[str]:
        """Returns the roles that no row-level security binds. Raises what `engine` raises."""


def stopped(stop: Stop) -> StatementTimedOut:
    """Returns the error of a statement that exceeded its time limit."""
    return StatementTimedOut(
        f"The statement was stopped after {stop.seconds:g} s. Make it cheaper: add filters, "
        "check that every join has a condition, aggregate in the database."
    )
