"""Check of the tables after FROM and JOIN."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.functions import is_table_function, names_of
from app.modules.database_connection.schema import Schema
from graph.errors import StatementRefused

_DEFAULT_SCHEMA = {"sqlite": "main", "postgres": "public", "duckdb": "main"}
_NAMES_SHOWN = 20
_LONGEST_NAME = 200
# System schemas and tables of the databases.
_CATALOGS = {"information_schema", "mysql", "performance_schema", "pg_catalog", "pg_toast", "sys"}
_CATALOG_TABLES = re.compile(r"(pg|sqlite|duckdb|pragma)_.*|dbstat", re.IGNORECASE)
_FILES = re.compile(r".*[./\\:*].*", re.DOTALL)


@dataclass(frozen=True)
class Catalog:
    """The tables of a schema, by name as the database compares names. None without a schema.

    `database` is the name of the database itself.
    """

    dialect: str
    tables: Mapping[str, str] | None
    database: str = ""

    @classmethod
    def of(cls, schema: Schema) -> "Catalog":
        return cls(schema.dialect, schema.folded, schema.database)

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
        if self.tables is None:
            return not self._is_reserved(table)
        return self._folded(table.this) in self.tables and (not table.db or self._is_own(table))

    def _is_own(self, table: exp.Table) -> bool:
        """True if the table is qualified with the database itself or its default schema."""
        qualifiers = [self._folded(part) for part in table.parts[:-1] if isinstance(part, exp.Identifier)]
        return len(qualifiers) == len(table.parts) - 1 and qualifiers in self._own_qualifiers()

    def _own_qualifiers(self) -> Iterator[list[str]]:
        own = self._folded(exp.to_identifier(self.database, quoted=True))
        if schema := _DEFAULT_SCHEMA.get(self.dialect):
            yield [schema]
            if own:
                yield [own, schema]
        if own and self.dialect in {"mysql", "duckdb"}:
            yield [own]

    def _is_reserved(self, table: exp.Table) -> bool:
        """True if a name is that of a system catalog, or of a file that DuckDB would open."""
        qualifiers = {part.name.lower() for part in table.parts[:-1]}
        is_file = self.dialect == "duckdb" and _FILES.fullmatch(table.name) is not None
        return is_file or bool(qualifiers & _CATALOGS) or _CATALOG_TABLES.fullmatch(table.name) is not None

    def _folded(self, identifier: exp.Identifier) -> str:
        return Dialect.get_or_raise(self.dialect).normalize_identifier(identifier.copy()).name

    def _advice(self, table: exp.Table) -> str:
        asked = table.sql(dialect=self.dialect, comments=False)[:_LONGEST_NAME]
        if self.tables is None:
            return f"{asked} is no table of a user's: catalogs and files are not read."
        if table.db and not self._is_own(table):
            own = next((".".join(each) for each in self._own_qualifiers()), "this database")
            return f"There is no table {asked} here; only the tables of {own} are read."
        names = {name.lower(): name for name in self.tables.values()}
        close = [names[each] for each in get_close_matches(table.name.lower()[:_LONGEST_NAME], names, n=3)]
        if close:
            return f"There is no table {asked}; did you mean {self._quoted(close)}?"
        shown = self._quoted(list(self.tables.values())[:_NAMES_SHOWN])
        return f"There is no table {asked}. The tables are: {shown or 'none'}."

    def _quoted(self, names: list[str]) -> str:
        """Returns names as they must be written in a statement."""
        return ", ".join(
            exp.to_identifier(name, quoted=self._needs_quotes(name)).sql(self.dialect) for name in names
        )

    def _needs_quotes(self, name: str) -> bool:
        plain = exp.SAFE_IDENTIFIER_RE.fullmatch(name) is not None
        return not plain or (self.dialect == "postgres" and name != name.lower())
