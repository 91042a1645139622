"""Reads FROM and the joins of a SELECT."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from app.modules.sql.provenance.clauses import join_kind, others_of
from app.modules.sql.provenance.combining import renamed
from app.modules.sql.provenance.expressions import Describe, Expressions, Reads, columns_named
from app.modules.sql.provenance.model import (
    ConditionPlace,
    Join,
    JoinKind,
    NullRule,
    Source,
    SourceKind,
    TableColumnRef,
)
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.scopes import Given, Known, Scope, VisibleSource

_NOT_DESCRIBED = Known("", None)
_READS_NOTHING = Reads((), (), (), ())
_TABLE_PARTS = {"this", "alias", "db", "catalog", "joins"}
_SUBQUERY_PARTS = {"this", "alias", "with_", "joins"}


@dataclass
class From:
    """FROM and the joins of a SELECT, while they are read."""

    scope: Scope
    sources: list[Source] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    trees: list[tuple[exp.Join, exp.Expr | None]] = field(default_factory=list)
    """The joins, with the equalities of WHERE that are their conditions."""
    others: list[str] = field(default_factory=list)
    is_flat: bool = True
    """No join stands in parentheses."""


class Sources:
    """Reads the sources of one statement's queries."""

    def __init__(
        self,
        names: DeclaredNames,
        dialect: str,
        expressions: Expressions,
        *,
        describe: Describe,
        correlated: set[str],
    ) -> None:
        """`correlated`: ids of the described queries that name columns of a query around them."""
        self._names = names
        self._dialect = dialect
        self._expressions = expressions
        self._describe = describe
        self._correlated = correlated
        self.computed: defaultdict[str, list[Reads]] = defaultdict(list)
        """What functions and VALUES make their columns of, by alias, and VALUES as a query by its id."""

    def read(self, select: exp.Select, scope: Scope) -> From:
        """Reads FROM and the joins. Adds the sources to the scope."""
        read = From(scope)
        clause = select.args.get("from_")
        if isinstance(clause, exp.From):
            self._source(clause.this, read)
        for join in select.args.get("joins") or ():
            self._join(join, read)
        return read

    def _source(self, node: exp.Expr, read: From) -> None:
        """Adds a source, and the joins that stand in parentheses with it."""
        match node:
            case exp.Table(this=exp.Identifier()):
                self._table(node, read)
            case exp.Table():
                self._function(node, node.this or node, read)  # ROWS FROM has several functions
            case exp.Subquery(this=exp.Table() as inside):
                read.others.extend(others_of(node, _SUBQUERY_PARTS - {"alias"}, self._dialect))
                read.is_flat = False
                self._source(inside, read)
            case exp.Subquery():
                lateral = self._dialect == "duckdb"
                self._subquery(node, node.this, read, is_lateral=lateral)
            case exp.Lateral(this=exp.Subquery(this=inside)):
                self._subquery(node, inside, read, is_lateral=True)
            case exp.Lateral():
                self._function(node, node.this, read, is_lateral=True)
            case exp.Values():
                self._add(
                    node, read, name="VALUES", kind="values", reads=self._expressions.reads(node, read.scope)
                )
            case exp.UDTF():
                self._function(node, node, read)
            case _:
                self._add(node, read, name=node.sql(self._dialect), kind="unknown")
                self.read_tables(node, read.scope)
        nested = node.args.get("joins") if isinstance(node, exp.Table | exp.Subquery) else None
        for join in nested or ():
            read.is_flat = False
            self._join(join, read)

    def _table(self, node: exp.Table, read: From) -> None:
        read.others.extend(others_of(node, _TABLE_PARTS, self._dialect))
        folded = self._names.fold(node.this)
        if self._is_cte(node, read.scope):
            self._add(node, read, name=node.name, kind="cte", known=read.scope.ctes[folded])
            return
        table = self._names.table(node)
        if table is None:
            self._add(node, read, name=node.name, kind="unknown")
            return
        self._expressions.note_table(table)
        columns = [
            Given(each, (TableColumnRef(table=table, column=each),)) for each in self._names.columns(table)
        ]
        self._add(node, read, name=table, kind="table", known=Known("", columns), table=table)

    def _function(self, node: exp.Expr, call: exp.Expr, read: From, *, is_lateral: bool = False) -> None:
        reads = self._expressions.reads(call, read.scope)
        without_alias = call.copy()
        without_alias.set("alias", None)
        text = without_alias.sql(self._dialect)
        lateral = is_lateral or bool(reads.inputs)
        self._add(node, read, name=text, kind="function", is_lateral=lateral, reads=reads)

    def _subquery(self, node: exp.Expr, inside: exp.Expr, read: From, *, is_lateral: bool) -> None:
        if isinstance(node, exp.Subquery):
            read.others.extend(others_of(node, _SUBQUERY_PARTS, self._dialect))
        scope = read.scope
        around = Scope(self._names, scope.ctes, scope if is_lateral else scope.outer)
        known = self._describe(inside, around, role="subquery", name=node.alias)
        lateral = isinstance(node, exp.Lateral) or (is_lateral and known.query in self._correlated)
        self._add(node, read, name="", kind="subquery", known=known, is_lateral=lateral)

    def _add(
        self,
        node: exp.Expr,
        read: From,
        *,
        name: str,
        kind: SourceKind,
        known: Known = _NOT_DESCRIBED,
        table: str | None = None,
        is_lateral: bool = False,
        reads: Reads = _READS_NOTHING,
    ) -> None:
        """`reads`: what a function or VALUES makes its columns of."""
        scope = read.scope
        alias = node.args.get("alias")
        given = [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if kind in ("function", "values") and given:
            known = Known("", [Given(each, reads.sources) for each in given])
        known = renamed(known, given)
        shown = node.alias or (table or name)
        identifier = alias.this if isinstance(alias, exp.TableAlias) else None
        if identifier is None and isinstance(node, exp.Table):
            identifier = node.this
        folded = self._names.fold(identifier) or f"{len(scope.sources)}."
        columns = None
        if known.columns is not None:
            columns = {self._names.fold_declared(each.name): each for each in known.columns}
        if kind in ("function", "values"):
            self.computed[shown].append(reads)
        scope.sources[folded] = VisibleSource(
            alias=shown,
            table=table,
            query=known.query or None,
            columns=columns,
            made_of=known.made_of or reads.sources,
        )
        read.sources.append(
            Source(
                name=name or shown, alias=shown, kind=kind, query=known.query or None, is_lateral=is_lateral
            )
        )

    def _join(self, join: exp.Join, read: From) -> None:
        scope = read.scope
        before = list(scope.sources)
        self._source(join.this, read)
        added = list(scope.sources)[len(before) :]
        alias = scope.sources[added[0]].alias if added else ""
        on = join.args.get("on")
        using = [each.name for each in join.args.get("using") or ()]
        place: ConditionPlace = "none"
        if isinstance(on, exp.Expr):
            place = "on"
            self._expressions.reads(on, scope)
        elif using:
            place = "using"
        elif join.method.upper() == "NATURAL":
            place = "natural"
            using = _common(scope, before, added)
        kind = join_kind(join, has_condition=place != "none")
        if kind == "unknown":
            read.others.append(join.sql(self._dialect).strip())
        self._merge(scope, using, (before, added), kind=kind)
        read.joins.append(
            Join(
                kind=kind,
                alias=alias,
                condition=on.sql(self._dialect) if isinstance(on, exp.Expr) else None,
                using=using,
                place=place,
            )
        )
        read.trees.append((join, None))

    def _merge(
        self,
        scope: Scope,
        using: Sequence[str],
        sides: tuple[Sequence[str], Sequence[str]],
        *,
        kind: JoinKind,
    ) -> None:
        """Notes which source has the value of a column that USING or NATURAL merges."""
        before, added = sides
        for name in using:
            folded = self._names.fold_declared(name)
            left = (
                scope.merged.get(folded) or [each for each in before if scope.sources[each].has(folded)][:1]
            )
            right = [each for each in added if scope.sources[each].has(folded)][:1]
            for each in (*left, *right):
                self._expressions.note(columns_named(scope.sources[each], folded))
            if left or right:
                both = {"right": right or left, "full": [*left, *right]}
                scope.merged[folded] = both.get(kind, left or right)

    def lift(self, where: Sequence[exp.Expr], read: From, scope: Scope) -> list[exp.Expr]:
        """Gives sources that FROM only lists the equalities of WHERE that connect them with those before.

        Returns these equalities. They mean the same there unless a later join keeps rows without a match.
        """
        lifted: list[exp.Expr] = []
        if not read.is_flat or any(join.kind in ("right", "full") for join in read.joins):
            return lifted
        places = {source.alias: at for at, source in enumerate(read.sources)}
        connecting: defaultdict[int | None, list[exp.Expr]] = defaultdict(list)
        for each in where:
            connecting[_latest_of_equality(each, scope, places)].append(each)
        for at, join in enumerate(read.joins):
            own = connecting[at + 1] if join.kind == "cross" else []
            if own:
                lifted.extend(own)
                condition = exp.and_(*own)
                read.joins[at] = replace(
                    join, kind="inner", condition=condition.sql(self._dialect), place="where"
                )
                read.trees[at] = (read.trees[at][0], condition)
        for each in lifted:
            self._expressions.reads(each, scope)
        return lifted

    @staticmethod
    def unmatched(joins: Iterable[Join]) -> Iterator[NullRule]:
        """Yields where joins give rows without a match."""
        for join in joins:
            if join.kind in ("left", "full"):
                yield NullRule(kind="unmatched", sql=join.alias)
            if join.kind in ("right", "full"):
                yield NullRule(kind="kept", sql=join.alias)

    def read_tables(self, tree: exp.Expr, around: Scope) -> None:
        """Notes the tables of what cannot be described."""
        for table in tree.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and not self._is_cte(table, around):
                found = self._names.table(table)
                if found is not None:
                    self._expressions.note_table(found)

    def _is_cte(self, table: exp.Table, around: Scope) -> bool:
        return not table.db and self._names.fold(table.this) in around.ctes


def _common(scope: Scope, before: Sequence[str], added: Sequence[str]) -> list[str]:
    """Returns the names that sources on both sides of a NATURAL join have."""
    left = {folded for each in before for folded in scope.sources[each].columns or {}}
    return [
        given.name
        for each in added
        for folded, given in (scope.sources[each].columns or {}).items()
        if folded in left
    ]


def _latest_of_equality(condition: exp.Expr, scope: Scope, places: dict[str, int]) -> int | None:
    """Returns the place of the later source of an equality of columns of two sources of the query."""
    if not isinstance(condition, exp.EQ):
        return None
    sides = (condition.this.unnest(), condition.expression.unnest())
    if not all(isinstance(side, exp.Column) for side in sides):
        return None
    found = [each for side in sides for each in scope.find(side)]
    aliases = {each.ref.source for each in found}
    if len(found) != 2 or len(aliases) != 2 or any(each.is_outer for each in found):
        return None
    return max(places[each] for each in aliases) if aliases <= places.keys() else None
