"""Parquet files of a folder, read by DuckDB."""

import os
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cachetools import LRUCache
from sqlalchemy import URL

from app.modules.database_connection.engines.duckdb.database import DuckdbDatabase
from app.modules.database_connection.engines.duckdb.process import DuckdbProcess
from graph.errors import DatabaseUnavailable

_MOST_FILES = 10_000
_MOST_ENTRIES = 50_000
"""Files and folders of any kind that are looked at."""
_TICK_NS = 2_000_000_000


@dataclass(frozen=True)
class ParquetFolder(DuckdbDatabase):
    """A folder that existed when its URL was read.

    Each of its Parquet files is a table, and so is each folder in it with Parquet files at any depth. Names
    of folders such as `year=2024` are columns. Each statement reads the files that there are.
    """

    @property
    def url(self) -> str:
        return URL.create("parquet", database=str(self.path)).render_as_string()

    def process(self) -> DuckdbProcess:
        return DuckdbProcess(self.path, parquet_tables(self.path))

    def cause(self, said: str) -> str:
        return said.splitlines()[0].replace(f"{self.path}/", "").rstrip(".")


@dataclass(frozen=True)
class _Listing:
    tables: Mapping[str, Sequence[str]]
    changed_at: Mapping[str, int]
    """When the entries of each folder changed last, in nanoseconds since 1970."""

    @property
    def is_current(self) -> bool:
        try:
            return all(Path(folder).stat().st_mtime_ns == at for folder, at in self.changed_at.items())
        except OSError:
            return False


_LISTINGS: LRUCache[Path, _Listing] = LRUCache(64)
_LISTING = threading.Lock()


def parquet_tables(folder: Path) -> Mapping[str, Sequence[str]]:
    """Returns the paths of the files of each table. A link out of the folder is left out. The folder is
    walked again only if an entry of it, or of a folder in it, came or went.

    Raises `DatabaseUnavailable`, with the cure, if there is none, if two have one name, or too many.
    """
    with _LISTING:
        known = _LISTINGS.get(folder)
    if known is not None and known.is_current:
        return known.tables
    began = time.time_ns()
    paths, changed_at = _walk(folder)
    listing = _Listing(_tables_of(folder, paths), changed_at)
    # The times of folders show no change within the clock's tick of the walk, and none of a link's aim.
    is_settled = max(changed_at.values()) < began - _TICK_NS
    if is_settled and not any(path.is_symlink() for path in paths):
        with _LISTING:
            _LISTINGS[folder] = listing
    return listing.tables


def _walk(folder: Path) -> tuple[list[Path], dict[str, int]]:
    """Returns the Parquet files in their order, and when each folder changed last. Raises
    `DatabaseUnavailable`.
    """
    paths: list[Path] = []
    changed_at: dict[str, int] = {}
    entries = 0
    try:
        os.scandir(folder).close()
        for place, folders, files in os.walk(folder):
            changed_at[place] = Path(place).stat().st_mtime_ns
            entries += len(folders) + len(files)
            if entries > _MOST_ENTRIES:
                raise DatabaseUnavailable(
                    f"The folder has more than {_MOST_ENTRIES:,} files and folders, of any kind. Name a "
                    "folder in it that holds the Parquet files alone."
                )
            paths += [Path(place, name) for name in files if name.endswith(".parquet")]
            if len(paths) > _MOST_FILES:
                raise DatabaseUnavailable(
                    f"The folder has more than {_MOST_FILES:,} Parquet files. Name a folder in it, or join "
                    "files."
                )
    except OSError:
        raise DatabaseUnavailable("The folder of Parquet files cannot be read.") from None
    return sorted(paths), changed_at


def _tables_of(folder: Path, paths: Sequence[Path]) -> Mapping[str, Sequence[str]]:
    """Returns the paths of each table. Raises `DatabaseUnavailable`."""
    found: dict[tuple[str, bool], list[str]] = {}  # by name, and whether it is a folder's
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
