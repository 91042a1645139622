"""The first of three locks before a user's database: a question, on known tables, by harmless functions.

What is run is not the text that came but a text written anew from what was checked, without comments:
nothing unseen gets through. The session and the limits lock independently of this.
"""

import re

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import ParseError, SqlglotError

from app.modules.database_connection.functions import is_denied, names_of
from app.modules.database_connection.grammar import QUERIES, has_placeholder, is_allowed
from app.modules.database_connection.references import Catalog
from app.modules.database_connection.schema import Schema
from graph.errors import StatementFailed

_LONGEST_STATEMENT_BYTES = 64 * 1024
_TERMINAL_COLORS = re.compile(r"\x1b\[\d*m")
_HARMLESS_TEMPLATE = re.compile(r"(?:[^%]|%%|%[-+ 0,#!]*\d{0,3}(?:\.\d{1,3})?[a-zA-Z])*")


def check(sql: str, schema: Schema) -> str:
    """The statement to run in place of `sql`.

    Raises `StatementFailed` in words that help to repair it. Takes up to a second of processor time
    for the longest statements.
    """
    _check_text(sql)
    try:
        statement = _parse_one(sql, schema.dialect)
        catalog = Catalog.of(schema)
        for node in statement.walk():
            _check_node(node, catalog)
        return statement.sql(dialect=schema.dialect, comments=False, unsupported_level=ErrorLevel.RAISE)
    except RecursionError:
        raise StatementFailed("The statement is nested too deeply; simplify it.") from None
    except SqlglotError as error:
        raise StatementFailed(_syntax_advice(error)) from None


def _check_text(sql: str) -> None:
    if "\0" in sql:
        raise StatementFailed("The statement contains a NUL character.")
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        raise StatementFailed("The statement contains half a character (a lone surrogate).") from None
    if size > _LONGEST_STATEMENT_BYTES:
        raise StatementFailed(f"The statement is longer than {_LONGEST_STATEMENT_BYTES // 1024} KiB.")


def _parse_one(sql: str, dialect: str) -> exp.Expr:
    parsed = sqlglot.parse(sql, dialect=dialect)
    statements = [each for each in parsed if each is not None and not isinstance(each, exp.Semicolon)]
    if len(statements) != 1:
        raise StatementFailed(f"Exactly one statement is run at a time; these are {len(statements)}.")
    if not isinstance(statements[0], QUERIES):
        raise StatementFailed("Only queries are run: SELECT, WITH ... SELECT, VALUES, and their unions.")
    return statements[0]


def _check_node(node: exp.Expr, catalog: Catalog) -> None:
    if has_placeholder(node):
        raise StatementFailed("The statement has a placeholder; write the value itself.")
    if not is_allowed(node):
        raise StatementFailed(f"{node.key.upper()} is not part of the queries that are run here.")
    if isinstance(node, exp.Func):
        _check_function(node, catalog.dialect)
    if isinstance(node, exp.Table):
        catalog.check(node)


def _check_function(function: exp.Func, dialect: str) -> None:
    for name in names_of(function):
        if is_denied(name, dialect):
            raise StatementFailed(f"The function {name} is not allowed here.")
        if name in {"format", "printf"} and dialect == "sqlite":
            _check_template(function)


def _check_template(function: exp.Func) -> None:
    """SQLite pads one value to a gigabyte before any limit or deadline can stop it."""
    if not _HARMLESS_TEMPLATE.fullmatch(_literal_text(next(function.iter_expressions(), None)) or "%*"):
        raise StatementFailed("The format has to be a literal, with widths below 1000 and without *.")


def _literal_text(node: exp.Expr | None) -> str | None:
    return node.this if isinstance(node, exp.Literal) and node.is_string else None


def _syntax_advice(error: SqlglotError) -> str:
    said = _TERMINAL_COLORS.sub("", str(error)).strip()
    kind = "cannot be parsed" if isinstance(error, ParseError) else "cannot be run"
    return f"The statement {kind}: {said[:500]}"
