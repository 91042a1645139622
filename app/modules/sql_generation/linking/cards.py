"""Tables as a prompt shows them: a card each, written as the statement that would create the table.

Models have read that form the most: measured, a small one answers 15 of 22 questions by it and 12 by plain
lines of the same content.

A card does not depend on the question, so that a provider's cache of prompts holds the whole schema.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp

from app.modules.database_connection.schema import Table, TableColumn
from app.modules.sql_generation.linking.columns import is_named
from app.modules.sql_generation.linking.contents import contents_of
from app.modules.sql_generation.linking.words import words_of

_MOST_VALUES = 12
_MOST_CHARACTERS = 120
"""Of the values of one column."""
_IDENTIFIERS = {"id", "identifier", "key"}
_MOST_NAMED = 4
_SAMPLES = 3
"""Of a column that looks like personal data or free text: enough to see how it is written."""
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
    return _created(table, [*lines, *_composite_key(table)])


def brief_card(table: Table, asked: Collection[str], detail: CardDetail = DETAIL) -> str:
    """Its keys, and the columns that share a word with what was asked."""
    references = _references(table)
    lines = [
        _line(table, column, references.get(column.name), detail)
        for column in table.columns
        if column.primary_key or column.name in references or not set(words_of(column.name)).isdisjoint(asked)
    ]
    left_out = len(table.columns) - len(lines)
    more = [f"  -- {left_out} more columns"] if left_out else []
    return _created(table, [*lines, *_composite_key(table), *more])


def named_samples(
    tables: Sequence[Table], texts: Mapping[str, Mapping[str, Sequence[str]]], asked: Set[str]
) -> list[str]:
    """Lines that show how the text of a column is written, a few at most: of columns that look like personal
    data or free text and whose names the question says in full.

    Of names of people there is none: "customers by name" asks for them, but no statement needs them. Nor of
    other columns: measured, values that the question comes near to none of lead a small model astray.
    """
    found: list[str] = []
    for table in tables:
        for column in _named(table, asked):
            stored = texts.get(table.name, {}).get(column.name, ())
            if stored and contents_of(table, column, stored) == "private":
                found.append(f"{table.name}.{column.name}: {_samples(stored)}")
    return found[:_MOST_NAMED]


def _named(table: Table, asked: Set[str]) -> list[TableColumn]:
    """Text columns without keys and identifiers."""
    return [
        column
        for column in table.columns
        if column.type == "text" and is_named(column.name, asked)
        if not (column.primary_key or column.name in table.foreign_key_columns or _is_identifier(column))
    ]


def _samples(texts: Sequence[str]) -> str:
    shown: list[str] = []
    for text in texts[:_SAMPLES]:
        if sum(map(len, shown)) + len(text) <= _MOST_CHARACTERS:
            shown.append(text)
    return quoted(shown) + (", …" if len(shown) < len(texts) else "")


def _created(table: Table, lines: Sequence[str]) -> str:
    title = f"CREATE {table.kind.upper()} {_written(table.name)} ({_note(table.description)}"
    return "\n".join([title, *lines, ");"])


def _composite_key(table: Table) -> list[str]:
    keys = [_written(column.name) for column in table.columns if column.primary_key]
    return [f"  primary key ({', '.join(keys)})"] if len(keys) > 1 else []


def _written(name: str) -> str:
    """A name in double quotes where it needs quotes."""
    return exp.to_identifier(name).sql()


def _references(table: Table) -> dict[str, str]:
    return {
        column: f"{_written(key.referred_table)}({_written(referred)})"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    }


def _line(table: Table, column: TableColumn, reference: str | None, detail: CardDetail) -> str:
    parts = [f"  {_written(column.name)} {column.type}"]
    if column.primary_key and not _composite_key(table):
        parts.append("primary key")
    if reference is not None:
        parts.append(f"references {reference}")
    stored = [] if column.primary_key or reference is not None else _stored(table, column, detail)
    return " ".join(parts) + "," + _note("; ".join([*stored, *filter(None, [column.description])]))


def _stored(table: Table, column: TableColumn, detail: CardDetail) -> list[str]:
    """What is shown of the data in a column."""
    contents = contents_of(table, column, column.values)
    if column.type in _DATES:
        written = [f"written {column.format}"] if column.format else []
        shown = detail.ranges and contents == "category" and column.minimum is not None
        return [*written, f"from {_day(column.minimum)} to {_day(column.maximum)}"] if shown else written
    if detail.values and _shows_values(table, column):
        return [quoted(column.values)]
    return []


def _shows_values(table: Table, column: TableColumn) -> bool:
    """Whether a column holds categories, and few of them: on average three rows share two."""
    values = column.values
    if _is_identifier(column) or contents_of(table, column, values) != "category":
        return False
    shared = table.row_count is None or 3 * len(values) <= 2 * table.row_count
    return 0 < len(values) <= _MOST_VALUES and sum(map(len, values)) <= _MOST_CHARACTERS and shared


def _is_identifier(column: TableColumn) -> bool:
    return not _IDENTIFIERS.isdisjoint(words_of(column.name)[-1:])


def _day(moment: str | None) -> str:
    return (moment or "").removesuffix(_MIDNIGHT)


def quoted(texts: Sequence[str]) -> str:
    """Texts as SQL writes them, on one line."""
    return ", ".join("'" + " ".join(text.split()).replace("'", "''") + "'" for text in texts)


def _note(description: str) -> str:
    return f" -- {' '.join(description.split())}" if description else ""
