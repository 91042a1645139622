"""Tables as a prompt shows them: one card per table, written as its CREATE TABLE statement.

Models know that form best: measured, a small model answers 15 of 22 questions with it, and 12 with plain
lines of the same content.

A card does not depend on the question, so a provider can cache the part of the prompt with the schema.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from app.core.llm.tokens import approximate_tokens
from app.modules.database_connection.schema import Table, TableColumn
from app.modules.sql.table_names import parts_of
from app.modules.sql_generation.checking.names import in_one_line
from app.modules.sql_generation.linking.columns import is_named
from app.modules.sql_generation.linking.contents import contents_of
from app.modules.sql_generation.linking.words import words_of

_MOST_VALUES = 12
_MOST_CHARACTERS = 120
"""The most characters of one column's values."""
_MOST_DESCRIBED = 1_000
"""The most characters of one description."""
_IDENTIFIERS = {"id", "identifier", "key"}
_MOST_NAMED = 4
_SAMPLES = 3
"""Samples of a column that looks like personal data or free text: enough to show its format."""
_DATES = {"date", "datetime"}
_MIDNIGHT = " 00:00:00"
_MOST_WRITTEN = 20_000


@dataclass(frozen=True, kw_only=True)
class CardDetail:
    """The stored data that cards show besides names, types, keys and descriptions.

    `values`: all values of a text column, if they are few and rows share them.
    `ranges`: the earliest and latest date. Neither is shown for columns that look like personal data.
    """

    values: bool = True
    ranges: bool = True


DETAIL = CardDetail()
"""The detail of cards in prompts."""


def card(table: Table, detail: CardDetail = DETAIL) -> str:
    """Returns the card of a table with all its columns."""
    references = _references(table)
    lines = [_line(table, column, references.get(column.name), detail=detail) for column in table.columns]
    return _created(table, [*lines, *_composite_key(table)])


def brief_card(table: Table, asked: Collection[str], detail: CardDetail = DETAIL) -> str:
    """Returns the card of a table with only its keys and the columns that share a word with `asked`."""
    references = _references(table)
    lines = [
        _line(table, column, references.get(column.name), detail=detail)
        for column in table.columns
        if column.primary_key or column.name in references or not set(words_of(column.name)).isdisjoint(asked)
    ]
    left_out = len(table.columns) - len(lines)
    more = [f"  -- {left_out} more columns"] if left_out else []
    return _created(table, [*lines, *_composite_key(table), *more])


def least_card(table: Table, asked: Collection[str], budget_tokens: int, *, detail: CardDetail) -> str:
    """Returns the brief card of a table, of at most about `budget_tokens`: columns that do not fit are left
    out, and their number stands at its end.
    """
    title, *lines = brief_card(table, asked, detail).split("\n")
    left = budget_tokens - approximate_tokens(title)
    kept: list[str] = []
    for line in lines[:-1]:
        left -= approximate_tokens(line) + 1
        if left < 0:
            return "\n".join([title, *kept, f"  -- {len(table.columns) - len(kept)} more columns", ");"])
        kept.append(line)
    return "\n".join([title, *lines])


def named_samples(
    tables: Sequence[Table], texts: Mapping[str, Mapping[str, Sequence[str]]], asked: Set[str]
) -> list[str]:
    """Returns a few lines with sample texts of columns that the question names in full.

    Only columns that look like personal data or free text have samples. Names of people have none:
    "customers by name" asks for them, but no statement needs them. Other columns have none either: measured,
    values that are unlike the words of the question mislead a small model.
    """
    found: list[str] = []
    for table in tables:
        for column in _named(table, asked):
            stored = texts.get(table.name, {}).get(column.name, ())
            if stored and contents_of(table, column, stored) == "private":
                found.append(f"{table.name}.{column.name}: {_samples(stored)}")
    return found[:_MOST_NAMED]


def _named(table: Table, asked: Set[str]) -> list[TableColumn]:
    """Returns the text columns that the question names, without keys and identifiers."""
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
    name = ".".join(map(_written, table.short_name.parts))
    title = f"CREATE {table.kind.upper()} {name} ({_note(table.description)}"
    return "\n".join([title, *lines, ");"])


def _composite_key(table: Table) -> list[str]:
    keys = [_written(column.name) for column in table.columns if column.primary_key]
    return [f"  primary key ({', '.join(keys)})"] if len(keys) > 1 else []


@lru_cache(maxsize=_MOST_WRITTEN)
def _written(name: str) -> str:
    """Returns a name in one line, in double quotes if it needs them."""
    return exp.to_identifier(in_one_line(name)).sql()


def _written_table(shown: str) -> str:
    return ".".join(map(_written, parts_of(shown)))


def _references(table: Table) -> dict[str, str]:
    return {
        column: f"{_written_table(key.referred_table)}({_written(referred)})"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    }


def _line(table: Table, column: TableColumn, reference: str | None, *, detail: CardDetail) -> str:
    parts = [f"  {_written(column.name)} {column.type}"]
    if column.primary_key and not _composite_key(table):
        parts.append("primary key")
    if reference is not None:
        parts.append(f"references {reference}")
    stored = [] if column.primary_key or reference is not None else _stored(table, column, detail)
    return (
        " ".join(parts)
        + ","
        + _note(
            "; ".join([*stored, *filter(None, [column.unit and f"in {column.unit}", column.description])])
        )
    )


def _stored(table: Table, column: TableColumn, detail: CardDetail) -> list[str]:
    """Returns the parts of a column's line that show its data."""
    contents = contents_of(table, column, column.values)
    if column.type in _DATES:
        written = [f"written {column.format}"] if column.format else []
        shown = detail.ranges and contents == "category" and column.minimum is not None
        return [*written, f"from {_day(column.minimum)} to {_day(column.maximum)}"] if shown else written
    if detail.values and _shows_values(table, column):
        return [quoted(column.values)]
    return []


def _shows_values(table: Table, column: TableColumn) -> bool:
    """True if a column holds few categories: at most two values for three rows."""
    values = column.values
    if (
        _is_identifier(column)
        or table.is_secret(column.name)
        or contents_of(table, column, values) != "category"
    ):
        return False
    shared = table.row_count is None or 3 * len(values) <= 2 * table.row_count
    return 0 < len(values) <= _MOST_VALUES and sum(map(len, values)) <= _MOST_CHARACTERS and shared


def _is_identifier(column: TableColumn) -> bool:
    return not _IDENTIFIERS.isdisjoint(words_of(column.name)[-1:])


def _day(moment: str | None) -> str:
    return (moment or "").removesuffix(_MIDNIGHT)


def quoted(texts: Sequence[str]) -> str:
    """Returns texts as SQL literals, on one line."""
    return ", ".join("'" + " ".join(text.split()).replace("'", "''") + "'" for text in texts)


def _note(description: str) -> str:
    text = " ".join(description.split())
    if len(text) > _MOST_DESCRIBED:
        text = f"{text[:_MOST_DESCRIBED]}…"
    return f" -- {text}" if text else ""
