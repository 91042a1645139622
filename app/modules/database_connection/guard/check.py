"""The first of three safeguards of a user's database: only queries, on known tables, by harmless functions.

The statement that runs is not the received text. It is generated from the checked tree, without comments,
so nothing unchecked runs. The read-only session and the limits work independently of this.

The guard parses the statement itself and trusts no tree that other code could have changed. It also parses
and checks the generated text where that differs from the received text.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from app.modules.database_connection.guard.amplification import check_amplification
from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.functions import is_allowed_function, is_table_function, names_of
from app.modules.database_connection.guard.grammar import has_placeholder, is_allowed, is_query
from app.modules.database_connection.guard.hidden import without_hidden_columns
from app.modules.database_connection.guard.joins import Joins
from app.modules.database_connection.guard.keywords import check_keyword
from app.modules.database_connection.guard.plans import without_explain
from app.modules.database_connection.guard.references import Catalog
from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.guard.spelling import pivot_as_select, plainly_spelled
from app.modules.database_connection.guard.statement_text import check_length, check_text, check_words
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.schema import Schema
from app.modules.sql.parsing import parsed
from app.modules.sql.statement import Statement
from graph.errors import StatementRefused

_TERMINAL_COLORS = re.compile(r"\x1b\[\d*m")
_UNQUOTED = re.compile(r"[\w$#]*")
_TOKEN = re.compile(r"<Token token_type: [^,]*, text: (.*?), line: [^>]*>", re.DOTALL)


def check(sql: str, schema: Schema, max_characters: int = STATEMENT_CHARACTERS) -> str:
    """Returns the statement to run in place of `sql`.

    Raises `StatementRefused`, whose text helps to repair the statement. Takes a few seconds of processor time
    for the longest statements.
    """
    check_length(sql, max_characters)
    return _checked(sql, schema)


def check_shape(sql: str, dialect: str, max_characters: int = STATEMENT_CHARACTERS) -> None:
    """Check a statement without a schema. Of the tables, only catalogs and files are refused.

    Raises `StatementRefused`.
    """
    check_length(sql, max_characters)
    with _refusals_only():
        _run_as(sql, Catalog(dialect, None), Joins({}))


def check_query(statement: Statement) -> None:
    """Check the shape of a parsed query, to advise its author. Does not permit running it.

    Raises `StatementRefused`.
    """
    with _refusals_only():
        check_words(statement.text, statement.dialect)
        _written(statement.tree.copy(), Catalog(statement.dialect, None), Joins({}))


def _checked(sql: str, schema: Schema) -> str:
    with _refusals_only():
        prefix, written = _run_as(sql, Catalog.of(schema), Joins.of(schema))
        return prefix + without_hidden_columns(written, schema)


def _run_as(sql: str, catalog: Catalog, joins: Joins) -> tuple[str, str]:
    """Returns the EXPLAIN of a statement, if it has one, and the checked rest."""
    check_text(sql)
    prefix, inner = without_explain(sql, catalog.dialect)
    written = _rewritten(inner, catalog, joins)
    if written != inner:
        # Generating can change the meaning of a name, so the generated text is checked, too.
        _rewritten(written, catalog, joins)
    return prefix, written


@contextmanager
def _refusals_only() -> Generator[None]:
    """Raises `StatementRefused` in place of the parser's errors."""
    try:
        yield
    except RecursionError:
        raise StatementRefused("The statement is nested too deeply; simplify it.", "nesting") from None
    except SqlglotError as error:
        raise StatementRefused(_syntax_advice(error), "syntax") from None


def _rewritten(sql: str, catalog: Catalog, joins: Joins) -> str:
    """Returns the checked statement, generated from its tree. Raises `StatementRefused` and
    `SqlglotError`.
    """
    dialect = catalog.dialect
    check_words(sql, dialect)
    return _written(_parse_one(pivot_as_select(sql, dialect), dialect), catalog, joins)


def _written(tree: exp.Expr, catalog: Catalog, joins: Joins) -> str:
    """Check a tree and return its text. Changes the tree.

    Raises `StatementRefused` and `SqlglotError`.
    """
    statement = plainly_spelled(tree)
    common = CommonTables(catalog.dialect)
    for node in statement.walk():
        _check_node(node, catalog, common)
        if isinstance(node, exp.Select):
            joins.check(node)
    check_amplification(statement, catalog.dialect)
    return rewritten(statement, catalog.dialect)


def _parse_one(sql: str, dialect: str) -> exp.Expr:
    statements = [
        each for each in parsed(sql, dialect) if each is not None and not isinstance(each, exp.Semicolon)
    ]
    if len(statements) != 1:
        raise StatementRefused(f"Send exactly one statement; these are {len(statements)}.", "one-statement")
    if not is_query(statements[0], dialect):
        raise StatementRefused(
            "Only queries may run: SELECT, WITH ... SELECT, VALUES, and their unions.", "not-a-query"
        )
    return statements[0]


def _check_node(node: exp.Expr, catalog: Catalog, common: CommonTables) -> None:
    if has_placeholder(node):
        raise StatementRefused("The statement has a placeholder; write the value itself.", "placeholder")
    if not is_allowed(node):
        raise StatementRefused(f"{node.key.upper()} is not allowed in queries here.", "construct")
    check_keyword(node, catalog.dialect)
    if isinstance(node, exp.Limit | exp.Offset) and node.find(exp.Func) is not None:
        # sqlglot simplifies such a bound while generating, and that may not terminate.
        raise StatementRefused("LIMIT and OFFSET take numbers here, not functions.", "construct")
    if isinstance(node, exp.SetOperation):
        _check_operands(node, catalog.dialect)
    if isinstance(node, exp.Func):
        _check_function(node, catalog.dialect)
    if isinstance(node, exp.Table):
        catalog.check(node, common)
    if isinstance(node, exp.Identifier) and not node.quoted and not _UNQUOTED.fullmatch(node.name):
        raise StatementRefused("Quote a name that is not a plain word.", "text")


def _check_operands(node: exp.SetOperation, dialect: str) -> None:
    if not all(is_query(each, dialect) for each in (node.this, node.expression)):
        raise StatementRefused("UNION, EXCEPT and INTERSECT need a query on both sides.", "syntax")


def _check_function(function: exp.Func, dialect: str) -> None:
    name = min(names_of(function))
    as_table = isinstance(function.parent, exp.Table) and is_table_function(name, dialect)
    if not (as_table or is_allowed_function(function, dialect)):
        raise StatementRefused(f"The function {name} is not allowed here.", "function")
    if not _is_built_in(function, dialect):
        raise StatementRefused(f"The function {name} is not called by the name of a schema here.", "function")


def _is_built_in(function: exp.Func, dialect: str) -> bool:
    """True if the name is alone or after `pg_catalog`. In DuckDB always: there x.upper() means upper(x)."""
    dot = function.parent
    if not isinstance(dot, exp.Dot) or dot.expression is not function or dialect == "duckdb":
        return True
    return dialect == "postgres" and dot.this.name.lower() == "pg_catalog"


def _syntax_advice(error: SqlglotError) -> str:
    said = _TOKEN.sub(r"\1", _TERMINAL_COLORS.sub("", str(error))).strip()
    kind = "cannot be parsed" if isinstance(error, ParseError) else "cannot be run"
    return f"The statement {kind}: {said[:500]}"
