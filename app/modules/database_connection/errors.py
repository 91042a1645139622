"""What can go wrong with a connection, in words that hold no secret and no driver's text."""

from collections.abc import Generator
from contextlib import contextmanager

from app.core.errors import Forbidden, Invalid, NotFound, Problem
from graph.errors import DatabaseUnavailable, StatementFailed


class ConnectionNotFound(NotFound):
    """No such connection, or it belongs to somebody else."""

    title = "No such database connection"


class NotTheOwner(Forbidden):
    """A shared connection, and what is told of it, is changed by its owner alone."""

    def __init__(self) -> None:
        super().__init__(
            "This database is shared with you; its owner alone changes it and what is told of it."
        )


class TableNotFound(NotFound):
    """The scanned schema has no such table."""

    title = "No such table"


class UrlNotSupported(Invalid):
    """The URL names a database or an option that KAI does not open."""

    problem = "database-url-not-supported"
    title = "The database URL is not supported"


class DatabaseUnreachable(Invalid):
    """The URL was understood, but no read-only session could be opened with it."""

    problem = "database-unreachable"
    title = "The database cannot be reached"


class StatementNotRun(Invalid):
    """The guard does not let the statement through, or the database did not run it."""

    problem = "statement-failed"
    title = "The SQL does not run"


class DatabaseDown(Problem):
    """A database that was reachable when it was registered is not reachable now."""

    problem = "database-unavailable"
    title = "The database is unavailable"
    status = 503


@contextmanager
def as_problems() -> Generator[None]:
    """For what is done outside a turn: raises `StatementNotRun` and `DatabaseDown` for a turn's errors."""
    try:
        yield
    except StatementFailed as failure:
        raise StatementNotRun(failure.detail) from failure
    except DatabaseUnavailable as error:
        raise DatabaseDown(error.detail) from error
