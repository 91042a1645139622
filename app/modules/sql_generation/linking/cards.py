"""Tables as a prompt shows them: a card each, one line a column.

A card does not depend on the question, so that a provider's cache of prompts holds the whole schema.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.modules.database_connection.schema import Column, Table
from app.modules.sql_generation.linking.contents import contents_of
from app.modules.sql_generation.linking.words import words_of

_MOST_VALUES = 12
_MOST_CHARACTERS = 120
"""Of the values of one column."""
_IDENTIFIERS = {"id", "identifier", "key"}
_DATES = {"date", "datetime"}
_MIDNIGHT = " 00:00:00"


@dataclass(frozen=True, kw_only=True)
class CardDetail:
    """How much of the stored data the cards show besides names, types, keys and descriptions.

    `values`: all values of a text column, where they are few and rows share them.
    `ranges`: the first and last of dates. Of columns that look like personal data neither is shown.
    """

    values: bool = True
    ranges: bool = True


DETAIL = CardDetail()
"""Of all prompts."""


def card(table: Table, detail: CardDetail = DETAIL) -> str:
    """All columns of a table."""
    references = _references(table)
    lines = [_line(table, column, references.get(column.name), detail) for column in table.columns]
    return "\n".join([_title(table), *lines])


def brief_card(table: Table, asked: Collection[str], detail: CardDetail = DETAIL) -> str:
    """Its keys, and the columns that share a word with what was asked."""
    references = _references(table)
    lines = [
        _line(table, column, references.get(column.name), detail)
        for column in table.columns
        if column.primary_key or column.name in references or not set(words_of(column.name)).isdisjoint(asked)
    ]
    left_out = len(table.columns) - len(lines)
    more = [f"  ({left_out} more columns)"] if left_out else []
    return "\n".join([_title(table), *lines, *more])


def _title(table: Table) -> str:
    return f"{table.kind} {table.name}" + _note(table.description)


def _references(table: Table) -> dict[str, str]:
    return {
        column: f"{key.referred_table}.{referred}"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    }


def _line(table: Table, column: Column, reference: str | None, detail: CardDetail) -> str:
    parts = [f"  {column.name} {column.type}"]
    if column.primary_key:
        parts.append("primary key")
    if reference is not None:
        parts.append(f"references {reference}")
    if not column.primary_key and reference is None:
        parts += _stored(table, column, detail)
    return ", ".join(parts) + _note(column.description)


def _stored(table: Table, column: Column, detail: CardDetail) -> list[str]:
    """What is shown of the data in a column."""
    contents = contents_of(table, column, column.values)
    if column.type in _DATES:
        written = [f"written {column.format}"] if column.format else []
        shown = detail.ranges and contents == "category" and column.minimum is not None
        return [*written, f"from {_day(column.minimum)} to {_day(column.maximum)}"] if shown else written
    if detail.values and contents == "category" and _are_few(table, column):
        return [f"values {quoted(column.values)}"]
    return []


def _are_few(table: Table, column: Column) -> bool:
    """Whether the values of a column are few, and no identifiers: on average two rows share one."""
    if not _IDENTIFIERS.isdisjoint(words_of(column.name)[-1:]):
        return False
    values = column.values
    shared = table.row_count is None or 2 * len(values) <= table.row_count
    return 0 < len(values) <= _MOST_VALUES and sum(map(len, values)) <= _MOST_CHARACTERS and shared


def _day(moment: str | None) -> str:
    return (moment or "").removesuffix(_MIDNIGHT)


def quoted(texts: Sequence[str]) -> str:
    """Texts as SQL writes them, on one line."""
    return ", ".join("'" + " ".join(text.split()).replace("'", "''") + "'" for text in texts)


def _note(description: str) -> str:
    return f" -- {' '.join(description.split())}" if description else ""
