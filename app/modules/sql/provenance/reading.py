"""Reads the description of a statement from its tree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.provenance.clauses import (
    conjuncts,
    has_aggregate,
    has_window,
    join_kind,
    limit_of,
    null_rules,
    other_parts,
    own_nodes,
    window_calls,
)
from app.modules.sql.provenance.combining import (
    branches_of,
    combined_columns,
    distinct_sources,
    operation_of,
    renamed,
)
from app.modules.sql.provenance.model import (
    Clause,
    ColumnKind,
    ColumnRef,
    ConditionPlace,
    Filter,
    Grouping,
    GroupingKind,
    Join,
    JoinKind,
    NullRule,
    Ordering,
    OutputColumn,
    QueryDescription,
    QueryRole,
    Source,
    SourceKind,
    StatementDescription,
    TableColumnRef,
    TableRead,
)
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.recursion import closed, mark, without_marks
from app.modules.sql.provenance.scopes import Found, Given, Known, Scope, VisibleSource
from app.modules.sql.statement import Statement

_RESULT = "result"
_NOT_DESCRIBED = Known("", None)
_SELECT_PARTS = {
    *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify"),
    *("windows", "order", "limit", "offset"),
}
_SET_PARTS = {"with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"}
_TABLE_PARTS = {"this", "alias", "db", "catalog", "joins"}
_SUBQUERY_PARTS = {"this", "alias", "with_", "joins"}
_GROUPINGS: tuple[tuple[type[exp.Expr], GroupingKind], ...] = (
    (exp.Rollup, "rollup"),
    (exp.Cube, "cube"),
    (exp.GroupingSets, "grouping_sets"),
)


def describe(statement: Statement, names: DeclaredNames) -> StatementDescription | None:
    """Describes a statement. Returns None for one that sqlglot cannot read."""
    try:
        with sqlglot_errors_only():
            return Reader(names, statement.dialect).read(statement.tree)
    except (SqlglotError, RecursionError):
        return None


@dataclass(frozen=True)
class SelectParts:
    """A SELECT as it was read: what counting its rows step by step needs."""

    query: str
    select: exp.Select
    joins: Sequence[tuple[exp.Join, exp.Expr | None]]
    """The joins, with the equalities of WHERE that are their conditions."""
    filters: Sequence[exp.Expr]
    """The other conditions of WHERE."""


@dataclass
class _From:
    """FROM and the joins of a SELECT, while they are read."""

    scope: Scope
    sources: list[Source] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    trees: list[tuple[exp.Join, exp.Expr | None]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    is_flat: bool = True
    """No join stands in parentheses."""


@dataclass(frozen=True)
class _Reads:
    """What an expression reads."""

    inputs: Sequence[ColumnRef]
    sources: tuple[TableColumnRef, ...]
    queries: Sequence[str]
    found: Sequence[Found]


class Reader:
    """Reads one statement. Its queries are described from the inside out."""

    def __init__(self, names: DeclaredNames, dialect: str) -> None:
        self._names = names
        self._dialect = dialect
        self._queries: list[QueryDescription] = []
        self._count = 0
        self._read: dict[str, dict[str, None]] = {}
        self._outer: set[str] = set()
        """Ids of the queries that name columns of a query around them."""
        self._known_reads: dict[int, tuple[exp.Expr, _Reads]] = {}
        """By the identity of the expression, which is kept so that no other gets it."""
        self.selects: list[SelectParts] = []

    def read(self, tree: exp.Expr) -> StatementDescription:
        self._describe(tree, Scope(self._names, {}), role="result", name="")
        tables = [
            TableRead(name, [each for each in self._names.columns(name) if each in columns])
            for name, columns in sorted(self._read.items())
        ]
        return StatementDescription(tables=tables, queries=self._queries)

    # Queries

    def _describe(
        self, tree: exp.Expr, around: Scope, *, role: QueryRole, name: str, gives: bool = True
    ) -> Known:
        """Describes a query. `around` has the CTEs, and the query that it may be correlated to.

        `gives`: its columns matter. Of a query in EXISTS they do not.
        """
        if isinstance(tree, exp.Subquery) and not other_parts(tree, {"this", "alias"}):
            return self._describe(tree.this, around, role=role, name=name, gives=gives)
        query = _RESULT if role == "result" else self._next_id()
        match tree:
            case exp.Select():
                return self._select(tree, around, query=query, role=role, name=name, gives=gives)
            case exp.SetOperation():
                return self._set_operation(tree, around, query=query, role=role, name=name)
            case exp.Values():
                described = _empty(query, role, name)
                self._queries.append(replace(described, kind="values", has_all_columns=False))
                return Known(query, None)
            case _:
                described = _empty(query, role, name)
                self._queries.append(
                    replace(described, has_all_columns=False, others=[tree.sql(self._dialect)])
                )
                self._read_tables(tree, around)
                return Known(query, None)

    def _next_id(self) -> str:
        self._count += 1
        return f"query-{self._count}"

    def _read_tables(self, tree: exp.Expr, around: Scope) -> None:
        """Notes the tables of what cannot be described."""
        for table in tree.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and not self._is_cte(table, around):
                found = self._names.table(table)
                if found is not None:
                    self._read.setdefault(found, {})

    def _is_cte(self, table: exp.Table, around: Scope) -> bool:
        return not table.db and self._names.fold(table.this) in around.ctes

    def _with(self, tree: exp.Expr, around: Scope) -> dict[str, Known]:
        """Describes the CTEs of a query. Returns all that it can name."""
        ctes = dict(around.ctes)
        clause = tree.args.get("with_")
        if not isinstance(clause, exp.With):
            return ctes
        for cte in clause.expressions:
            inside = Scope(self._names, ctes, around.outer)
            body = cte.this
            alias = cte.args["alias"]
            given = [each.name for each in alias.columns]
            if clause.args.get("recursive") and isinstance(body, exp.SetOperation):
                known = self._recursive(
                    body, inside, name=cte.alias, given=given, key=self._names.fold(alias.this)
                )
            else:
                known = renamed(self._describe(body, inside, role="cte", name=cte.alias), given)
            ctes[self._names.fold(alias.this)] = known
        return ctes

    def _recursive(
        self, body: exp.SetOperation, inside: Scope, *, name: str, given: Sequence[str], key: str
    ) -> Known:
        """Describes a CTE that may read itself.

        While its later branches are read, its own columns are made of marks, which then give way to what the
        columns are made of.
        """
        query = self._next_id()
        branches = branches_of(body)
        first = self._describe(branches[0], inside, role="branch", name="")
        anchor = renamed(first, given)
        own = None
        if anchor.columns is not None:
            own = [Given(each.name, (mark(query, at),)) for at, each in enumerate(anchor.columns)]
        itself = Known(query, own)
        start = len(self._queries)
        rest = [
            self._describe(branch, replace(inside, ctes={**inside.ctes, key: itself}), role="branch", name="")
            for branch in branches[1:]
        ]
        names_itself = any(source.query == query for each in self._queries[start:] for source in each.sources)
        made_of = closed(query, [anchor, *rest])
        for at in range(start, len(self._queries)):
            self._queries[at] = without_marks(self._queries[at], query, made_of)
        columns = None
        if anchor.columns is not None:
            columns = [Given(each.name, made_of[at]) for at, each in enumerate(anchor.columns)]
        known = Known(query, columns)
        self._finish_set(
            body,
            inside,
            known,
            role="cte",
            name=name,
            branches=[anchor.query, *(each.query for each in rest)],
            is_recursive=names_itself,
        )
        return known

    def _set_operation(
        self, tree: exp.SetOperation, around: Scope, *, query: str, role: QueryRole, name: str
    ) -> Known:
        inside = Scope(self._names, self._with(tree, around), around.outer)
        branches = [self._describe(branch, inside, role="branch", name="") for branch in branches_of(tree)]
        known = Known(query, combined_columns(tree, branches))
        self._finish_set(
            tree, inside, known, role=role, name=name, branches=[each.query for each in branches]
        )
        return known

    def _finish_set(
        self,
        tree: exp.SetOperation,
        inside: Scope,
        known: Known,
        *,
        role: QueryRole,
        name: str,
        branches: Sequence[str],
        is_recursive: bool = False,
    ) -> None:
        columns = [
            OutputColumn(
                name=each.name, sql=each.name, kind="column", inputs=[], sources=each.sources, queries=[]
            )
            for each in known.columns or ()
        ]
        limit, special = limit_of(tree, self._dialect)
        others = [*self._others(tree, _SET_PARTS), *([special] if special else [])]
        described = replace(
            _empty(known.query, role, name),
            kind="set_operation",
            is_recursive=is_recursive,
            is_correlated=any(each in self._outer for each in branches),
            columns=columns,
            has_all_columns=known.columns is not None,
            order=self._order(tree, [(each.name, None) for each in columns], None),
            limit=limit,
            offset=self._offset(tree),
            operation=operation_of(tree),
            branches=branches,
            others=others,
        )
        if described.is_correlated:
            self._outer.add(known.query)
        self._queries.append(described)

    def _select(
        self,
        select: exp.Select,
        around: Scope,
        *,
        query: str,
        role: QueryRole,
        name: str,
        gives: bool,
    ) -> Known:
        scope = Scope(self._names, self._with(select, around), around.outer)
        read = self._from(select, scope)
        where = conjuncts(_this(select.args.get("where")))
        lifted = self._lift(where, read, scope)
        where = [each for each in where if each not in lifted]
        outputs = list(self._outputs(select, scope)) if gives else []
        has_all = gives and all(column.kind != "unknown" for column, _ in outputs)
        expressions = [(column.name, tree) for column, tree in outputs]
        for_aggregates = [tree for _, tree in expressions if tree is not None]
        having = conjuncts(_this(select.args.get("having")))
        qualify = conjuncts(_this(select.args.get("qualify")))
        clauses: list[tuple[Clause, list[exp.Expr]]] = [
            ("where", where),
            ("having", having),
            ("qualify", qualify),
        ]
        filters = [self._filter(clause, each, scope) for clause, conditions in clauses for each in conditions]
        groupings = list(self._groupings(select, scope, expressions))
        order = self._order(select, expressions, scope)
        limit, special = limit_of(select, self._dialect)
        ordered = [key.this for key in _ordered(select)]
        windowed = [*for_aggregates, *qualify, *ordered]
        named = [each for each in select.args.get("windows") or () if isinstance(each, exp.Window)]
        distinct = select.args.get("distinct")
        on = _this_on(distinct)
        others = [*read.others, *self._others(select, _SELECT_PARTS), *([special] if special else [])]
        described = replace(
            _empty(query, role, name),
            kind="select",
            sources=read.sources,
            joins=read.joins,
            filters=filters,
            is_aggregated=bool(groupings) or any(map(has_aggregate, [*for_aggregates, *having])),
            groupings=groupings,
            columns=[column for column, _ in outputs],
            has_all_columns=has_all,
            is_distinct=isinstance(distinct, exp.Distinct) and not on,
            distinct_on=[each.sql(self._dialect) for each in on],
            order=order,
            limit=limit,
            offset=self._offset(select),
            windows=[call for each in windowed for call in window_calls(each, named, self._dialect)],
            nulls=list(
                dict.fromkeys(
                    [
                        *self._unmatched(read.joins),
                        *(rule for each in for_aggregates for rule in null_rules(each, self._dialect)),
                        *(
                            rule
                            for each in [*where, *having, *qualify]
                            for rule in null_rules(each, self._dialect, is_filter=True)
                        ),
                    ]
                )
            ),
            is_correlated=scope.is_correlated,
            others=others,
        )
        if described.is_correlated:
            self._outer.add(query)
        self._queries.append(described)
        if read.is_flat and not read.others:
            self.selects.append(SelectParts(query, select, read.trees, where))
        columns = [Given(column.name, tuple(column.sources)) for column, _ in outputs]
        return Known(query, columns if has_all else None)

    # FROM and joins

    def _from(self, select: exp.Select, scope: Scope) -> _From:
        read = _From(scope)
        clause = select.args.get("from_")
        if isinstance(clause, exp.From):
            self._source(clause.this, read)
        for join in select.args.get("joins") or ():
            self._join(join, read)
        return read

    def _source(self, node: exp.Expr, read: _From) -> None:
        """Adds a source, and the joins that stand in parentheses with it."""
        match node:
            case exp.Table(this=exp.Identifier()):
                self._table(node, read)
            case exp.Table():
                self._function(node, node.this, read)
            case exp.Subquery(this=exp.Table() as inside):
                read.others.extend(self._others(node, _SUBQUERY_PARTS - {"alias"}))
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
                self._add(node, read, name="VALUES", kind="values")
            case exp.UDTF():
                self._function(node, node, read)
            case _:
                self._add(node, read, name=node.sql(self._dialect), kind="unknown")
                self._read_tables(node, read.scope)
        nested = node.args.get("joins") if isinstance(node, exp.Table | exp.Subquery) else None
        for join in nested or ():
            read.is_flat = False
            self._join(join, read)

    def _table(self, node: exp.Table, read: _From) -> None:
        read.others.extend(self._others(node, _TABLE_PARTS))
        folded = self._names.fold(node.this)
        if self._is_cte(node, read.scope):
            self._add(node, read, name=node.name, kind="cte", known=read.scope.ctes[folded])
            return
        table = self._names.table(node)
        if table is None:
            self._add(node, read, name=node.name, kind="unknown")
            return
        self._read.setdefault(table, {})
        columns = [
            Given(each, (TableColumnRef(table=table, column=each),)) for each in self._names.columns(table)
        ]
        self._add(node, read, name=table, kind="table", known=Known("", columns), table=table)

    def _function(self, node: exp.Expr, call: exp.Expr, read: _From, *, is_lateral: bool = False) -> None:
        reads = self._reads(call, read.scope)
        without_alias = call.copy()
        without_alias.set("alias", None)
        text = without_alias.sql(self._dialect)
        self._add(node, read, name=text, kind="function", is_lateral=is_lateral or bool(reads.inputs))

    def _subquery(self, node: exp.Expr, inside: exp.Expr, read: _From, *, is_lateral: bool) -> None:
        if isinstance(node, exp.Subquery):
            read.others.extend(self._others(node, _SUBQUERY_PARTS))
        scope = read.scope
        around = Scope(self._names, scope.ctes, scope if is_lateral else scope.outer)
        known = self._describe(inside, around, role="subquery", name=node.alias)
        lateral = isinstance(node, exp.Lateral) or (is_lateral and known.query in self._outer)
        self._add(node, read, name="", kind="subquery", known=known, is_lateral=lateral)

    def _add(
        self,
        node: exp.Expr,
        read: _From,
        *,
        name: str,
        kind: SourceKind,
        known: Known = _NOT_DESCRIBED,
        table: str | None = None,
        is_lateral: bool = False,
    ) -> None:
        scope = read.scope
        alias = node.args.get("alias")
        given = [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if kind in ("function", "values") and given:
            known = Known("", [Given(each, ()) for each in given])
        known = renamed(known, given)
        shown = node.alias or (table or name)
        identifier = alias.this if isinstance(alias, exp.TableAlias) else None
        if identifier is None and isinstance(node, exp.Table):
            identifier = node.this
        folded = self._names.fold(identifier) or f"{len(scope.sources)}."
        columns = None
        if known.columns is not None:
            columns = {self._names.fold_declared(each.name): each for each in known.columns}
        scope.sources[folded] = VisibleSource(
            alias=shown, table=table, query=known.query or None, columns=columns
        )
        read.sources.append(
            Source(
                name=name or shown, alias=shown, kind=kind, query=known.query or None, is_lateral=is_lateral
            )
        )

    def _join(self, join: exp.Join, read: _From) -> None:
        scope = read.scope
        before = list(scope.sources)
        self._source(join.this, read)
        added = [each for each in scope.sources if each not in before]
        alias = scope.sources[added[0]].alias if added else ""
        on = join.args.get("on")
        using = [each.name for each in join.args.get("using") or ()]
        place: ConditionPlace = "none"
        if isinstance(on, exp.Expr):
            place = "on"
            self._reads(on, scope)
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
                self._note(_columns_named(scope.sources[each], folded))
            if left or right:
                both = {"right": right or left, "full": [*left, *right]}
                scope.merged[folded] = both.get(kind, left or right)

    def _lift(self, where: Sequence[exp.Expr], read: _From, scope: Scope) -> list[exp.Expr]:
        """Gives sources that FROM only lists the equalities of WHERE that connect them with those before.

        Returns these equalities. They mean the same there unless a later join keeps rows without a match.
        """
        lifted: list[exp.Expr] = []
        if not read.is_flat or any(join.kind in ("right", "full") for join in read.joins):
            return lifted
        places = {source.alias: at for at, source in enumerate(read.sources)}
        for at, join in enumerate(read.joins):
            if join.kind != "cross":
                continue
            own = [
                each
                for each in where
                if each not in lifted and _latest_of_equality(each, scope, places) == at + 1
            ]
            if own:
                lifted.extend(own)
                condition = exp.and_(*own)
                read.joins[at] = replace(
                    join, kind="inner", condition=condition.sql(self._dialect), place="where"
                )
                read.trees[at] = (read.trees[at][0], condition)
        for each in lifted:
            self._reads(each, scope)
        return lifted

    @staticmethod
    def _unmatched(joins: Iterable[Join]) -> Iterator[NullRule]:
        for join in joins:
            if join.kind in ("left", "full"):
                yield NullRule(kind="unmatched", sql=join.alias)
            if join.kind in ("right", "full"):
                yield NullRule(kind="kept", sql=join.alias)

    # Columns

    def _outputs(self, select: exp.Select, scope: Scope) -> Iterator[tuple[OutputColumn, exp.Expr | None]]:
        """Yields the columns, each with its expression; columns of a star have none."""
        for each in select.expressions:
            star = _star_of(each)
            if star is not None:
                yield from self._star(each, star, scope)
                continue
            expression = each.unalias()
            reads = self._reads(expression, scope)
            column = OutputColumn(
                name=each.output_name or each.sql(self._dialect),
                sql=expression.sql(self._dialect),
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
                    self._note(_all_columns(scope.sources[source]))
            yield _unknown_column(written.sql(self._dialect)), None
            return
        first = [] if qualifier else list(scope.merged)
        for folded in first:
            found = [_columns_named(scope.sources[each], folded) for each in scope.merged[folded]]
            yield self._plain([each for some in found for each in some]), None
        for source in chosen:
            visible = scope.sources[source]
            for folded in visible.columns or {}:
                if folded not in first:
                    yield self._plain(_columns_named(visible, folded)), None

    def _plain(self, found: Sequence[Found]) -> OutputColumn:
        self._note(found)
        name = found[0].ref.column
        return OutputColumn(
            name=name,
            sql=f"{found[0].ref.source}.{name}",
            kind="column",
            inputs=[each.ref for each in found],
            sources=distinct_sources(each.sources for each in found),
            queries=[],
        )

    def _note(self, found: Iterable[Found]) -> None:
        """Notes the columns of tables that are read."""
        for each in found:
            if each.ref.table is not None:
                self._read.setdefault(each.ref.table, {})[each.ref.column] = None

    def _reads(self, expression: exp.Expr, scope: Scope) -> _Reads:
        """Returns what an expression reads, and describes the queries inside of it.

        An expression that several clauses share is read once.
        """
        if id(expression) not in self._known_reads:
            self._known_reads[id(expression)] = (expression, self._read_expression(expression, scope))
        return self._known_reads[id(expression)][1]

    def _read_expression(self, expression: exp.Expr, scope: Scope) -> _Reads:
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
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                found.extend(self._of_column(node, scope))
        self._note(found)
        scope.is_correlated |= any(each.is_outer for each in found)
        inputs = list(dict.fromkeys(each.ref for each in found))
        sources = distinct_sources([*(each.sources for each in found), *inner])
        return _Reads(inputs, sources, queries, found)

    @staticmethod
    def _of_column(column: exp.Column, scope: Scope) -> list[Found]:
        found = scope.find(column)
        if found:
            return found
        ref = ColumnRef(source=column.table, column=column.name, table=None, query=None)
        return [Found(ref, ())]

    # Filters, groups, order

    def _filter(self, clause: Clause, condition: exp.Expr, scope: Scope) -> Filter:
        reads = self._reads(condition, scope)
        return Filter(
            clause=clause,
            sql=condition.sql(self._dialect),
            columns=reads.inputs,
            queries=reads.queries,
        )

    def _groupings(
        self, select: exp.Select, scope: Scope, outputs: Sequence[tuple[str, exp.Expr | None]]
    ) -> Iterator[Grouping]:
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
            columns=self._reads(expression, scope).inputs,
        )

    def _order(
        self, query: exp.Expr, outputs: Sequence[tuple[str, exp.Expr | None]], scope: Scope | None
    ) -> list[Ordering]:
        keys: list[Ordering] = []
        for key in _ordered(query):
            output, meant = _meant(key.this, outputs, scope=scope, names=self._names, prefers="output")
            if scope is not None:
                self._reads(meant, scope)
            keys.append(
                Ordering(
                    sql=meant.sql(self._dialect),
                    output=output,
                    is_descending=bool(key.args.get("desc")),
                    nulls="first" if key.args.get("nulls_first") else "last",
                )
            )
        return keys

    def _offset(self, query: exp.Expr) -> str | None:
        offset = query.args.get("offset")
        return offset.expression.sql(self._dialect) if isinstance(offset, exp.Offset) else None

    def _others(self, node: exp.Expr, known: set[str]) -> list[str]:
        """Returns the parts of a node that have no description, as SQL."""
        return [
            each.sql(self._dialect).strip() if isinstance(each, exp.Expr) else str(each)
            for each in other_parts(node, known)
        ]


def _empty(query: str, role: QueryRole, name: str) -> QueryDescription:
    return QueryDescription(
        id=query,
        role=role,
        kind="unknown",
        name=name,
        is_recursive=False,
        is_correlated=False,
        sources=[],
        joins=[],
        filters=[],
        is_aggregated=False,
        groupings=[],
        columns=[],
        has_all_columns=True,
        is_distinct=False,
        distinct_on=[],
        order=[],
        limit=None,
        offset=None,
        windows=[],
        nulls=[],
        operation=None,
        branches=[],
        others=[],
    )


def _this(clause: object) -> exp.Expr | None:
    return clause.this if isinstance(clause, exp.Expr) else None


def _this_on(distinct: object) -> Sequence[exp.Expr]:
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    if isinstance(on, exp.Tuple):
        return on.expressions
    return [on] if isinstance(on, exp.Expr) else []


def _ordered(query: exp.Expr) -> list[exp.Ordered]:
    order = query.args.get("order")
    keys = order.expressions if isinstance(order, exp.Order) else []
    return [key for key in keys if isinstance(key, exp.Ordered)]


def _common(scope: Scope, before: Sequence[str], added: Sequence[str]) -> list[str]:
    """Returns the names that sources on both sides of a NATURAL join have."""
    left = {folded for each in before for folded in scope.sources[each].columns or {}}
    return [
        given.name
        for each in added
        for folded, given in (scope.sources[each].columns or {}).items()
        if folded in left
    ]


def _columns_named(source: VisibleSource, folded: str) -> list[Found]:
    given = (source.columns or {}).get(folded)
    if given is None:
        return []
    ref = ColumnRef(source=source.alias, column=given.name, table=source.table, query=source.query)
    return [Found(ref, given.sources)]


def _all_columns(source: VisibleSource) -> list[Found]:
    return [found for folded in source.columns or {} for found in _columns_named(source, folded)]


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


def _column_kind(expression: exp.Expr, reads: _Reads) -> ColumnKind:
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
