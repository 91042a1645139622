"""The first of three safeguards of a user's database: only queries, on known tables, by harmless functions.

The statement that runs is not the received text. It is generated from the checked tree, without comments,
so nothing unchecked runs. The read-only session and the limits work independently of this.

The guard parses the text that will run itself and trusts no tree that other code could have changed. It
checks both the received statement and that text, because generating can change the meaning of a name.
"""

import re
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from app.modules.database_connection.guard.amplification import check_amplification
from app.modules.database_connection.guard.common_tables import CommonTables
from app.modules.database_connection.guard.functions import is_allowed_function, is_table_function, names_of
from app.modules.database_connection.guard.grammar import (
    has_placeholder,
    is_allowed,
    is_query,
    refused_clause,
)
from app.modules.database_connection.guard.joins import Joins
from app.modules.database_connection.guard.keywords import check_keyword
from app.modules.database_connection.guard.plans import without_explain
from app.modules.database_connection.guard.references import Catalog
from app.modules.database_connection.guard.rewriting import is_same, outline, rewritten
from app.modules.database_connection.guard.running import CheckedStatement, statement_to_run
from app.modules.database_connection.guard.spelling import pivot_as_select, spell_plainly
from app.modules.database_connection.guard.statement_text import check_length, check_text, check_words
from app.modules.database_connection.limits import STATEMENT_CHARACTERS
from app.modules.database_connection.schema import Schema
from app.modules.sql.parsing import StatementTooLarge, parsed, tokenized
from app.modules.sql.statement import statement_of
from app.modules.sql.table_names import TableNames
from graph.errors import StatementRefused

_TERMINAL_COLORS = re.compile(r"\x1b\[\d*m")
_UNQUOTED = re.compile(r"[\w$#]*")
_TOKEN = re.compile(r"<Token token_type: [^,]*, text: (.*?), line: [^>]*>", re.DOTALL)


_MOST_STARRED = 10_000
"""Most columns that the `*` of a statement stand for."""
_MOST_KEPT = 16
"""Most statements in memory. One is checked without a schema and then, a moment later, with it."""


@dataclass(frozen=True)
class GuardedStatement:
    """A statement as it would run, of which all but its tables is checked. `prefix` is its EXPLAIN.

    `tree` is that of the text, and `nodes` are all of it, outer ones first; nothing outside the guard has it,
    and the guard does not change it.
    """

    prefix: str
    text: str
    tree: exp.Expr
    nodes: Sequence[exp.Expr]


def check(sql: str, schema: Schema, max_characters: int = STATEMENT_CHARACTERS) -> str:
    """Returns the text of what `checked` returns."""
    return checked(sql, schema, max_characters).sql


def checked(sql: str, schema: Schema, max_characters: int = STATEMENT_CHARACTERS) -> CheckedStatement:
    """Returns the statement to run in place of `sql`, limited to what the person of the schema may see.

    Raises `StatementRefused`, whose text helps to repair the statement. Takes up to half a second of
    processor time for the largest statements.
    """
    check_length(sql, max_characters)
    with _refusals_only():
        found = written(sql, schema.dialect)
        _check_tables(found.nodes, Catalog(schema.dialect, schema.names), Joins(schema))
        _check_namesakes(found.nodes, schema.names)
        _check_stars(found.nodes, schema)
        if found.prefix and schema.limiter is not None:
            raise StatementRefused(
                "EXPLAIN is not run where rows belong to people: its estimates count all of them.", "policy"
            )
        to_run = statement_to_run(found.tree, found.text, schema)
        return replace(to_run, sql=found.prefix + to_run.sql)


def check_shape(sql: str, dialect: str, max_characters: int = STATEMENT_CHARACTERS) -> None:
    """Check a statement without a schema. Of the tables, only catalogs and files are refused.

    Raises `StatementRefused`.
    """
    check_length(sql, max_characters)
    with _refusals_only():
        _check_tables(written(sql, dialect).nodes, Catalog(dialect, None), Joins(None))


@contextmanager
def _refusals_only() -> Generator[None]:
    """Raises `StatementRefused` in place of the parser's errors."""
    try:
        yield
    except RecursionError:
        raise StatementRefused("The statement is nested too deeply; simplify it.", "nesting") from None
    except StatementTooLarge as error:
        raise StatementRefused(f"{error} Shorten it, or ask in several statements.", "length") from None
    except SqlglotError as error:
        raise StatementRefused(_syntax_advice(error), "syntax") from None


