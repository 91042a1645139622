"""The layout of a statement for reading."""

from sqlglot.errors import SqlglotError

from app.core.settings import MAX_STATEMENT_CHARACTERS
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of


def laid_out(sql: str, dialect: str) -> str:
    """Returns a statement laid out for reading.

    Returns the statement itself if it cannot be parsed, or would become longer than any that may run.
    """
    try:
        with sqlglot_errors_only():
            written = statement_of(sql, dialect).tree.sql(dialect=dialect, pretty=True)
    except (SqlglotError, RecursionError):
        return sql
    return written if len(written) <= MAX_STATEMENT_CHARACTERS else sql
