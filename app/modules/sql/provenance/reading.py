"""Reads the description of a statement from its tree."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.provenance.clauses import (
    conjuncts,
    has_aggregate,
    limit_of,
    null_rules,
    offset_of,
    ordered,
    other_parts,
    others_of,
    window_calls,
)
from app.modules.sql.provenance.combining import (
    branches_of,
    combined_columns,
    operation_of,
    renamed,
)
from app.modules.sql.provenance.expressions import Expressions
from app.modules.sql.provenance.model import (
    Clause,
    OutputColumn,
    QueryDescription,
    QueryRole,
    StatementDescription,
)
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.recursion import closed, mark, without_marks
from app.modules.sql.provenance.scopes import Given, Known, Scope
from app.modules.sql.provenance.sources import Sources
from app.modules.sql.statement import Statement

_RESULT = "result"
_SELECT_PARTS = {
    *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify"),
    *("windows", "order", "limit", "offset"),
}
_SET_PARTS = {"with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"}


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


class Reader:
    """Reads one statement. Its queries are described from the inside out."""

    def __init__(self, names: DeclaredNames, dialect: str) -> None:
        self._names = names
        self._dialect = dialect
        self._queries: list[QueryDescription] = []
        self._count = 0
        self._correlated: set[str] = set()
        """Ids of the queries that name columns of a query around them."""
        self._expressions = Expressions(names, dialect, self._describe)
        self._sources = Sources(
            names, dialect, self._expressions, describe=self._describe, correlated=self._correlated
        )
        self.computed = self._sources.computed
        self.selects: list[SelectParts] = []

    def read(self, tree: exp.Expr) -> StatementDescription:
        self._describe(tree, Scope(self._names, {}), role="result", name="")
        return StatementDescription(tables=self._expressions.tables(), queries=self._queries)

    # Queries

    def _describe(
        self, tree: exp.Expr, around: Scope, *, role: QueryRole, name: str, gives: bool = True
    ) -> Known:
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
                reads = self._expressions.reads(tree, around)
                self.computed[query].append(reads)
                return Known(query, None, reads.sources)
            case _:
                described = _empty(query, role, name)
                self._queries.append(
                    replace(described, has_all_columns=False, others=[tree.sql(self._dialect)])
                )
                self._sources.read_tables(tree, around)
                return Known(query, None)

    def _next_id(self) -> str:
        self._count += 1
        return f"query-{self._count}"

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
        others = [*others_of(tree, _SET_PARTS, self._dialect), *([special] if special else [])]
        described = replace(
            _empty(known.query, role, name),
            kind="set_operation",
            is_recursive=is_recursive,
            is_correlated=any(each in self._correlated for each in branches),
            columns=columns,
            has_all_columns=known.columns is not None,
            order=self._expressions.order(tree, [(each.name, None) for each in columns], None),
            limit=limit,
            offset=offset_of(tree, self._dialect),
            operation=operation_of(tree),
            branches=branches,
            others=others,
        )
        if described.is_correlated:
            self._correlated.add(known.query)
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
        read = self._sources.read(select, scope)
        where = conjuncts(_this(select.args.get("where")))
        lifted = {id(each) for each in self._sources.lift(where, read, scope)}
        where = [each for each in where if id(each) not in lifted]
        outputs = list(self._expressions.outputs(select, scope)) if gives else []
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
        filters = [
            self._expressions.filter(clause, each, scope)
            for clause, conditions in clauses
            for each in conditions
        ]
        groupings = list(self._expressions.groupings(select, scope, expressions))
        order = self._expressions.order(select, expressions, scope)
        limit, special = limit_of(select, self._dialect)
        windowed = [*for_aggregates, *qualify, *(key.this for key in ordered(select))]
        named = [each for each in select.args.get("windows") or () if isinstance(each, exp.Window)]
        distinct = select.args.get("distinct")
        on = _this_on(distinct)
        others = [
            *read.others,
            *others_of(select, _SELECT_PARTS, self._dialect),
            *([special] if special else []),
        ]
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
            offset=offset_of(select, self._dialect),
            windows=[call for each in windowed for call in window_calls(each, named, self._dialect)],
            nulls=list(
                dict.fromkeys(
                    [
                        *self._sources.unmatched(read.joins),
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
            self._correlated.add(query)
        self._queries.append(described)
        if read.is_flat and not read.others:
            self.selects.append(SelectParts(query, select, read.trees, where))
        columns = [Given(column.name, tuple(column.sources)) for column, _ in outputs]
        return Known(query, columns if has_all else None)


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
