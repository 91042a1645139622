"""Warnings about a result whose statement ran without errors.

They are shown with the answer, and some of them have the statement repaired.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.context_store.model import Term
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.contradictions.find import find_contradictions
from app.modules.sql_generation.contradictions.terms import find_ignored_terms
from app.modules.sql_generation.result_warnings.cut_lists import find_cut_list
from app.modules.sql_generation.result_warnings.empty_joins import find_empty_tables
from app.modules.sql_generation.result_warnings.fan_out import find_repeated_rows
from app.modules.sql_generation.result_warnings.filters import find_unknown_texts
from app.modules.sql_generation.result_warnings.joins import find_multiplied_rows, find_unjoined_tables
from app.modules.sql_generation.result_warnings.model import ResultWarning
from app.modules.sql_generation.result_warnings.statements import scanned_tables, scopes_of
from app.modules.sql_generation.result_warnings.ties import find_hidden_tie
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Rows

MOST_WARNINGS = 4


@dataclass(frozen=True)
class Intent:
    """What a statement is to answer: the question, the day on which it was asked, and the glossary."""

    question: str
    today: date
    terms: Sequence[Term] = ()


def find_warnings(
    sql: str, rows: Rows, index: SchemaIndex, *, asked: str = "", intent: Intent | None = None
) -> list[ResultWarning]:
    """Returns warnings, most important first; empty if nothing is certain.

    `asked` is the text of all questions of the conversation so far. Without an `intent` the statement is not
    compared with the question.
    """
    found = [
        *_find_if_readable(sql, rows, index, asked=asked, intent=intent),
        *_null_columns(rows, asked_for=_find_nulls_by_filter(sql, index.names.dialect)),
    ]
    return list(dict.fromkeys(found))[:MOST_WARNINGS]


def is_empty(rows: Rows) -> bool:
    """True if there are no rows, only NULLs, or a single row of NULLs and zeros."""
    cells = [cell for row in rows["rows"] for cell in row]
    return all(cell is None for cell in cells) or (len(rows["rows"]) == 1 and not any(cells))


def _find_if_readable(
    sql: str, rows: Rows, index: SchemaIndex, *, asked: str, intent: Intent | None
) -> list[ResultWarning]:
    """Returns no warnings for a statement that sqlglot cannot read."""
    try:
        with sqlglot_errors_only():
            contradicted = [] if intent is None else _find_contradicted(sql, index, intent)
            return [*contradicted, *_find_in_statement(sql, rows, index, asked=asked)]
    except (SqlglotError, RecursionError):
        return []


def _find_contradicted(sql: str, index: SchemaIndex, intent: Intent) -> list[ResultWarning]:
    tree = statement_of(sql, index.names.dialect).tree
    found = [
        *find_contradictions(intent.question, tree, intent.today),
        *find_ignored_terms(intent.question, tree, intent.terms, names=index.names),
    ]
    return [ResultWarning(each.name, each.values, worth_repair=True, is_doubt=True) for each in found]


def _find_in_statement(sql: str, rows: Rows, index: SchemaIndex, *, asked: str) -> Iterator[ResultWarning]:
    scopes = scopes_of(sql, index.names)
    if not scopes:
        return
    empty = is_empty(rows)
    for scope in scopes:
        tables = scanned_tables(scope, index)
        yield from find_unknown_texts(scope, tables, index, empty=empty)
        yield from find_repeated_rows(scope, tables, index.names)
        if empty:
            yield from find_empty_tables(scope, tables)
        else:
            yield from find_unjoined_tables(scope, tables, index.names)
        if scope.is_root:
            yield from find_multiplied_rows(scope, tables, index.names, rows=rows)
            yield from find_hidden_tie(scope.expression, tables, rows, dialect=index.names.dialect)
    yield from find_cut_list(scopes[-1].expression, rows, asked)


def _find_nulls_by_filter(sql: str, dialect: str) -> set[str]:
    """Returns the names of the result's columns that the outermost WHERE asks to be null, in lower case."""
    try:
        with sqlglot_errors_only():
            tree = statement_of(sql, dialect).tree
    except (SqlglotError, RecursionError):
        return set()
    where = tree.args.get("where")
    if not isinstance(tree, exp.Select) or where is None:
        return set()
    conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    nulls = {
        each.this.name.casefold()
        for condition in conditions
        if isinstance(each := condition.unnest(), exp.Is) and isinstance(each.expression, exp.Null)
    }
    shown = [each for each in tree.selects if isinstance(each.unalias(), exp.Column)]
    return nulls | {each.alias.casefold() for each in shown if each.unalias().name.casefold() in nulls}


def _null_columns(rows: Rows, *, asked_for: set[str]) -> Iterator[ResultWarning]:
    for position, column in enumerate(rows["columns"]):
        empty = rows["rows"] and all(row[position] is None for row in rows["rows"])
        if empty and column["name"].casefold() not in asked_for:
            yield ResultWarning("null column", (column["name"],))
