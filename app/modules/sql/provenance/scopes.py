"""Names that the expressions of a query can see: its sources, and those of the queries around it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from app.modules.sql.provenance.model import ColumnRef, TableColumnRef
from app.modules.sql.provenance.names import DeclaredNames


@dataclass(frozen=True)
class Given:
    """A column that a source gives, with the columns of tables that it is made of."""

    name: str
    sources: tuple[TableColumnRef, ...]


@dataclass(frozen=True)
class Known:
    """The result of a described query: its id and its columns; None if they are not all known.

    `made_of`: what the columns of VALUES are made of.
    """

    query: str
    columns: Sequence[Given] | None
    made_of: tuple[TableColumnRef, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VisibleSource:
    """A source as expressions see it."""

    alias: str
    table: str | None
    """Its declared name, if it is a table of the database."""
    query: str | None
    columns: Mapping[str, Given] | None
    """The columns by their folded names. None if they are not known."""
    made_of: tuple[TableColumnRef, ...] = ()
    """What columns that are not known are made of: those of a function are made of its arguments."""

    def has(self, folded: str) -> bool:
        return self.columns is not None and folded in self.columns


@dataclass(frozen=True)
class Found:
    """A column that was assigned to a source."""

    ref: ColumnRef
    sources: tuple[TableColumnRef, ...]
    is_outer: bool = False


@dataclass
class Scope:
    """The sources of one query by their folded aliases, in order."""

    names: DeclaredNames
    ctes: dict[str, Known]
    outer: "Scope | None" = None
    sources: dict[str, VisibleSource] = field(default_factory=dict)
    merged: dict[str, list[str]] = field(default_factory=dict)
    """Folded aliases of the sources whose column USING or NATURAL has merged, by its folded name."""
    aliases: dict[str, list[Found]] = field(default_factory=dict)
    """What the named expressions of the select list are made of, by folded names."""
    is_correlated: bool = False
    """An expression of the query names a column of a query around it."""

    def find(self, column: exp.Column) -> list[Found]:
        """Returns what a column refers to. Empty for an unknown name."""
        folded = self.names.fold(column.this)
        if column.table:
            return list(self._qualified(column, folded))
        return self.find_unqualified(column.name, folded)

    def has_column(self, column: exp.Column) -> bool:
        """True if a source of this query has the column: it is not the name of an output column."""
        folded = self.names.fold(column.this)
        return bool(column.table) or any(source.has(folded) for source in self.sources.values())

    def _qualified(self, column: exp.Column, folded: str) -> Iterator[Found]:
        alias = self.names.fold(column.args["table"])
        scope: Scope | None = self
        while scope is not None:
            if alias in scope.sources:
                yield _found(scope.sources[alias], column.name, folded, is_outer=scope is not self)
                return
            scope = scope.outer

    def find_unqualified(self, name: str, folded: str) -> list[Found]:
        if folded in self.merged:
            return [_found(self.sources[each], name, folded) for each in self.merged[folded]]
        having = [source for source in self.sources.values() if source.has(folded)]
        if not having and folded in self.aliases:
            return self.aliases[folded]
        if not having and folded in self.sources:
            return self._row(self.sources[folded], name, folded)
        unknown = [source for source in self.sources.values() if source.columns is None]
        if not having and (len(unknown) == 1 or any(source.made_of for source in unknown)):
            return [_found(source, name, folded) for source in unknown]
        if having:
            return [_found(having[0], name, folded)]
        if self.outer is None:
            return []
        around = self.outer.find_unqualified(name, folded)
        return [Found(each.ref, each.sources, is_outer=True) for each in around]

    @staticmethod
    def _row(source: VisibleSource, name: str, folded: str) -> list[Found]:
        """Returns all columns of a source whose alias is used as a value: as a row, or its only column."""
        if source.columns is None:
            return [_found(source, name, folded)]
        return [_found(source, each.name, at) for at, each in source.columns.items()]


def _found(source: VisibleSource, name: str, folded: str, *, is_outer: bool = False) -> Found:
    given = (source.columns or {}).get(folded)
    declared = given.name if given is not None else name
    ref = ColumnRef(source=source.alias, column=declared, table=source.table, query=source.query)
    if given is not None:
        return Found(ref, given.sources, is_outer)
    if source.table is not None:
        return Found(ref, (TableColumnRef(table=source.table, column=declared),), is_outer)
    return Found(ref, source.made_of, is_outer)
