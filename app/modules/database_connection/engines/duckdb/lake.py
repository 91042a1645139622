"""Parquet files of a folder, read by DuckDB."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sqlalchemy import URL

from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase
from app.modules.database_connection.engines.duckdb.process import DuckdbProcess
from graph.errors import DatabaseUnavailable

_MOST_FILES = 10_000


@dataclass(frozen=True)
class ParquetFolder(DuckdbDatabase):
    """A folder that existed when its URL was read.

    Each of its Parquet files is a table, and so is each folder in it with Parquet files at any depth. Names
    of folders such as `year=2024` are columns. The files are listed for each statement.
    """

    @property
    def url(self) -> str:
        return URL.create("parquet", database=str(self.path)).render_as_string()

    def process(self) -> DuckdbProcess:
        return DuckdbProcess(self.path, parquet_tables(self.path))

    def cause(self, said: str) -> str:
        return said.splitlines()[0].replace(f"{self.path}/", "").rstrip(".")


def parquet_tables(folder: Path) -> Mapping[str, Sequence[str]]:
    """Returns the paths of the files of each table. A link out of the folder is left out.

    Raises `DatabaseUnavailable`, with the cure, if there is none, if two have one name, or too many.
    """
    found: dict[tuple[str, bool], list[str]] = {}  # by name, and whether it is a folder's
    try:
        paths = sorted(islice(folder.rglob("*.parquet"), _MOST_FILES + 1))
    except OSError:
        raise DatabaseUnavailable("The folder of Parquet files cannot be read.") from None
    if len(paths) > _MOST_FILES:
        raise DatabaseUnavailable(
            f"The folder has more than {_MOST_FILES:,} Parquet files. Name a folder in it, or join files."
        )
    for path in paths:
        if path.is_file() and path.resolve().is_relative_to(folder):
            inside = path.relative_to(folder)
            table = (inside.stem, False) if len(inside.parts) == 1 else (inside.parts[0], True)
            found.setdefault(table, []).append(str(path))
    if not found:
        raise DatabaseUnavailable("The folder has no Parquet files: their names end in .parquet.")
    counts = Counter(name.casefold() for name, _ in found)
    if doubled := [name for name, _ in found if counts[name.casefold()] > 1]:
        raise DatabaseUnavailable(
            f"The folder has two tables of the name {doubled[0]}. Rename the file or the folder."
        )
    return {name: paths for (name, _), paths in found.items()}
