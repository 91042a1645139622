"""Reads what the expressions of a query are made of: its columns, filters, groupings and order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sqlglot import exp

from app.modules.sql.provenance.clauses import has_aggregate, has_window, ordered, own_nodes
from app.modules.sql.provenance.combining import distinct_sources
from app.modules.sql.provenance.model import (
    Clause,
    ColumnKind,
    ColumnRef,
    Filter,
    Grouping,
    GroupingKind,
    Ordering,
    OutputColumn,
    QueryRole,
    TableColumnRef,
    TableRead,
)
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.scopes import Found, Known, Scope, VisibleSource

_GROUPINGS: tuple[tuple[type[exp.Expr], GroupingKind], ...] = (
    (exp.Rollup, "rollup"),
    (exp.Cube, "cube"),
    (exp.GroupingSets, "grouping_sets"),
)


class Describe(Protocol):
    """Describes a query. `around` has the CTEs, and the query that it may be correlated to.

    `gives`: its columns matter. Of a query in EXISTS they do not.
    """

    def __call__(
        self, tree: exp.Expr, around: Scope, *, role: QueryRole, name: str, gives: bool = True
    ) -> Known: ...


@dataclass(frozen=True)
class Reads:
    """What an expression reads."""

    inputs: Sequence[ColumnRef]
    sources: tuple[TableColumnRef, ...]
    queries: Sequence[str]
    found: Sequence[Found]


class Expressions:
    """Reads the expressions of one statement, and describes the queries inside of them."""

    def __init__(self, names: DeclaredNames, dialect: str, describe: Describe) -> None:
        self._names = names
        self._dialect = dialect
        self._describe = describe
        self._tables: dict[str, dict[str, None]] = {}
        """The columns of tables that were read."""
        self._known: dict[int, tuple[exp.Expr, Reads]] = {}
        """By the identity of the expression, which is kept so that no other gets it."""

    def tables(self) -> list[TableRead]:
        """The tables and columns that were read."""
        return [
            TableRead(name, [each for each in self._names.columns(name) if each in columns])
            for name, columns in sorted(self._tables.items())
        ]

    def note_table(self, name: str) -> None:
        """Notes a table that is read."""
        self._tables.setdefault(name, {})

    def outputs(self, select: exp.Select, scope: Scope) -> Iterator[tuple[OutputColumn, exp.Expr | None]]:
        """Yields the columns, each with its expression; columns of a star have none."""
        for each in select.expressions:
            star = _star_of(each)
            if star is not None:
                yield from self._star(each, star, scope)
                continue
            expression = each.unalias()
            reads = self.reads(expression, scope)
            written = expression.sql(self._dialect)
            column = OutputColumn(
                name=each.output_name or (written if each is expression else each.sql(self._dialect)),
                sql=written,
                kind=_column_kind(expression, reads),
                inputs=reads.inputs,
                sources=reads.sources,
                queries=reads.queries,
            )
            if isinstance(each, exp.Alias):
                scope.aliases[self._names.fold(each.args["alias"])] = list(reads.found)
            yield column, expression

    def _star(self, written: exp.Expr, star: exp.Star, scope: Scope) -> Iterator[tuple[OutputColumn, None]]:
        qualifier = self._names.fold(written.args.get("table")) if isinstance(written, exp.Column) else ""
        chosen = [qualifier] if qualifier else list(scope.sources)
        known = all(each in scope.sources and scope.sources[each].columns is not None for each in chosen)
        if not known or not chosen or any(star.args.values()):
            for source in chosen:
                if source in scope.sources:
                    self.note(_all_columns(scope.sources[source]))
            yield _unknown_column(written.sql(self._dialect)), None
            return
        first = [] if qualifier else list(scope.merged)
        for folded in first:
            found = [columns_named(scope.sources[each], folded) for each in scope.merged[folded]]
            yield self._plain([each for some in found for each in some]), None
        for source in chosen:
            visible = scope.sources[source]
            for folded in visible.columns or {}:
                if folded not in first:
                    yield self._plain(columns_named(visible, folded)), None

    def _plain(self, found: Sequence[Found]) -> OutputColumn:
        self.note(found)
        name = found[0].ref.column
        return OutputColumn(
            name=name,
            sql=f"{found[0].ref.source}.{name}",
            kind="column",
            inputs=[each.ref for each in found],
            sources=distinct_sources(each.sources for each in found),
            queries=[],
        )

    def note(self, found: Iterable[Found]) -> None:
        """Notes the columns of tables that are read."""
        for each in found:
            if each.ref.table is not None:
                self._tables.setdefault(each.ref.table, {})[each.ref.column] = None

    def reads(self, expression: exp.Expr, scope: Scope) -> Reads:
        """Returns what an expression reads, and describes the queries inside of it.

        An expression that several clauses share is read once.
        """
        if id(expression) not in self._known:
            self._known[id(expression)] = (expression, self._read_expression(expression, scope))
        return self._known[id(expression)][1]

    def _read_expression(self, expression: exp.Expr, scope: Scope) -> Reads:
        found: list[Found] = []
        queries: list[str] = []
        inner: list[tuple[TableColumnRef, ...]] = []
        for node in own_nodes(expression):
            if isinstance(node, exp.Query):
                around = Scope(self._names, scope.ctes, scope)
                gives = not isinstance(node.parent, exp.Exists)
                known = self._describe(node, around, role="subquery", name="", gives=gives)
                queries.append(known.query)
                inner.extend(each.sources for each in known.columns or ())
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                found.extend(self._read_row(node, scope))
            elif isinstance(node, exp.Column):
                found.extend(self._read_column(node, scope))
        self.note(found)
        scope.is_correlated |= any(each.is_outer for each in found)
        inputs = list(dict.fromkeys(each.ref for each in found))
        sources = distinct_sources([*(each.sources for each in found), *inner])
        return Reads(inputs, sources, queries, found)

    @staticmethod
    def _read_column(column: exp.Column, scope: Scope) -> list[Found]:
        found = scope.find(column)
        if found:
            return found
        ref = ColumnRef(source=column.table, column=column.name, table=None, query=None)
        return [Found(ref, ())]

    def _read_row(self, star: exp.Column, scope: Scope) -> list[Found]:
        """Returns all columns of a source that is used as a value, as in `to_json(orders.*)`."""
        source = scope.sources.get(self._names.fold(star.args["table"]))
        if source is None or source.columns is None:
            ref = ColumnRef(source=star.table, column=star.table, table=None, query=None)
            return [Found(ref, ())]
        return _all_columns(source)

    def filter(self, clause: Clause, condition: exp.Expr, scope: Scope) -> Filter:
        """Describes one condition of a clause."""
        reads = self.reads(condition, scope)
        return Filter(
            clause=clause,
            sql=condition.sql(self._dialect),
            columns=reads.inputs,
            queries=reads.queries,
        )

    def groupings(
        self, select: exp.Select, scope: Scope, outputs: Sequence[tuple[str, exp.Expr | None]]
    ) -> Iterator[Grouping]:
        """Yields the keys of GROUP BY. `outputs`: names and expressions of the columns."""
        group = select.args.get("group")
        if not isinstance(group, exp.Group):
            return
        keys = list(group.expressions)
        if group.args.get("all"):
            keys = [tree for _, tree in outputs if tree is not None and not has_aggregate(tree)]
        for key in keys:
            yield self._grouping(key, scope, outputs)
        for part in ("rollup", "cube", "grouping_sets"):
            for each in group.args.get(part) or ():
                yield self._grouping(each, scope, outputs)

    def _grouping(
        self, key: exp.Expr, scope: Scope, outputs: Sequence[tuple[str, exp.Expr | None]]
    ) -> Grouping:
        kind = _grouping_kind(key)
        output, meant = _meant(key, outputs, scope=scope, names=self._names, prefers="source")
        expression = meant if kind == "expression" else key
        return Grouping(
            kind=kind,
            sql=expression.sql(self._dialect),
            output=output,
            columns=self.reads(expression, scope).inputs,
        )

    def order(
        self, query: exp.Expr, outputs: Sequence[tuple[str, exp.Expr | None]], scope: Scope | None
    ) -> list[Ordering]:
        """Describes the keys of ORDER BY. `scope` is None for a set operation."""
        keys: list[Ordering] = []
        for key in ordered(query):
            output, meant = _meant(key.this, outputs, scope=scope, names=self._names, prefers="output")
            if scope is not None:
                self.reads(meant, scope)
            keys.append(
                Ordering(
                    sql=meant.sql(self._dialect),
                    output=output,
                    is_descending=bool(key.args.get("desc")),
                    nulls="first" if key.args.get("nulls_first") else "last",
                )
            )
        return keys


def columns_named(source: VisibleSource, folded: str) -> list[Found]:
    given = (source.columns or {}).get(folded)
    if given is None:
        return []
    ref = ColumnRef(source=source.alias, column=given.name, table=source.table, query=source.query)
    return [Found(ref, given.sources)]


def _all_columns(source: VisibleSource) -> list[Found]:
    return [found for folded in source.columns or {} for found in columns_named(source, folded)]


def _star_of(written: exp.Expr) -> exp.Star | None:
    if isinstance(written, exp.Star):
        return written
    if isinstance(written, exp.Column) and isinstance(written.this, exp.Star):
        return written.this
    return None


def _unknown_column(sql: str) -> OutputColumn:
    return OutputColumn(name=sql, sql=sql, kind="unknown", inputs=[], sources=[], queries=[])


def _grouping_kind(key: exp.Expr) -> GroupingKind:
    return next((kind for node, kind in _GROUPINGS if isinstance(key, node)), "expression")


def _column_kind(expression: exp.Expr, reads: Reads) -> ColumnKind:
    plain = expression.unnest()
    if isinstance(plain, exp.Column):
        return "column"
    if isinstance(plain, exp.Query):
        return "subquery"
    if has_window(expression):
        return "window"
    if has_aggregate(expression):
        return "aggregate"
    return "computed" if reads.inputs or reads.queries else "constant"


def _meant(
    key: exp.Expr,
    outputs: Sequence[tuple[str, exp.Expr | None]],
    *,
    scope: Scope | None,
    names: DeclaredNames,
    prefers: Literal["source", "output"],
) -> tuple[str | None, exp.Expr]:
    """Returns the output column that a key of GROUP BY or ORDER BY means, if any, and its expression."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        at = int(key.name) - 1
        if 0 <= at < len(outputs):
            name, tree = outputs[at]
            return name, tree or exp.column(name)
        return None, key
    if isinstance(key, exp.Column) and not key.table:
        is_column = prefers == "source" and scope is not None and scope.has_column(key)
        folded = names.fold(key.this)
        for name, tree in () if is_column else outputs:
            if names.fold_declared(name) == folded:
                return name, tree or key
    for name, tree in outputs:
        if tree is not None and tree == key:
            return name, key
    return None, key
