"""What SQLite may do for a statement, decided by itself while it prepares it."""

import sqlite3
from collections.abc import Collection, Mapping

from sqlglot import exp

from app.modules.database_connection.guard.functions import allowed_names
from app.modules.database_connection.guard.named import ROW_ID, NamedTable
from app.modules.policies.masks import HASH_FUNCTION

_CATALOG_PRAGMAS = {
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "read_uncommitted",
    "table_info",
    "table_list",
    "table_xinfo",
}


def authorize_query(
    action: int, first: str | None, second: str | None, database: str | None, source: str | None
) -> int:
    """Authorizer of queries: allows SELECT from tables that are not SQLite's own, with allowed functions."""
    if action == sqlite3.SQLITE_READ:
        allowed = not (first or "").startswith("sqlite_")
    elif action == sqlite3.SQLITE_FUNCTION:
        # The guard lets no statement call the function of hashes: only rules do.
        allowed = (second or "").lower() in {*allowed_names("sqlite"), HASH_FUNCTION}
    else:
        allowed = action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def authorize_scan(
    action: int, first: str | None, second: str | None, database: str | None, source: str | None
) -> int:
    """Authorizer of scans: allows what `authorize_query` allows, and reading the catalog."""
    if action == sqlite3.SQLITE_READ or (action == sqlite3.SQLITE_PRAGMA and first in _CATALOG_PRAGMAS):
        return sqlite3.SQLITE_OK
    return authorize_query(action, first, second, database=database, source=source)


class NamedOnly:
    """Authorizer of one statement: allows what `authorize_query` allows, of the tables it names.

    A view that it names may read what it is made of. `denied` is a sentence about the first read that was
    denied because it is not named; empty if there is none.
    """

    def __init__(self, named: Mapping[str, NamedTable], connection: sqlite3.Connection) -> None:
        self._named = named
        self._keys = {
            (name, key)
            for name, table in named.items()
            if table.columns is not None and table.has(ROW_ID)
            for key in _first_keys(table.name, connection)
            if key not in table.hidden
        }
        views = _views_among(named, connection)
        self._has_views = bool(views)
        self._of_views = {read for view in views for read in _reads_of(view, connection)}
        self.denied = ""

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        answer = authorize_query(action, first, second, database=database, source=source)
        if action != sqlite3.SQLITE_READ or answer != sqlite3.SQLITE_OK:
            return answer
        table = (first or "").lower()
        if database in (None, "main") and self._is_named(table, (second or "").lower(), source):
            return sqlite3.SQLITE_OK
        what = f"a column of {first} that it does not name" if table in self._named else f"{first}, which"
        end = "" if table in self._named else " is in no FROM or JOIN of it"
        self.denied = self.denied or f"The statement was not run: it would read {what}{end}."
        return sqlite3.SQLITE_DENY

    def _is_named(self, table: str, column: str, source: str | None) -> bool:
        """True if the statement, or a view that it names, names a column. `source` is the view or the common
        table expression that reads it; None for the statement itself.
        """
        if not column:  # the table is read, but no column of it; in a view's name, too, without a source
            return table in self._named or self._has_views
        if (table in self._named and self._named[table].has(column)) or (table, column) in self._keys:
            return True
        return source is not None and (table, column) in self._of_views


def _first_keys(table: str, connection: sqlite3.Connection) -> list[str]:
    """Returns the column that may be another name of the table's row ids, in lower case."""
    found = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,))
    return [name.lower() for (name,) in found]


def _views_among(names: Collection[str], connection: sqlite3.Connection) -> list[str]:
    views = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
    return [name for (name,) in views if name.lower() in names]


def _reads_of(view: str, connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Returns the columns that a view reads, with their tables, in lower case."""
    found: set[tuple[str, str]] = set()

    def record(
        action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ and source is not None:
            found.add(((first or "").lower(), (second or "").lower()))
        return authorize_query(action, first, second, database=database, source=source)

    connection.set_authorizer(record)
    columns = exp.select("*").from_(exp.table_(view, db="main", quoted=True))
    try:
        connection.execute(f"EXPLAIN {columns.sql('sqlite')}").close()
    except sqlite3.Error:  # the statement itself will fail by it
        found.clear()
    return found
