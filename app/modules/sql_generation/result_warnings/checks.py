"""Checks of a result for its reader: what was confirmed, what speaks against it, and what cannot be known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

from app.core.language import Language
from app.modules.database_connection.schema import Table
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql_generation.result_warnings.fan_out import aggregated_aliases, find_repeated_rows
from app.modules.sql_generation.result_warnings.filters import compared_texts, missing_text
from app.modules.sql_generation.result_warnings.joins import (
    find_multiplied_rows,
    find_unjoined_tables,
    rows_that_meet_one,
)
from app.modules.sql_generation.result_warnings.statements import scanned_tables, scopes_of
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.sentences import WarningPhrase, joined
from graph.described import described
from graph.state import Rows

CheckKind = Literal["repeated_rows", "stored_values", "nulls", "completeness"]
CheckState = Literal["passed", "warning", "unknown"]


@described
@dataclass(frozen=True, kw_only=True)
class ResultCheck:
    """One check of a result."""

    kind: CheckKind
    """Subject of the check."""
    state: CheckState
    """`passed`: confirmed. `unknown`: what is known of the database does not decide it."""
    text: str
    """The finding, in a sentence."""
    columns: Sequence[str]
    """Columns of the result, or `table.column` of the database, that it is about."""


def check_result(sql: str, rows: Rows, index: SchemaIndex, *, language: Language) -> list[ResultCheck]:
    """Checks a statement and all kept rows of its result. What does not apply has no check.

    Reads the statement and what the last scan found; nothing runs in the database. The findings are in
    `language`.
    """
    checked = [each.say(language) for each in _check_statement(sql, rows, index)]
    return [*checked, *check_rows(rows, language)]


def check_rows(rows: Rows, language: Language) -> list[ResultCheck]:
    """Checks all kept rows alone."""
    return [each.say(language) for each in (*_nulls(rows), *_completeness(rows))]


def _check_statement(sql: str, rows: Rows, index: SchemaIndex) -> list["_Finding"]:
    try:
        with sqlglot_errors_only():
            scopes = [(scope, scanned_tables(scope, index)) for scope in scopes_of(sql, index.names)]
            return [*_repeated_rows(scopes, rows, index), *_stored_values(scopes, index)]
    except (SqlglotError, RecursionError):
        return []


@dataclass(frozen=True)
class _Finding:
    """A check whose sentence is not written yet."""

    kind: CheckKind
    state: CheckState
    phrase: WarningPhrase
    columns: Sequence[str] = ()

    def say(self, language: Language) -> ResultCheck:
        text = self.phrase.say(language)
        return ResultCheck(kind=self.kind, state=self.state, text=text, columns=list(self.columns))


def _repeated_rows(
    scopes: Sequence[tuple[Scope, Mapping[str, Table]]], rows: Rows, index: SchemaIndex
) -> Iterator[_Finding]:
    joined_scopes = [(scope, tables) for scope, tables in scopes if len(scope.selected_sources) > 1]
    if not joined_scopes:
        return
    warnings = [
        warning
        for scope, tables in joined_scopes
        for warning in (
            *find_repeated_rows(scope, tables, index.names),
            *find_unjoined_tables(scope, tables, index.names),
            *(find_multiplied_rows(scope, tables, index.names, rows=rows) if scope.is_root else ()),
        )
    ]
    if warnings:
        for phrase in dict.fromkeys(WarningPhrase(each.name, each.values) for each in warnings):
            yield _Finding("repeated_rows", "warning", phrase)
    elif all(_is_proven(scope, tables, index) for scope, tables in joined_scopes):
        yield _Finding("repeated_rows", "passed", WarningPhrase("no repeated row"))
    else:
        yield _Finding("repeated_rows", "unknown", WarningPhrase("unknown repeated rows"))


def _is_proven(scope: Scope, tables: Mapping[str, Table], index: SchemaIndex) -> bool:
    """True if keys prove that each row of one table meets at most one of every other, and only columns of
    that table are aggregated.
    """
    counted = aggregated_aliases(scope)
    met = rows_that_meet_one(scope, tables, index.names)
    return any(counted <= {alias} for alias in met)


def _stored_values(
    scopes: Sequence[tuple[Scope, Mapping[str, Table]]], index: SchemaIndex
) -> Iterator[_Finding]:
    compared = list(
        dict.fromkeys(each for scope, tables in scopes for each in compared_texts(scope, tables, index))
    )
    held = [each for each in compared if each.is_stored]
    for each in compared:
        if each.is_stored is False:
            near = index.stored.nearest(each.table, each.column, each.text)
            missing = missing_text(each.place, each.text, near)
            phrase = WarningPhrase(missing.name, missing.values)
            yield _Finding("stored_values", "warning", phrase, [each.place])
    if held:
        texts = joined([WarningPhrase("quoted", (each.text,)) for each in held])
        phrase = WarningPhrase("stored text" if len(held) == 1 else "stored texts", (texts,))
        yield _Finding("stored_values", "passed", phrase, list(dict.fromkeys(each.place for each in held)))
    unknown = list(dict.fromkeys(each.place for each in compared if each.is_stored is None))
    if unknown:
        phrase = WarningPhrase("unknown values", (", ".join(unknown),))
        yield _Finding("stored_values", "unknown", phrase, unknown)


def _nulls(rows: Rows) -> Iterator[_Finding]:
    count = len(rows["rows"])
    if not count:
        return
    found = False
    for position, column in enumerate(rows["columns"]):
        nulls = sum(row[position] is None for row in rows["rows"])
        if nulls:
            found = True
            share = 100 * nulls / count
            name = "some nulls" if share >= 1 else "few nulls"
            phrase = WarningPhrase(name, (column["name"], nulls, count, f"{max(share, 1):.0f}"))
            yield _Finding("nulls", "warning", phrase, [column["name"]])
    if not found:
        phrase = WarningPhrase("no null", (count,)) if count > 1 else WarningPhrase("no null in the row")
        yield _Finding("nulls", "passed", phrase)


def _completeness(rows: Rows) -> Iterator[_Finding]:
    if len(rows["rows"]) < rows["row_count"]:
        yield _Finding("completeness", "unknown", WarningPhrase("rows gone"))
    elif rows["truncated"]:
        cut = WarningPhrase("cut result", (rows["row_count"],))
        phrase = WarningPhrase("cut values") if rows.get("cut_by") == "values" else cut
        yield _Finding("completeness", "warning", phrase)
