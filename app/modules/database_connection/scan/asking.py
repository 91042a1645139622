"""Questions a scan asks about values: read-only, and never longer than they are worth."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError

from app.modules.database_connection.engines.databases import stopped
from app.modules.database_connection.threads import Stop

Rows: TypeAlias = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Questions:
    """Asks about values, each time within the time for one statement and for all profiles.

    `end` is a reading of the monotonic clock.
    """

    connection: Connection
    stop: Stop
    statement_seconds: float
    end: float

    def ask(self, statement: Executable) -> Rows | None:
        """Returns the answer, or None at the time limit. Raises `StatementFailed` once the scan is
        stopped.
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
