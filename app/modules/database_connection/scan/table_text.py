"""A table in words, as an embedding model reads it: what it is called and said to be, never what is in it."""

import hashlib

from app.modules.database_connection.schema import Column, Table

_LONGEST = 6_000
"""Characters; embedding models read some 8,000 tokens, and not all refuse or cut what is longer."""


def table_text(table: Table) -> str:
    return "\n".join([_told(table), *map(_told, table.columns)])[:_LONGEST]


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _told(named: Table | Column) -> str:
    return f"{named.name}: {named.description}" if named.description else named.name
