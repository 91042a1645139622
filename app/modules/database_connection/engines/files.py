"""Base class of databases that are files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Connection

from app.modules.database_connection.threads import Stop


@dataclass(frozen=True)
class FileDatabase:
    """A file that existed when its URL was read."""

    path: Path
    dialect: str

    @property
    def url(self) -> str:
        return URL.create(self.dialect, database=str(self.path)).render_as_string()

    @property
    def masked_url(self) -> str:
        return self.path.name

    def warnings(self, stop: Stop, connect_seconds: float) -> Sequence[str]:
        """Returns none: a file has no accounts and is opened read-only."""
        return ()

    def missing_right(self, connection: Connection) -> str:
        """Returns an empty text: a file has no accounts."""
        return ""
