"""Translation of statements that were written in the dialect of another database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from app.modules.database_connection.guard.check import check_shape
from app.modules.database_connection.guard.functions import is_allowed_function, names_of
from app.modules.sql.engine_data import DATABASE_NAMES
from app.modules.sql.parsing import parsed_one, sqlglot_errors_only
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.date_parts import DateParts
from app.modules.sql_generation.checking.findings import Correction, Edit, quoted
from app.modules.sql_generation.checking.names import SchemaNames
from app.modules.sql_generation.sentences import WarningPhrase
from graph.errors import StatementRefused

_OTHERS = {"tsql": "SQL Server", "bigquery": "BigQuery", "oracle": "Oracle"}
_COMMON = ("sqlite", "postgres", "mysql", "duckdb")
"""Dialects that are tried first, in this order."""
_BEFORE_NAMES = {
    TokenType.SELECT,
    TokenType.FROM,
    TokenType.JOIN,
    TokenType.WHERE,
    TokenType.ON,
    TokenType.DOT,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
}
_NOT_IN_SQLITE = (
    exp.DateAdd,
    exp.DateSub,
    exp.DateTrunc,
    exp.Extract,
    exp.Interval,
    exp.TimestampTrunc,
)
_FOREIGN_RULES = {"syntax", "function", "text", "construct"}
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S", "DOW": "%w"}
_STARTS = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}


def in_dialect(sql: str, schema: SchemaNames) -> Correction | None:
    """Returns the correction that translates a statement into the dialect of its database.

    Returns None if the database understands the statement as written, or if no known dialect fits. The
    guard decides both.
    """
    dialect = schema.dialect
    if _is_understood(sql, dialect):
        return None
    for other, name in _others(sql, dialect):
        found = _translated(sql, other, schema)
        if found is not None:
            said = _said(sql, name, dialect)
            for column in found.years:
                said = WarningPhrase("holds years", (said, quoted(column)))
            return Correction("dialect", said, (Edit(0, len(sql), found.sql),))
    return None


def _others(sql: str, dialect: str) -> Iterator[tuple[str, str]]:
    """Yields the other dialects and their names.

    If the statement has double quotes, the dialects that use them for text come last.
    """
    names = {**DATABASE_NAMES, **_OTHERS}
    known = [*_COMMON, *(each for each in names if each not in _COMMON)]
    for each in sorted(known, key=lambda each: '"' in sql and each in {"mysql", "bigquery"}):
        if each != dialect:
            yield each, names[each]


def _is_understood(sql: str, dialect: str) -> bool:
    """True if the statement parses and calls only functions that the database has."""
    try:
        check_shape(sql, dialect)
        statement = statement_of(sql, dialect).tree
    except StatementRefused as refused:
        return refused.rule not in _FOREIGN_RULES
    except (SqlglotError, RecursionError):
        return False
    return not (
        (dialect == "sqlite" and statement.find(*_NOT_IN_SQLITE))
        or (dialect == "mysql" and _has_names_in_quotes(sql))
        or (dialect == "postgres" and _has_names_in_brackets(sql))
    )


def _has_names_in_quotes(sql: str) -> bool:
    """True if a table name is in double quotes, or || joins text: MySQL reads these as text and as OR."""
    tokens = Dialect.get_or_raise("mysql").tokenize(sql)
    return any(
        (one.token_type in {TokenType.FROM, TokenType.JOIN} and _is_text(other) and sql[other.start] == '"')
        or (one.token_type == TokenType.DPIPE and _is_text(other))
        or (other.token_type == TokenType.DPIPE and _is_text(one))
        for one, other in pairwise(tokens)
    )


def _has_names_in_brackets(sql: str) -> bool:
    """True if a name is in brackets. A bracket of PostgreSQL follows ARRAY or the value it indexes."""
    tokens = Dialect.get_or_raise("postgres").tokenize(sql)
    return any(
        one.token_type in _BEFORE_NAMES and other.token_type == TokenType.L_BRACKET
        for one, other in pairwise(tokens)
    )


def _is_text(token: Token) -> bool:
    return token.token_type == TokenType.STRING


def _is_allowed(sql: str, dialect: str) -> bool:
    try:
        check_shape(sql, dialect)
    except StatementRefused:
        return False
    return True


@dataclass(frozen=True)
class _Translated:
    """A statement in the dialect of its database; `years` are the columns that hold years as numbers."""

    sql: str
    years: Sequence[str] = ()


def _translated(sql: str, other: str, schema: SchemaNames) -> _Translated | None:
    dialect = schema.dialect
    years: Sequence[str] = ()
    try:
        statement = parsed_one(sql, other)
        if not isinstance(statement, exp.Query):
            return None
        if other in DATABASE_NAMES and not _is_allowed(sql, other):
            return None
        if other in _OTHERS and statement.find(exp.Anonymous) is not None:
            return None
        with sqlglot_errors_only():
            if dialect == "sqlite":
                dates = DateParts(statement, schema)
                if dates.has_other_numbers:
                    return None
                years = dates.take_years()
                statement = statement.transform(_for_sqlite)
            written = statement.sql(dialect, unsupported_level=ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError):
        return None
    understood = _is_allowed(written, dialect) and _is_understood(written, dialect)
    return _Translated(written, years) if understood else None


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    """Replaces a function that sqlglot would write unchanged although SQLite does not have it."""
    match node:
        case exp.Year() | exp.Month() | exp.Day() | exp.DayOfMonth():
            part = "DAY" if isinstance(node, exp.DayOfMonth) else node.key.upper()
            return _number(_PARTS[part], node.this)
        case exp.Extract() if node.name.upper() in _PARTS:
            return _number(_PARTS[node.name.upper()], node.expression)
        case exp.TimestampTrunc() | exp.DateTrunc() if str(node.args["unit"]).strip("'").upper() in _STARTS:
            return _strftime(_STARTS[str(node.args["unit"]).strip("'").upper()], node.this)
        case exp.Left():
            return exp.Substring(this=node.this, start=exp.Literal.number(1), length=node.expression)
        case exp.Right():
            return exp.Substring(this=node.this, start=exp.Neg(this=node.expression.copy()))
        case exp.Anonymous() if node.name.upper() == "NOW":
            return exp.CurrentTimestamp()
        case _:
            return node


def _number(form: str, of: exp.Expr) -> exp.Expr:
    return exp.cast(_strftime(form, of), exp.DataType.Type.INT)


def _strftime(form: str, of: exp.Expr) -> exp.Expr:
    inner = of.this if isinstance(of, exp.TsOrDsToDate) else of
    return exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(form), inner.copy()])


def _said(sql: str, name: str, dialect: str) -> WarningPhrase:
    functions = list(dict.fromkeys(_unknown_functions(sql, dialect)))
    own = DATABASE_NAMES[dialect]
    if functions:
        return WarningPhrase("corrected functions", (", ".join(map(quoted, functions)), own))
    return WarningPhrase("corrected dialect", (own, name))


def _unknown_functions(sql: str, dialect: str) -> Iterator[str]:
    try:
        statement = statement_of(sql, dialect).tree
    except (SqlglotError, RecursionError):
        return
    for function in statement.find_all(exp.Func):
        if not is_allowed_function(function, dialect):
            yield min(names_of(function)).upper()
