"""Statements that count the rows of a statement's queries step by step, made of its own tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.provenance.names import DeclaredNames
from app.modules.sql.provenance.reading import Reader, SelectParts
from app.modules.sql.statement import Statement

CountedStep = Literal["source", "join", "where", "groups"]


@dataclass(frozen=True, kw_only=True)
class StepStatement:
    """A statement with one row and column: the number of rows after a step of a query."""

    query: str
    step: CountedStep
    at: int
    """Place of the source or the join in its query, from 0. 0 for other steps."""
    sql: str


def step_statements(statement: Statement, names: DeclaredNames, most: int) -> list[StepStatement]:
    """Returns the statements that count the result's steps, and those of CTEs that are plain SELECTs: the
    first `most` of them.

    Empty for a statement that cannot be read. Queries that are evaluated for each row of another, and joins
    in parentheses, are not counted.
    """
    try:
        with sqlglot_errors_only():
            tree = statement.tree
            reader = Reader(names, statement.dialect)
            reader.read(tree)
            return list(islice(_steps(tree, reader.selects, statement.dialect), most))
    except (SqlglotError, RecursionError):
        return []


def _steps(tree: exp.Expr, selects: Sequence[SelectParts], dialect: str) -> Iterator[StepStatement]:
    by_tree = {id(each.select): each for each in selects}
    clause = tree.args.get("with_")
    before: list[exp.CTE] = []
    for cte in clause.expressions if isinstance(clause, exp.With) else ():
        parts = by_tree.get(id(cte.this))
        if parts is not None and not parts.select.args.get("with_"):
            yield from _of_select(parts, _with(clause, before), dialect)
        before.append(cte)
    parts = by_tree.get(id(tree))
    if parts is not None:
        yield from _of_select(parts, _with(clause, before), dialect)


def _with(clause: object, ctes: Sequence[exp.CTE]) -> exp.With | None:
    """Returns a WITH of the CTEs that a query can name."""
    if not isinstance(clause, exp.With) or not ctes:
        return None
    return exp.With(expressions=[each.copy() for each in ctes], recursive=clause.args.get("recursive"))


def _of_select(parts: SelectParts, ctes: exp.With | None, dialect: str) -> Iterator[StepStatement]:
    select = parts.select
    start = select.args.get("from_")
    if not isinstance(start, exp.From):
        return

    def step(
        kind: CountedStep, at: int, source: exp.Expr, *, joins: Sequence[exp.Join] = ()
    ) -> StepStatement:
        counted = exp.Select(expressions=[exp.Count(this=exp.Star())], from_=exp.From(this=source.copy()))
        if joins:
            counted.set("joins", [join.copy() for join in joins])
        if kind == "where":
            counted.set("where", exp.Where(this=exp.and_(*parts.filters)))
        if ctes is not None:
            counted.set("with_", ctes.copy())
        return StepStatement(query=parts.query, step=kind, at=at, sql=counted.sql(dialect))

    joins = [_joined(join, condition) for join, condition in parts.joins]
    sources = [start.this, *(join.this for join in joins)]
    for at, source in enumerate(sources):
        if not isinstance(source, exp.Lateral):
            yield step("source", at, source)
    for at in range(len(joins)):
        yield step("join", at, start.this, joins=joins[: at + 1])
    if parts.filters:
        yield step("where", 0, start.this, joins=joins)
    if any(select.args.get(part) for part in ("group", "having", "qualify", "distinct")):
        inside = select.copy()
        for part in ("with_", "order", "limit", "offset"):
            inside.set(part, None)
        yield step("groups", 0, inside.subquery("counted"))


def _joined(join: exp.Join, condition: exp.Expr | None) -> exp.Join:
    """Returns the join; one whose condition stands in WHERE gets it as its own."""
    if condition is None:
        return join
    return exp.Join(this=join.this.copy(), on=condition.copy())
