"""Division of whole numbers, which some databases truncate: a share of 0.4 would become 0."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

from app.modules.database_connection.schema import TableColumn
from app.modules.sql.engine_data import DATABASE_NAMES
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import Statement, statement_of
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.sentences import WarningPhrase, joined

_CUTTING = {"sqlite", "postgres"}
_KEEPING_TYPE = (exp.Min, exp.Max, exp.Paren, exp.Neg, exp.Abs)
_WHOLE_RESULT = (exp.Mod, exp.EQ, exp.NEQ, exp.In, exp.Distinct, exp.Limit, exp.Offset)
"""Nodes above a quotient that make sense for whole numbers only."""
_BIG = ("BIGINT", "BIGSERIAL", "INT8")
_MOST_INTEGER = 2**31 - 1
"""The greatest INTEGER of PostgreSQL; greater whole numbers are BIGINT."""


def keep_fractions(sql: str, schema: SchemaNames) -> Correction | None:
    """Returns the correction that keeps the fraction wherever both sides are certainly whole numbers.

    A division by a literal stays: truncation may be intended (`year / 10`). So does one whose fraction could
    change how many rows there are, as in GROUP BY, DISTINCT and the condition of a join, and one whose result
    has to be whole, as before `%`. Returns None if there is nothing to correct.
    """
    if schema.dialect not in _CUTTING or "/" not in sql:
        return None
    try:
        with sqlglot_errors_only():
            read = statement_of(sql, schema.dialect)
            statement = read.tree.copy()
            divided = _divide(statement, read, schema)
    except (SqlglotError, RecursionError):
        return None
    if not divided:
        return None
    database = DATABASE_NAMES[schema.dialect]
    said = WarningPhrase("corrected division", (joined([*map(quoted, divided)]), database))
    return Correction("division", said, (Edit(0, len(sql), statement.sql(schema.dialect, comments=False)),))


def _divide(statement: exp.Expr, read: Statement, schema: SchemaNames) -> list[str]:
    """Change the divisions in the statement itself. Returns the text of each as it was written."""
    written = list(statement.find_all(exp.Div))
    resolved = read.qualified(schema) if written else None
    if resolved is None:
        return []
    quotients = list(resolved.find_all(exp.Div))
    if len(written) != len(quotients):
        return []
    whole = _WholeColumns.of(read.scopes(schema), schema)
    divided: list[str] = []
    for original, quotient in zip(written, quotients, strict=True):
        divisor = _divisor(quotient)
        if isinstance(divisor, exp.Literal) or _is_whole_on_purpose(quotient, divisor):
            continue
        if not (_is_whole(quotient.this, whole) and _is_whole(divisor, whole)):
            continue
        divided.append(original.sql(schema.dialect))
        original.set("this", exp.Mul(this=exp.Literal.number("1.0"), expression=original.this))
    return divided


def _divisor(quotient: exp.Div) -> exp.Expr:
    """Returns the divisor without parentheses and NULLIF."""
    divisor: exp.Expr = quotient.expression
    while isinstance(divisor, exp.Paren | exp.Nullif):
        divisor = divisor.this
    return divisor


def _is_whole_on_purpose(quotient: exp.Div, divisor: exp.Expr) -> bool:
    """True if a fraction would change which rows there are, or if only a whole number makes sense there."""
    inner: exp.Expr = quotient
    outer = quotient.parent
    while outer is not None and not isinstance(outer, exp.Select):
        is_key = isinstance(outer, exp.Group | exp.Join) or inner.arg_key == "partition_by"
        is_cast = isinstance(outer, exp.Cast) and outer.to.this in exp.DataType.INTEGER_TYPES
        is_remainder = isinstance(outer, exp.Mul) and divisor in (outer.this, outer.expression)
        if is_key or is_cast or is_remainder or isinstance(outer, _WHOLE_RESULT):
            return True
        inner = outer
        outer = outer.parent
    return outer is not None and _is_of_rows(quotient, outer) and _distinguishes_rows(quotient, outer)


def _is_of_rows(quotient: exp.Div, select: exp.Select) -> bool:
    """True if each row has a quotient of its own: no aggregate is in it or around it."""
    around = quotient.find_ancestor(exp.AggFunc, exp.Select)
    return quotient.find(exp.AggFunc) is None and around in (select, None)


def _distinguishes_rows(quotient: exp.Div, select: exp.Select) -> bool:
    """True if the quotient distinguishes the rows of the result, or may do so in an outer query."""
    group = select.args.get("group")
    is_grouped = isinstance(group, exp.Group) and quotient in group.find_all(exp.Div)
    return is_grouped or select.args.get("distinct") is not None or select.parent is not None


@dataclass(frozen=True)
class _WholeColumns:
    """The columns of a statement that are stored as whole numbers, as ids of their nodes.

    `big` are the ids of those of a type such as BIGINT, whose SUM is NUMERIC in PostgreSQL.
    """

    ids: set[int]
    big: set[int]
    dialect: str

    @classmethod
    def of(cls, scopes: Iterable[Scope], schema: SchemaNames) -> "_WholeColumns":
        stored = [
            (id(node), column)
            for scope in scopes
            for node in scope.columns
            if (column := _stored(node, scope, schema)) is not None and column.type == "integer"
        ]
        big = {each for each, column in stored if column.database_type.upper().startswith(_BIG)}
        return cls({each for each, _ in stored}, big, schema.dialect)

    def sums_have_fractions(self, summed: exp.Expr) -> bool:
        if self.dialect != "postgres":
            return False
        return any(
            id(node) in self.big
            or isinstance(node, exp.Count | exp.Sum)
            or (isinstance(node, exp.Literal) and node.is_int and int(node.this) > _MOST_INTEGER)
            for node in summed.walk()
        )


def _stored(column: exp.Column, scope: Scope, schema: SchemaNames) -> TableColumn | None:
    source = scope.sources.get(column.table)
    table = schema.table(source.name) if isinstance(source, exp.Table) else None
    columns = [] if table is None else table.columns
    return next((each for each in columns if schema.folded(each.name) == column.name), None)


def _is_whole(term: exp.Expr, whole: _WholeColumns) -> bool:
    match term:
        case exp.Count():
            return True
        case exp.Literal():
            return term.is_int
        case exp.Column():
            return id(term) in whole.ids
        case exp.Case():
            results = [each.args["true"] for each in term.args["ifs"]]
            results += [term.args["default"]] if term.args.get("default") is not None else []
            return all(_is_whole(each, whole) for each in results)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_whole(term.this, whole) and _is_whole(term.expression, whole)
        case exp.Subquery():
            query = term.this
            return (
                isinstance(query, exp.Select)
                and len(query.selects) == 1
                and _is_whole(query.selects[0].unalias(), whole)
            )
        case exp.Distinct():
            return False
        case exp.Sum():
            return _is_whole(term.this, whole) and not whole.sums_have_fractions(term.this)
        case _ if isinstance(term, _KEEPING_TYPE):
            return _is_whole(term.this, whole)
        case _:
            return False