@lru_cache(_MOST_KEPT)
def written(sql: str, dialect: str) -> GuardedStatement:
    """Check everything but the tables. Raises `StatementRefused` and the parser's errors."""
    check_text(sql)
    prefix, inner = without_explain(sql, dialect)
    received = statement_of(pivot_as_select(inner, dialect), dialect)
    check_words(received.tokens, dialect)
    tree = _query(received.trees, dialect).copy()
    meant = outline(_check_nodes(tree, dialect))
    text = rewritten(tree, dialect)  # which may change the tree
    tokens = tokenized(text, dialect)
    check_words(tokens, dialect)
    tree = _query([each for each in parsed(tokens, text, dialect) if each is not None], dialect)
    nodes = _check_nodes(tree, dialect)
    if not is_same(meant, outline(nodes)):
        raise StatementRefused(
            "The statement cannot be written as it was checked; write it in a plainer form.", "construct"
        )
    return GuardedStatement(prefix, text, tree, nodes)


def _query(statements: Sequence[exp.Expr], dialect: str) -> exp.Expr:
    """Returns the only statement, which is a query."""
    found = [each for each in statements if not isinstance(each, exp.Semicolon)]
    if len(found) != 1:
        raise StatementRefused(f"Send exactly one statement; these are {len(found)}.", "one-statement")
    if not is_query(found[0], dialect):
        raise StatementRefused(
            "Only queries may run: SELECT, WITH ... SELECT, VALUES, and their unions.", "not-a-query"
        )
    return found[0]


def _check_nodes(statement: exp.Expr, dialect: str) -> list[exp.Expr]:
    """Check everything but the tables. Spells the statement plainly, in place. Returns its nodes."""
    nodes = spell_plainly(statement)
    for node in nodes:
        _check_node(node, dialect)
    check_amplification(nodes, dialect)
    return nodes


def _check_tables(nodes: Sequence[exp.Expr], catalog: Catalog, joins: Joins) -> None:
    common = CommonTables(catalog.dialect)
    for node in nodes:
        if isinstance(node, exp.Table):
            catalog.check(node, common)
        elif isinstance(node, exp.Select):
            joins.check(node)


def _check_namesakes(nodes: Sequence[exp.Expr], names: TableNames) -> None:
    """Refuse tables of one name and several schemas that have no aliases: what reads the columns of the
    statement could take one for the other.
    """
    read: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if isinstance(node, exp.Table) and not node.alias and (shown := names.find(node)) is not None:
            read[names[shown].name.casefold()].add(shown)
    for same in read.values():
        if len(same) > 1:
            tables = " and ".join(names.written(each) for each in sorted(same))
            raise StatementRefused(
                f"Give each of the tables {tables} an alias (AS), and name columns by it.", "table"
            )


def _check_stars(nodes: Sequence[exp.Expr], schema: Schema) -> None:
    """Raises `StatementTooLarge` if the `*` of a statement may stand for too many columns.

    Each takes at most the columns of the widest table or list; what reads the statement writes them all out.
    """
    stars = sum(isinstance(node, exp.Star) and not isinstance(node.parent, exp.Func) for node in nodes)
    lists = (len(node.expressions) for node in nodes if isinstance(node, exp.Select))
    tables = [schema.names.find(node) for node in nodes if isinstance(node, exp.Table)] if stars else []
    wide = (len(schema.by_name[shown].columns) for shown in tables if shown is not None)
    if stars * max([*lists, *wide], default=0) > _MOST_STARRED:
        raise StatementTooLarge(f"{_MOST_STARRED:,} columns by its *")


def _check_node(node: exp.Expr, dialect: str) -> None:
    if has_placeholder(node):
        raise StatementRefused("The statement has a placeholder; write the value itself.", "placeholder")
    if not is_allowed(node):
        raise StatementRefused(f"{node.key.upper()} is not allowed in queries here.", "construct")
    if clause := refused_clause(node, dialect):
        raise StatementRefused(f"{clause} is not allowed in queries here.", "construct")
    check_keyword(node, dialect)
    if isinstance(node, exp.Limit | exp.Offset) and node.find(exp.Func) is not None:
        # sqlglot simplifies such a bound while generating, and that may not terminate.
        raise StatementRefused("LIMIT and OFFSET take numbers here, not functions.", "construct")
    if isinstance(node, exp.SetOperation):
        _check_operands(node, dialect)
    if isinstance(node, exp.Func):
        _check_function(node, dialect)
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
