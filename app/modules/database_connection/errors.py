"""Errors of database connections. Their texts hold no secret and no text of a driver."""

from collections.abc import Generator
from contextlib import contextmanager

from app.core.errors import Forbidden, Invalid, NotFound, Problem
from app.modules.usage.errors import BytesSpent
from graph.errors import DatabaseUnavailable, StatementFailed, TurnError


class ConnectionNotFound(NotFound):
    """There is no such connection, or it belongs to another owner."""

    title = "No such database connection"


class NotTheOwner(Forbidden):
    """A shared connection and its context store can be changed only by the owner."""

    sentence = (
        "This database is shared with you. Only its owner can change it, its examples, glossary and "
        "instructions."
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


class RolesRefused(Invalid):
    """The database does not let its account take the roles that statements are to run as."""

    problem = "database-roles-refused"
    title = "The roles cannot be taken"


class PersonUnknown(TurnError):
    """The connection has policies, and nothing says for which person the statement runs."""

    problem = "policies-need-person"
    title = "It is not known who reads"
    status = 403


class PoliciesRefused(Invalid):
    """The policies cannot be kept as they are written."""

    problem = "policies-not-valid"
    title = "The policies are not valid"


class StatementNotRun(Invalid):
    """The guard does not let the statement through, or the database did not run it."""

    problem = "statement-failed"
    title = "The SQL does not run"


class DatabaseDown(Problem):
    """A database that was reachable when it was registered is not reachable now."""

    problem = "database-unavailable"
    title = "The database is unavailable"
    cure = (
        "Send the request again when the database is reachable. `POST /database-connections/test` tries it."
    )
    retryable = True
    status = 503


class DatabaseBytesSpent(DatabaseUnavailable):
    """Databases have read all bytes of the owner's day, so no statement runs."""

    problem = BytesSpent.problem
    title = BytesSpent.title
    status = BytesSpent.status
    cure = "Ask again after midnight UTC, or have an administrator raise KAI_QUOTAS__BYTES_PER_DAY."
    retryable = False

    def __init__(self, spent: BytesSpent) -> None:
        super().__init__(spent.detail)
        self.spent = spent


@contextmanager
def as_problems() -> Generator[None]:
    """Outside a turn: raises `StatementNotRun`, `DatabaseDown` or `BytesSpent` in place of a turn's error."""
    try:
        yield
    except DatabaseBytesSpent as error:
        raise error.spent from None
    except StatementFailed as failure:
        raise StatementNotRun(failure.detail) from failure
    except DatabaseUnavailable as error:
        raise DatabaseDown(error.detail) from error
