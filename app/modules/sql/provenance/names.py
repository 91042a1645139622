"""Names of tables and columns, as the database of a dialect compares them."""

from collections.abc import Collection, Iterator, Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from app.modules.sql.table_names import TableNames


class DeclaredNames:
    """Looks up names of a statement among those that the database has declared."""

    def __init__(self, tables: TableNames, columns: Mapping[str, Collection[str]]) -> None:
        """`columns`: names of columns by the text that their table is shown as."""
        self.dialect = tables.dialect
        self._tables = tables
        self._folds = Dialect.get_or_raise(tables.dialect)
        # MySQL compares the names of columns in any case, which sqlglot does not.
        self._takes_any_case = tables.dialect == "mysql"
        self._columns = columns
        self._known_folds: dict[str, str] = {}

    def fold(self, identifier: exp.Expr | None) -> str:
        """Returns the form of a name that equals that of the same name."""
        if not isinstance(identifier, exp.Identifier):
            return ""
        folded = self._folds.normalize_identifier(identifier.copy()).name
        return folded.casefold() if self._takes_any_case else folded

    def fold_declared(self, name: str) -> str:
        """Returns the same for a name that the database or another part of the statement has declared."""
        if name not in self._known_folds:
            folded = self._folded(name)
            self._known_folds[name] = folded.casefold() if self._takes_any_case else folded
        return self._known_folds[name]

    def table(self, table: exp.Table) -> str | None:
        """Returns the text that a table is shown as. None if the database does not have it."""
        return self._tables.find(table)

    @property
    def all_columns(self) -> Iterator[str]:
        """The names of all columns, some several times."""
        return (name for names in self._columns.values() for name in names)

    def columns(self, table: str) -> Collection[str]:
        """Returns the declared columns of a declared table, in order."""
        return self._columns[table]

    def _folded(self, name: str) -> str:
        return self._folds.normalize_identifier(exp.to_identifier(name, quoted=True)).name
