"""What KAI asks of a kind of database; `sqlite`, `postgres`, `mysql` and `duckdb` answer."""

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
        """Start one statement; its rows are fetched while they are read.

        Raises `StatementFailed`, also when `stop` is due, and `DatabaseUnavailable`; so does the reading.
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
        """The URL as people may see it."""

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """What the account may do beyond reading, as sentences with the cure; empty if it only reads.

        Raises like `engine`.
        """

    def session(self, stop: Stop, connect_seconds: float) -> AbstractContextManager[DatabaseSession]:
        """A session for one statement that ends when `stop` is due; closed at exit.

        Raises `DatabaseUnavailable`, in words without secrets.
        """

    def engine(self, stop: Stop, connect_seconds: float) -> AbstractContextManager[Engine]:
        """The same session under SQLAlchemy, for reading the catalog; a statement of its own each time.

        Raises `DatabaseUnavailable`; a statement that `stop` ended raises `sqlalchemy.exc.DBAPIError`.
        """


@runtime_checkable
class RoleDatabase(Database, Protocol):
    """A database whose sessions can take another role than that of their account."""

    def acting_as(self, role: str) -> Database:
        """The same database, each of whose statements runs as this role.

        A session's `execute` then raises `DatabaseRoleMissing` when the account may not take it.
        """

    def roles_beyond_policies(self, roles: Collection[str], stop: Stop, connect_seconds: float) -> list[str]:
        """Those of the roles that no row-level security binds. Raises like `engine`."""


def stopped(stop: Stop) -> StatementTimedOut:
    """Error text for a statement that exceeded the time limit."""
    return StatementTimedOut(
        f"The statement was stopped after {stop.seconds:g} s. Make it cheaper: add filters, "
        "check that every join has a condition, aggregate in the database."
    )
