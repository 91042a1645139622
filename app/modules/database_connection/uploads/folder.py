"""Folder of uploaded files: for each connection a folder with the file as sent and the database of it."""

import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.uploads.names import sql_name
from graph.errors import DatabaseUnavailable

_INCOMING = ".incoming-"
_LEFT_AFTER_SECONDS = 24 * 3600.0
_LONGEST_NAME = 40
SOURCE = "source"
READING = "reading.json"


def database_file_name(file_name: str) -> str:
    """Name of the database file. DuckDB names the database after it, so it differs from a table's name."""
    name = PurePath(file_name)
    stem = sql_name(name.stem, "file").encode("ascii", "ignore").decode()[:_LONGEST_NAME] or "file"
    return f"{stem}_{name.suffix.removeprefix('.').lower()}.duckdb"


@dataclass(frozen=True)
class UploadFolder:
    """Processes that answer questions must all reach it. Methods block."""

    path: Path

    def database(self, connection_id: str, file_name: str) -> Database:
        """Raises `DatabaseUnavailable` if the file is missing here."""
        from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase  # noqa: PLC0415 - slow to load

        path = self.of(connection_id) / database_file_name(file_name)
        if not path.is_file():
            raise DatabaseUnavailable(
                "The uploaded file is not in this machine's folder of uploads (KAI_UPLOADS__FOLDER). "
                "Delete the connection and upload the file again."
            )
        return DuckdbDatabase(path)

    def of(self, connection_id: str) -> Path:
        """The folder of a connection."""
        return self.path / connection_id

    @contextmanager
    def incoming(self) -> Generator[Path]:
        """A new folder for an import, which is removed at the end of the block if it is still there."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=self.path))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, incoming: Path, connection_id: str) -> None:
        """Make an incoming folder that of the connection."""
        incoming.rename(self.of(connection_id))

    def replace(self, incoming: Path, connection_id: str, file_name: str) -> None:
        """Replace the database and its reading. Raises `FileNotFoundError` if the connection was deleted.

        Statements that run keep the file that they have opened.
        """
        for name in (database_file_name(file_name), READING):
            Path(incoming / name).replace(self.of(connection_id) / name)

    def delete(self, connection_id: str) -> None:
        shutil.rmtree(self.of(connection_id), ignore_errors=True)

    def remove_left(self) -> None:
        """Remove imports that a killed process has left a day ago."""
        oldest = time.time() - _LEFT_AFTER_SECONDS
        for folder in self.path.glob(f"{_INCOMING}*"):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
