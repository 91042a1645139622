"""Names of tables and columns, as the database of a dialect compares them."""

from collections.abc import Collection, Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect


class DeclaredNames:
    """Looks up names of a statement among those that the database has declared."""

    def __init__(self, dialect: str, tables: Mapping[str, Collection[str]]) -> None:
        """`tables`: the names of columns by the name of their table."""
        self._folds = Dialect.get_or_raise(dialect)
        # MySQL compares the names of columns in any case, which sqlglot does not.
        self._takes_any_case = dialect == "mysql"
        self._tables = {self._folded(name): name for name in tables}
        self._columns = tables
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
        """Returns the declared name of a table. None if the schema does not have it."""
        plain = self._folds.normalize_identifier(table.this.copy()).name
        if table.db:
            schema = self._folds.normalize_identifier(table.args["db"].copy()).name
            if (found := self._tables.get(f"{schema}.{plain}")) is not None:
                return found
        return self._tables.get(plain)

    def columns(self, table: str) -> Collection[str]:
        """Returns the declared columns of a declared table, in order."""
        return self._columns[table]

    def _folded(self, name: str) -> str:
        return self._folds.normalize_identifier(exp.to_identifier(name, quoted=True)).name
