"""The scanned schema: tables, columns, keys and bounded profiles of their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, TypedDict

from app.core.redaction.names import names_secret
from app.modules.policies.limiting import Limiter
from app.modules.sql.table_names import TableName, TableNames, shortened
from graph.described import described


class ColumnEdit(TypedDict, total=False):
    """What a user writes of a column. What is left out stays."""

    description: str
    unit: str
    hidden: bool


_MOST_NAMES = 16
"""Databases whose names are shared by the states of their schemas."""

ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"]


@described
@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """A column and the profile of its values."""

    name: str
    """Name of the column."""
    type: ColumnType
    """Type of its values."""
    database_type: str
    """Type as the database names it."""
    nullable: bool = True
    """The column may hold NULL."""
    primary_key: bool = False
    """The column belongs to the primary key."""
    description: str = ""
    """Description, from the comment in the database or as a user changed it."""
    unit: str = ""
    """Unit of its numbers, as a user gave it. Empty if none is given."""
    hidden: bool = False
    """The owner hides the column: it is in no prompt, and no statement can read it."""
    values: Sequence[str] = ()
    """Every distinct value of a text column with few values. Empty otherwise."""
    minimum: str | None = None
    """Smallest number or date, as text."""
    maximum: str | None = None
    """Largest number or date, as text."""
    distinct_count: int | None = None
    """Number of distinct values. Null if they were not counted."""
    format: str = ""
    """Format of dates and codes that are stored as text."""


@described
@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key of a table."""

    columns: Sequence[str]
    """Columns of this table."""
    referred_table: str
    """Table that they refer to."""
    referred_columns: Sequence[str]
    """Columns that they refer to, in the same order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table or view; `row_count` is as of the scan, an estimate on big tables, None if unknown."""

    name: str
    """The name as it is shown: the shortest that no other table of the connection has."""
    full_name: TableName | None = None
    """The name in the database. None in a database without schemas, and for scans that knew only one."""
    kind: Literal["table", "view"]
    columns: Sequence[TableColumn]
    foreign_keys: Sequence[ForeignKey] = ()
    row_count: int | None = None
    description: str = ""
    hides: Sequence[str] = field(default_factory=list)
    """Names of columns that are left out of `columns`, because the owner hides them."""
    secrets: Sequence[str] = field(default_factory=list)
    """Columns of a view that it makes of columns which are named as secrets, under other names."""
    definition: str = ""
    """The statement of a view as the database tells it. Empty for tables, and if it could not be read."""
    found_at: int = 0
    """Epoch milliseconds of the first scan that found it with its columns. 0 for scans that did not say."""
    version: int = 0
    """Number of edits. Scans are none."""

    @property
    def in_database(self) -> TableName:
        """The name in the database, as far as it is known."""
        return self.full_name or TableName("", "", self.name)

    @property
    def short_name(self) -> TableName:
        """The parts of the name in the database that it is shown by."""
        return shortened(self.name, self.in_database)

    @property
    def foreign_key_columns(self) -> set[str]:
        """All columns of its foreign keys."""
        return {name for key in self.foreign_keys for name in key.columns}

    def is_secret(self, column: str) -> bool:
        """True if no model may read the values of the column of this name."""
        return names_secret(column) or column in self.secrets

    def without_hidden(self) -> "Table":
        """Returns the table as everyone but its owner sees it."""
        hides = [column.name for column in self.columns if column.hidden]
        if not hides:
            return self
        return replace(
            self,
            columns=[column for column in self.columns if not column.hidden],
            foreign_keys=[key for key in self.foreign_keys if not set(key.columns) & set(hides)],
            hides=hides,
        )


@lru_cache(maxsize=_MOST_NAMES)
def _names_of(dialect: str, names: tuple[tuple[str, TableName], ...], database: str) -> TableNames:
    """Returns the same object for every state of a scan with these names."""
    return TableNames(dialect, dict(names), database)


@dataclass(frozen=True)
class Schema:
    """All tables of a connection; `dialect` is sqlglot's name for its SQL.

    `database` is the database's own name, which statements may write before that of a table; empty if it
    has none. `limiter` are the rights of the person whose schema it is, where the connection has policies:
    the tables and columns are those that the person knows, and statements are limited to their rows.
    """

    dialect: str
    tables: Sequence[Table]
    database: str = ""
    limiter: Limiter | None = field(default=None, compare=False, repr=False)

    @cached_property
    def tables_with_secrets(self) -> frozenset[str]:
        """Names of tables with a column whose values are secret."""
        return frozenset(
            table.name
            for table in self.tables
            if any(table.is_secret(column.name) for column in table.columns)
        )

    @cached_property
    def names(self) -> TableNames:
        """The names of the tables, as the database compares them."""
        known = tuple((table.name, table.in_database) for table in self.tables)
        return _names_of(self.dialect, known, self.database)

    @cached_property
    def by_name(self) -> Mapping[str, Table]:
        """The tables by the names that are shown."""
        return {table.name: table for table in self.tables}


@dataclass(frozen=True)
class TableProfile:
    """A table with its profile, and the distinct texts of its columns, by column, where they are not
    too many: what the words of a question are looked up in."""

    table: Table
    texts: Mapping[str, Sequence[str]]
