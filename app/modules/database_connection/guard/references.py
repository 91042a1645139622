"""Check of the tables after FROM and JOIN."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.functions import is_table_function, names_of
from app.modules.sql.engine_data import SYSTEM_SCHEMAS
from app.modules.sql.table_names import TableNames
from graph.errors import StatementRefused

_NAMES_SHOWN = 20
_LONGEST_NAME = 200
# System tables of the databases.
_CATALOG_TABLES = re.compile(r"(pg|sqlite|duckdb|pragma)_.*|dbstat", re.IGNORECASE)
_FILES = re.compile(r".*[./\\:*].*", re.DOTALL)


@dataclass(frozen=True)
class Catalog:
    """The tables that a statement may read. `names` is None without a schema."""

    dialect: str
    names: TableNames | None

    def check(self, table: exp.Table, common: CommonTables) -> None:
        """Raises `StatementRefused` unless it is a table of the schema, a common table expression in scope or
        an allowed table function.
        """
        if isinstance(table.this, exp.Func):
            self._check_function(table.this)
        elif not self._is_known(table, common):
            raise StatementRefused(self._advice(table), "table")

    def _check_function(self, function: exp.Func) -> None:
        names = names_of(function)
        if not any(is_table_function(name, self.dialect) for name in names):
            raise StatementRefused(f"The function {min(names)} may not be used as a table.", "function")

    def _is_known(self, table: exp.Table, common: CommonTables) -> bool:
        if table.args.get("rows_from"):
            return True  # each function in it is checked as a table
        if not isinstance(table.this, exp.Identifier):
            return False
        if not table.db and common.are_named_by(table):
            return True
        if self.names is None:
            return not self._is_reserved(table)
        return self.names.find(table) is not None

    def _is_reserved(self, table: exp.Table) -> bool:
        """True if a name is that of a system catalog, or of a file that DuckDB would open."""
        qualifiers = {part.name.lower() for part in table.parts[:-1]}
        is_file = self.dialect == "duckdb" and _FILES.fullmatch(table.name) is not None
        return (
            is_file or bool(qualifiers & SYSTEM_SCHEMAS) or _CATALOG_TABLES.fullmatch(table.name) is not None
        )

    def _advice(self, table: exp.Table) -> str:
        asked = table.sql(dialect=self.dialect, comments=False)[:_LONGEST_NAME]
        if self.names is None:
            return f"{asked} is no table of a user's: catalogs and files are not read."
        if several := self.names.meanings(table):
            found = self._written(several, " and ")
            return f"There are {len(several)} tables {asked}: {found}. Write the schema of one of them."
        if table.db and not self.names.are_within(table):
            schemas = self.names.schemas
            own = ", ".join(schemas[:_NAMES_SHOWN])
            same = self._written(self.names.same_name(table), " and ") if len(schemas) > 1 else ""
            there = f" There is {same}." if same else ""
            return f"There is no table {asked} here; only the tables of {own} are read.{there}"
        names = {self.names[shown].name.lower(): shown for shown in self.names}
        close = [names[each] for each in get_close_matches(table.name.lower()[:_LONGEST_NAME], names, n=3)]
        if close:
            return f"There is no table {asked}; did you mean {self._written(close)}?"
        shown = self._written(list(self.names))
        return f"There is no table {asked}. The tables are: {shown or 'none'}."

    def _written(self, names: Sequence[str], between: str = ", ") -> str:
        """Returns names as they must be written in a statement."""
        known = self.names
        return "" if known is None else between.join(known.written(each) for each in names[:_NAMES_SHOWN])
