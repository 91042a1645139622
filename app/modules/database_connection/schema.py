"""What a scan learns of a database: tables, columns, keys and bounded profiles of their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "binary", "json"]


@dataclass(frozen=True)
class TableColumn:
    """A column and its profile.

    `values` lists every distinct value of a low-cardinality text column (else it is empty);
    `minimum` and `maximum` are set for numbers and dates, as text; `distinct_count` is None when it
    was not counted; `format` says how dates and codes are written that are kept as text;
    `database_type` is the database's own word for the type.
    """

    name: str
    type: ColumnType
    database_type: str
    nullable: bool = True
    primary_key: bool = False
    description: str = ""
    values: Sequence[str] = ()
    minimum: str | None = None
    maximum: str | None = None
    distinct_count: int | None = None
    format: str = ""


@dataclass(frozen=True)
class ForeignKey:
    """`columns` of this table refer, in order, to `referred_columns` of `referred_table`."""

    columns: Sequence[str]
    referred_table: str
    referred_columns: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table or view; `row_count` is as of the scan, an estimate on big tables, None if unknown."""

    name: str
    kind: Literal["table", "view"]
    columns: Sequence[TableColumn]
    foreign_keys: Sequence[ForeignKey] = ()
    row_count: int | None = None
    description: str = ""

    @property
    def foreign_key_columns(self) -> set[str]:
        """All columns of its foreign keys."""
        return {name for key in self.foreign_keys for name in key.columns}


@dataclass(frozen=True)
class Schema:
    """All tables of a connection; `dialect` is sqlglot's name for its SQL.

    `database` is the database's own name, which statements may write before that of a table; empty if it
    has none.
    """

    dialect: str
    tables: Sequence[Table]
    database: str = ""


@dataclass(frozen=True)
class Profile:
    """A table with its profile, and the distinct texts of its columns, by column, where they are not
    too many: what the words of a question are looked up in."""

    table: Table
    texts: Mapping[str, Sequence[str]]
