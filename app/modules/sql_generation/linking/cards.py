"""Tables as a prompt shows them: a card each, one line a column."""

from collections.abc import Collection

from app.modules.database_connection.schema import Column, Table
from app.modules.sql_generation.linking.words import words_of

_MAX_VALUES = 12


def card(table: Table) -> str:
    """All that is known of a table."""
    references = _references(table)
    lines = [_line(column, references.get(column.name)) for column in table.columns]
    return "\n".join([_title(table), *lines])


def brief_card(table: Table, asked: Collection[str]) -> str:
    """Its keys, and the columns that share a word with what was asked."""
    references = _references(table)
    lines = [
        _line(column, references.get(column.name))
        for column in table.columns
        if column.primary_key or column.name in references or not set(words_of(column.name)).isdisjoint(asked)
    ]
    left_out = len(table.columns) - len(lines)
    more = [f"  ({left_out} more columns)"] if left_out else []
    return "\n".join([_title(table), *lines, *more])


def _title(table: Table) -> str:
    rows = "" if table.row_count is None else f", {table.row_count:,} rows"
    return f"{table.kind} {table.name}{rows}" + _note(table.description)


def _references(table: Table) -> dict[str, str]:
    return {
        column: f"{key.referred_table}.{referred}"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    }


def _line(column: Column, reference: str | None) -> str:
    parts = [f"  {column.name} {column.type}"]
    if column.format:
        parts.append(f"written {column.format}")
    if column.primary_key:
        parts.append("primary key")
    if reference is not None:
        parts.append(f"references {reference}")
    if column.values:
        more = ", …" if len(column.values) > _MAX_VALUES else ""
        parts.append(f"values {_quoted(column.values[:_MAX_VALUES])}{more}")
    elif column.minimum is not None and not column.primary_key and reference is None:
        parts.append(f"from {column.minimum} to {column.maximum}")
    return ", ".join(parts) + _note(column.description)


def _quoted(texts: Collection[str]) -> str:
    """Texts as SQL writes them, on one line."""
    return ", ".join("'" + " ".join(text.split()).replace("'", "''") + "'" for text in texts)


def _note(description: str) -> str:
    return f" -- {' '.join(description.split())}" if description else ""
