"""Reading the whole schema of a database, values' profiles included."""

from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.catalog import read_catalog
from app.modules.database_connection.databases import Database
from app.modules.database_connection.limits import Limits
from app.modules.database_connection.profile import Questions, profiled
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable


def scan(database: Database, limits: Limits, stop: Stop) -> Schema:
    """The schema, in the calling thread. Raises `DatabaseUnavailable`.

    The catalog gets `scan_seconds` or the scan fails; the profiles get as many again and end incomplete.
    """
    try:
        with database.engine(stop, limits.connect_seconds) as engine, engine.connect() as connection:
            stop.after(limits.scan_seconds)
            tables = read_catalog(connection)
            questions = Questions.within(limits, connection, stop)
            return Schema(database.dialect, [profiled(table, questions) for table in tables])
    except DBAPIError:
        raise DatabaseUnavailable("The schema of the database could not be read.") from None
