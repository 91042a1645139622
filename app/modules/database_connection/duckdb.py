"""DuckDB files. Imports duckdb, which comes with `kai[duckdb]`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb
from sqlalchemy import URL, Engine

from app.modules.database_connection.duckdb_catalog import engine_over
from app.modules.database_connection.duckdb_session import DuckdbSession
from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES
from app.modules.database_connection.threads import Stop
from app.modules.database_connection.watching import cancelled_when_due
from graph.errors import DatabaseUnavailable

_CONFIGURATION: Mapping[str, str | bool | int] = {
    "enable_external_access": False,  # no file, no network, no ATTACH, COPY, INSTALL or LOAD
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # no variable of ours is a table
    "memory_limit": f"{STATEMENT_MEMORY_BYTES}B",
    "temp_directory": "",
    "threads": 2,
    "lock_configuration": True,  # last: nothing above can be taken back
}
# What the library says while opening, and what people are told: the first that fits.
_CAUSES: Sequence[tuple[str, str]] = (
    ("lock", "another program has it open for writing"),
    ("not a valid duckdb", "the file is not a DuckDB database"),
    ("version", "the file was written by a version of DuckDB that this one cannot read"),
    ("serialization", "the file was written by a version of DuckDB that this one cannot read"),
    ("wal", "it was not closed properly; open it once with DuckDB itself"),
)


@dataclass(frozen=True)
class DuckdbDatabase:
    """A file that existed when its URL was read.

    Sessions of one file in one process share its memory limit. Code of DuckDB runs inside KAI.
    """

    path: Path
    dialect: Literal["duckdb"] = "duckdb"

    @property
    def url(self) -> str:
        return URL.create("duckdb", database=str(self.path)).render_as_string()

    @property
    def masked_url(self) -> str:
        return self.path.name

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """None: a file has no accounts, and is opened so that nobody can write by it."""
        return ()

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[DuckdbSession]:
        with closing(self._open()) as connection, cancelled_when_due(connection.interrupt, stop):
            yield DuckdbSession(connection, stop)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with closing(self._open()) as connection, cancelled_when_due(connection.interrupt, stop):
            yield engine_over(connection)

    def _open(self) -> duckdb.DuckDBPyConnection:
        try:
            return duckdb.connect(str(self.path), read_only=True, config=dict(_CONFIGURATION))
        except duckdb.Error as error:
            raise DatabaseUnavailable(f"The DuckDB database cannot be used: {_cause(str(error))}.") from None


def _cause(said: str) -> str:
    said = said.lower()
    return next((cause for words, cause in _CAUSES if words in said), "the file cannot be opened")
