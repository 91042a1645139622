"""The names of a schema as its database compares them. Built once, used for every statement."""

from collections.abc import Collection, Sequence
from copy import copy

from rapidfuzz import fuzz, process
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.schema import MappingSchema

from app.modules.database_connection.schema import Schema, Table
from app.modules.sql_generation.foreign_keys import ForeignKeyGraph

_CLOSE = 60
_MOST_NEAREST = 3
_LONGEST_NAME = 200
_HIDDEN_COLUMNS = {
    "sqlite": frozenset({"rowid", "oid", "_rowid_"}),
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
}


class SchemaNames:
    """Lookups of a schema's names.

    Real names are those of the database. Folded names are in the case that the database compares: SQLite
    folds all names, PostgreSQL those without quotes.
    """

    def __init__(self, schema: Schema) -> None:
        self.dialect = schema.dialect
        self.hidden: Collection[str] = _HIDDEN_COLUMNS.get(schema.dialect, frozenset())
        self._folds = Dialect.get_or_raise(schema.dialect)
        self.takes_any_case = schema.dialect == "mysql"
        """True if the case of column names does not matter."""
        self.foreign_keys = ForeignKeyGraph(schema.tables)
        self.table_names = schema.names
        self.tables = schema.names.folded_names
        """The texts that the tables are shown as, by their folded form."""
        self.by_name = schema.by_name
        self._columns = {
            table.name: {self.folded(column.name): column.name for column in table.columns}
            for table in schema.tables
        }
        self.mapping = MappingSchema(
            {
                folded: dict.fromkeys(self._columns[name], "UNKNOWN") or {"": "UNKNOWN"}
                for folded, name in self.tables.items()
            },
            dialect=schema.dialect,
            normalize=False,
        )

    def copy_with_profiles(self, schema: Schema) -> "SchemaNames":
        """Returns the lookups of the same names, with what a scan has read of the tables since."""
        newer = copy(self)
        newer.by_name = schema.by_name
        return newer

    def folded(self, name: str) -> str:
        """Returns the folded form of a real name."""
        return self._folds.normalize_identifier(exp.to_identifier(name, quoted=True)).name

    def columns(self, folded_table: str) -> Sequence[str]:
        """Returns the real names of a table's columns; empty if the table is unknown."""
        return list(self._columns.get(self.tables.get(folded_table, ""), {}).values())

    def table(self, folded: str) -> Table | None:
        """Returns the table with a folded name, or None."""
        return self.by_name.get(self.tables.get(folded, ""))

    def table_of(self, source: exp.Table) -> Table | None:
        """Returns the one table that a source of a statement means, or None."""
        return self.by_name.get(self.table_names.find(source) or "")

    def real_column(self, table: str, folded_column: str) -> str:
        """Returns the real name of a column; an unknown name unchanged. `table` is a real name."""
        return self._columns[table].get(folded_column, folded_column)

    def places_of(self, column: str) -> list[tuple[str, str]]:
        """Returns the (table, column) pairs whose column has this name in any case; real names."""
        wanted = column.casefold()
        return [
            (table, each)
            for table, columns in self._columns.items()
            for each in columns.values()
            if each.casefold() == wanted
        ]

    def written(self, name: str) -> str:
        """Returns a real name as SQL, in quotes if it needs them."""
        plain = exp.SAFE_IDENTIFIER_RE.fullmatch(name) is not None and name == self._unquoted(name)
        return exp.to_identifier(name, quoted=not plain).sql(self.dialect)

    def written_table(self, name: str) -> str:
        """Returns the text that a table is shown as, as SQL: each of its parts in quotes if it needs them."""
        return ".".join(map(self.written, self.table_names.short(name).parts))

    def _unquoted(self, name: str) -> str:
        if self.dialect == "sqlite":
            return name
        in_upper_case = self._folds.normalization_strategy is NormalizationStrategy.UPPERCASE
        return name.upper() if in_upper_case else name.lower()


def nearest(name: str, names: Collection[str]) -> list[str]:
    """Returns the names most similar to `name`, nearest first, at most three; none if it is too long."""
    if len(name) > _LONGEST_NAME:
        return []
    found = process.extract(
        name,
        list(names),
        scorer=fuzz.WRatio,
        processor=str.casefold,
        score_cutoff=_CLOSE,
        limit=_MOST_NEAREST,
    )
    return [match for match, _, _ in found]


def in_one_line(name: str) -> str:
    """Returns a name as prompts show it: with spaces for line breaks, behind which text could pass for a
    heading there.
    """
    return " ".join(name.splitlines())


def same_but_for_case(name: str, names: Collection[str]) -> str | None:
    """Returns the one name that equals `name` except for case; None if there is none or several.

    A name with line breaks equals what prompts show of it, too: see `in_one_line`.
    """
    found = [each for each in names if in_one_line(each).casefold() == in_one_line(name).casefold()]
    return found[0] if len(found) == 1 else None
