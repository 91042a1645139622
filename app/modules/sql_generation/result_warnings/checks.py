"""Checks of a result for its reader: what was confirmed, what speaks against it, and what cannot be known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

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


def check_result(sql: str, rows: Rows, index: SchemaIndex) -> list[ResultCheck]:
    """Checks a statement and all kept rows of its result. What does not apply has no check.

    Reads the statement and what the last scan found; nothing runs in the database.
    """
    return [*_of_statement(sql, rows, index), *check_rows(rows)]


def check_rows(rows: Rows) -> list[ResultCheck]:
    """Checks all kept rows alone."""
    return [*_nulls(rows), *_completeness(rows)]


def _of_statement(sql: str, rows: Rows, index: SchemaIndex) -> list[ResultCheck]:
    try:
        with sqlglot_errors_only():
            scopes = [(scope, scanned_tables(scope, index)) for scope in scopes_of(sql, index.names)]
            return [*_repeated_rows(scopes, rows, index), *_stored_values(scopes, index)]
    except (SqlglotError, RecursionError):
        return []


def _repeated_rows(
    scopes: Sequence[tuple[Scope, Mapping[str, Table]]], rows: Rows, index: SchemaIndex
) -> Iterator[ResultCheck]:
    joined = [(scope, tables) for scope, tables in scopes if len(scope.selected_sources) > 1]
    if not joined:
        return
    warnings = [
        warning
        for scope, tables in joined
        for warning in (
            *find_repeated_rows(scope, tables, index.names),
            *find_unjoined_tables(scope, tables, index.names),
            *(find_multiplied_rows(scope, tables, index.names, rows=rows) if scope.is_root else ()),
        )
    ]
    if warnings:
        for text in dict.fromkeys(each.text for each in warnings):
            yield ResultCheck(kind="repeated_rows", state="warning", text=text, columns=[])
    elif all(_is_proven(scope, tables, index) for scope, tables in joined):
        text = "The keys show that no join repeats a row that is counted or listed."
        yield ResultCheck(kind="repeated_rows", state="passed", text=text, columns=[])
    else:
        text = "The known keys do not show if a join repeats rows."
        yield ResultCheck(kind="repeated_rows", state="unknown", text=text, columns=[])


def _is_proven(scope: Scope, tables: Mapping[str, Table], index: SchemaIndex) -> bool:
    """True if keys prove that each row of one table meets at most one of every other, and only columns of
    that table are aggregated.
    """
    counted = aggregated_aliases(scope)
    met = rows_that_meet_one(scope, tables, index.names)
    return any(counted <= {alias} for alias in met)


def _stored_values(
    scopes: Sequence[tuple[Scope, Mapping[str, Table]]], index: SchemaIndex
) -> Iterator[ResultCheck]:
    compared = list(
        dict.fromkeys(each for scope, tables in scopes for each in compared_texts(scope, tables, index))
    )
    held = [each for each in compared if each.is_stored]
    for each in compared:
        if each.is_stored is False:
            near = index.stored.nearest(each.table, each.column, each.text)
            text = missing_text(each.place, each.text, near).text
            yield ResultCheck(kind="stored_values", state="warning", text=text, columns=[each.place])
    if held:
        texts = ", ".join(f"“{each.text}”" for each in held)
        places = list(dict.fromkeys(each.place for each in held))
        yield ResultCheck(
            kind="stored_values",
            state="passed",
            text=f"{texts} {'was' if len(held) == 1 else 'were'} stored at the last scan.",
            columns=places,
        )
    unknown = list(dict.fromkeys(each.place for each in compared if each.is_stored is None))
    if unknown:
        text = f"Not all values of {', '.join(unknown)} are known, so its filters are not checked."
        yield ResultCheck(kind="stored_values", state="unknown", text=text, columns=unknown)


def _nulls(rows: Rows) -> Iterator[ResultCheck]:
    count = len(rows["rows"])
    if not count:
        return
    found = False
    for position, column in enumerate(rows["columns"]):
        nulls = sum(row[position] is None for row in rows["rows"])
        if nulls:
            found = True
            share = 100 * nulls / count
            text = (
                f"{'Under 1' if share < 1 else f'{share:.0f}'} % of {column['name']} is null: "
                f"{nulls:,} of {count:,} rows."
            )
            yield ResultCheck(kind="nulls", state="warning", text=text, columns=[column["name"]])
    if not found:
        text = f"No value of the {count:,} rows is null." if count > 1 else "No value of the row is null."
        yield ResultCheck(kind="nulls", state="passed", text=text, columns=[])


def _completeness(rows: Rows) -> Iterator[ResultCheck]:
    if len(rows["rows"]) < rows["row_count"]:
        text = "The rows are no longer stored; the checks have read the first of them."
        yield ResultCheck(kind="completeness", state="unknown", text=text, columns=[])
    elif rows["truncated"]:
        text = f"A limit cut the result: the statement gives more than these {rows['row_count']:,} rows."
        if rows.get("cut_by") == "values":
            text = "A limit cut the ends of long values."
        yield ResultCheck(kind="completeness", state="warning", text=text, columns=[])
