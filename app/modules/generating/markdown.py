"""The documentation of a database as Markdown. Every figure is a cell of a result of `profile_table` or
`check_data`, which the document names.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pydantic import JsonValue

from app.modules.database_connection.schema import ForeignKey, Table, TableColumn
from app.modules.records.model import Row
from app.modules.sql.engine_data import DATABASE_NAMES

_MARKS = re.compile(r"([\\`*_{}\[\]<>#!|~])")
_MOST_CHARACTERS = 60


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a call has found: its rows by the name of the result, or why there are none."""

    result: str
    rows: Sequence[Row] = ()
    notes: Sequence[str] = ()
    """Sentences of the tool, such as what it could not check."""
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class DocumentedTable:
    """A table with what is said and measured of it."""

    table: Table
    purpose: str
    profile: Measured
    check: Measured
    keys: Sequence[ForeignKey] = ()
    """Foreign keys that the database declares."""
    inferred: Sequence[ForeignKey] = ()
    """Foreign keys that only names and types suggest."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """The documentation of a database."""

    name: str
    dialect: str
    day: date
    tables: Sequence[DocumentedTable]
    left_out: int = 0
    """Tables of the database that were not asked for."""
    notes: Sequence[str] = ()


def document_text(document: Document) -> str:
    """Returns the Markdown."""
    referring = _referring(document.tables)
    return "\n\n".join(
        [
            f"# Documentation of {_plain(document.name)}",
            _introduction(document),
            *document.notes,
            _overview(document.tables),
            *(_table_section(each, referring.get(each.table.name, [])) for each in document.tables),
        ]
    )


def _introduction(document: Document) -> str:
    count = len(document.tables)
    more = f", of {count + document.left_out}" if document.left_out else ""
    kind = DATABASE_NAMES[document.dialect]
    return (
        f"{count} tables{more} of a {kind} database, as of {document.day.isoformat()} (UTC). All "
        "figures were counted by `profile_table` and `check_data`; each table names their results."
    )


def _overview(tables: Sequence[DocumentedTable]) -> str:
    lines = ["| table | kind | rows | purpose |", "|---|---|---:|---|"]
    lines += [
        f"| {_code(each.table.name)} | {each.table.kind} | {_row_count(each)} | {_plain(each.purpose)} |"
        for each in tables
    ]
    return "\n".join(["## Tables", "", *lines])


def _table_section(documented: DocumentedTable, referring: Sequence[str]) -> str:
    table = documented.table
    parts = [
        f"## {_plain(table.name)}",
        _plain(documented.purpose),
        _facts(documented),
        _columns(documented),
        _joins(documented, referring),
        _quality(documented),
    ]
    return "\n\n".join(filter(None, parts))


def _facts(documented: DocumentedTable) -> str:
    table = documented.table
    key = [_code(column.name) for column in table.columns if column.primary_key]
    return "\n".join(
        [
            f"- **Rows:** {_row_count(documented)}",
            f"- **Primary key:** {', '.join(key) if key else 'none declared'}",
            f"- **Measured in:** {documented.profile.result}, {documented.check.result}",
        ]
    )


def _columns(documented: DocumentedTable) -> str:
    measured = {str(row[0]): row for row in documented.profile.rows}
    lines = [
        "| column | type | key | nulls | distinct | minimum | maximum | about |",
        "|---|---|---|---:|---:|---|---|---|",
    ]
    for column in documented.table.columns:
        _, _, _, nulls, distinct, least, most = measured.get(column.name, [None] * 7)
        cells = [
            _code(column.name),
            _code(column.database_type),
            _key_of(documented, column),
            _figure(nulls),
            _figure(distinct),
            _value(least),
            _value(most),
            _plain(column.description),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    unmeasured = documented.profile.error
    note = [f"\nNot profiled: {_plain(unmeasured)}"] if unmeasured else []
    return "\n".join(["### Columns", "", *lines, *note])


def _key_of(documented: DocumentedTable, column: TableColumn) -> str:
    kinds = ["primary"] if column.primary_key else []
    kinds += ["foreign"] if any(column.name in key.columns for key in documented.keys) else []
    kinds += ["foreign (inferred)"] if any(column.name in key.columns for key in documented.inferred) else []
    return ", ".join(kinds)


def _joins(documented: DocumentedTable, referring: Sequence[str]) -> str:
    name = documented.table.name
    lines = [_join(name, key, "") for key in documented.keys]
    lines += [_join(name, key, " (inferred from names, not declared)") for key in documented.inferred]
    lines += [f"- referred to by {each}" for each in referring]
    return "\n".join(["### Joins", "", *(lines or ["None that keys or names show."])])


def _join(name: str, key: ForeignKey, note: str) -> str:
    pairs = zip(key.columns, key.referred_columns, strict=False)
    on = " and ".join(
        f"{_code(f'{name}.{here}')} = {_code(f'{key.referred_table}.{there}')}" for here, there in pairs
    )
    return f"- {on}{note}"


def _referring(tables: Sequence[DocumentedTable]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in tables:
        for key in [*each.keys, *each.inferred]:
            for column in key.columns:
                found.setdefault(key.referred_table, []).append(_code(f"{each.table.name}.{column}"))
    return found


def _quality(documented: DocumentedTable) -> str:
    check = documented.check
    lines = [
        f"- **{_plain(str(kind))}**, {_code(str(column))}: {_plain(str(detail))}"
        for kind, column, _, detail in check.rows
    ]
    if check.error:
        lines.append(f"- Not checked: {_plain(check.error)}")
    elif not lines:
        lines.append("- Nothing stands out.")
    lines += [f"- {_plain(note)}" for note in check.notes]
    return "\n".join(["### Quality notes", "", *lines])


def _row_count(documented: DocumentedTable) -> str:
    rows = documented.profile.rows
    return _figure(rows[0][2]) if rows else "unknown"


def _figure(value: JsonValue) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _value(value: JsonValue) -> str:
    return "" if value is None else _code(str(value))


def _code(text: str) -> str:
    """Returns text of a database as code. Nothing in it can be Markdown, end the cell, or be a link."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    cut = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
    safe = cut.replace("`", "'").replace("|", "\\|")
    return f"`{safe}`" if safe else ""


def _plain(text: str) -> str:
    """Returns text of a database or a model in one line, in which nothing is Markdown or a link."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return _MARKS.sub(r"\\\1", line).replace("://", "&#58;//")
