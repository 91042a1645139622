"""DuckDB files."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Engine

from app.modules.database_connection.engines.catalogs import Listing, inspected_schemas
from app.modules.database_connection.engines.duckdb.catalog import engine_over, has_tables, list_tables
from app.modules.database_connection.engines.duckdb.process import ChildEnded, DuckdbProcess, DuckdbRefused
from app.modules.database_connection.engines.duckdb.session import DuckdbSession
from app.modules.database_connection.engines.files import FileDatabase
from app.modules.database_connection.engines.watching import cancelled_when_due
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable

# Parts of the library's error messages while opening, and the texts for users. The first match counts.
_CAUSES: Sequence[tuple[str, str]] = (
    ("lock", "another program has it open for writing"),
    ("not a valid duckdb", "the file is not a DuckDB database"),
    ("version", "the file was written by a version of DuckDB that this one cannot read"),
    ("serialization", "the file was written by a version of DuckDB that this one cannot read"),
    ("wal", "it was not closed properly; open it once with DuckDB itself"),
)


@dataclass(frozen=True)
class DuckdbDatabase(FileDatabase):
    """A file that existed when its URL was read. DuckDB runs in a child process."""

    dialect: Literal["duckdb"] = "duckdb"

    def schema_names(self, connection: Connection) -> list[str]:
        return inspected_schemas(connection)

    def has_tables(self, connection: Connection, schemas: Sequence[str]) -> bool:
        return has_tables(connection, schemas)

    def list_tables(self, connection: Connection, schemas: Sequence[str]) -> Listing:
        return list_tables(connection, schemas)

    @contextmanager
    def session(self, stop: Stop, connect_seconds: float) -> Iterator[DuckdbSession]:
        with self._opened(stop) as process:
            yield DuckdbSession(process, stop)

    @contextmanager
    def engine(self, stop: Stop, connect_seconds: float) -> Iterator[Engine]:
        with self._opened(stop) as process:
            yield engine_over(process)

    @contextmanager
    def _opened(self, stop: Stop) -> Iterator[DuckdbProcess]:
        process = self.process()
        with closing(process), cancelled_when_due(process.kill, stop):
            try:
                process.open()
            except DuckdbRefused as error:
                raise DatabaseUnavailable(
                    f"The DuckDB database cannot be used: {self.cause(str(error))}."
                ) from None
            except ChildEnded:
                raise DatabaseUnavailable("The DuckDB database cannot be used: it took too long.") from None
            yield process

    def process(self) -> DuckdbProcess:
        """Returns the process that is to open the database."""
        return DuckdbProcess(self.path)

    def cause(self, said: str) -> str:
        """Returns why the database cannot be opened, by the library's message."""
        said = said.lower()
        return next((cause for words, cause in _CAUSES if words in said), "the file cannot be opened")
