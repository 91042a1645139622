"""Queries of a scan about values, each with a time limit."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.engines.databases import stopped
from app.modules.database_connection.threads import Stop

FetchedRows: TypeAlias = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Questions:
    """Runs queries within the time limits of one statement and of all profiles.

    `end` is the end of all profiles, by `time.monotonic()`.
    """

    connection: Connection
    stop: Stop
    statement_seconds: float
    end: float

    def ask(self, statement: Executable) -> FetchedRows | None:
        """Returns the rows, or None at the time limit or after an error of the database.

        Raises `StatementFailed` once the scan is stopped.
        """
        self.stop.after(min(self.statement_seconds, self.end - time.monotonic()))
        try:
            if not self.stop.due:
                return self.connection.execute(statement).all()
        except DBAPIError:
            pass  # too slow, or a view that cannot be computed: no profile
        if self.stop.abandoned:
            raise stopped(self.stop)
        return None
