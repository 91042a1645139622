"""Schema linking: the tables that matter to a question, as cards that fit a prompt.

A schema that fits is shown whole. Of a larger one, the tables that share most words with the
conversation come first, and those they refer to along foreign keys come with them.
"""

import re
from collections.abc import Sequence

from app.core.llm.tokens import approximate_tokens
from app.modules.database_connection.schema import Column, Schema, Table

_MAX_VALUES = 12
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*|[0-9]+")


def schema_cards(schema: Schema, conversation: str, budget_tokens: int) -> str:
    """One card a table, most relevant first, within the budget; at least one table is shown."""
    cards = {table.name: _card(table) for table in schema.tables}
    if approximate_tokens("\n\n".join(cards.values())) <= budget_tokens:
        return "\n\n".join(cards.values())
    chosen: list[str] = []
    for name in _ranked(schema.tables, conversation):
        if chosen and approximate_tokens("\n\n".join([*chosen, cards[name]])) > budget_tokens:
            break
        chosen.append(cards[name])
    return "\n\n".join(chosen)


def _ranked(tables: Sequence[Table], conversation: str) -> list[str]:
    asked = _words(conversation)
    scores = {table.name: len(asked & _table_words(table)) for table in tables}
    for table in tables:
        for key in table.foreign_keys:
            if key.referred_table in scores:
                best = max(scores[table.name], scores[key.referred_table])
                scores[key.referred_table] = max(scores[key.referred_table], best - 1)
    return sorted(scores, key=lambda name: -scores[name])


def _table_words(table: Table) -> set[str]:
    # Not the stored values: measured, they draw the ranking to the wrong tables.
    return _words(" ".join([table.name, table.description, *(column.name for column in table.columns)]))


def _words(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in _WORD.findall(text) if len(word) > 1}


def _card(table: Table) -> str:
    rows = "" if table.row_count is None else f", {table.row_count:,} rows"
    title = f"{table.kind} {table.name}{rows}" + _note(table.description)
    references = {
        column: f"{key.referred_table}.{referred}"
        for key in table.foreign_keys
        for column, referred in zip(key.columns, key.referred_columns, strict=True)
    }
    return "\n".join([title, *(_line(column, references.get(column.name)) for column in table.columns)])


def _line(column: Column, reference: str | None) -> str:
    parts = [f"  {column.name} {column.type}"]
    if column.primary_key:
        parts.append("primary key")
    if reference is not None:
        parts.append(f"references {reference}")
    if column.values:
        shown = ", ".join(f"'{value}'" for value in column.values[:_MAX_VALUES])
        parts.append(f"values {shown}" + (", …" if len(column.values) > _MAX_VALUES else ""))
    elif column.minimum is not None and not column.primary_key and reference is None:
        parts.append(f"from {column.minimum} to {column.maximum}")
    return ", ".join(parts) + _note(column.description)


def _note(description: str) -> str:
    return f" -- {' '.join(description.split())}" if description else ""
