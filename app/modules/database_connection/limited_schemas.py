"""The schema of a connection with policies as one person knows it.

What they may not see is in no prompt, suggestion, error or check that is made of it, and its statements are
limited to their rows. It has no values of limited tables: the account has read those of all people.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakValueDictionary

from cachetools import LRUCache

from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.scan.scanned import ScannedSchema, unprofiled
from app.modules.database_connection.schema import Schema, Table
from app.modules.policies.catalog import DatabaseRelation, RelationCatalog, RelationColumn
from app.modules.policies.limiting import Limiter
from app.modules.policies.model import read_policies
from app.modules.policies.rights import Person, rights_of

_Asked: TypeAlias = tuple[str, str, int, str]


class LimitedSchemas:
    """Schemas of people, by what their rights follow from; the least recently used are dropped."""

    def __init__(self, limit: int) -> None:
        self._known: LRUCache[_Asked, tuple[ScannedSchema, ScannedSchema]] = LRUCache(limit)
        self._locks: WeakValueDictionary[_Asked, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self, scanned: ScannedSchema, policies: str, person: Person, *, found_at: int, key: str
    ) -> ScannedSchema:
        """Returns what `limit_schema` returns: the same object for the same rights."""
        asked = (key, policies, found_at, json.dumps(person.known, sort_keys=True, default=list))
        async with self._locks.setdefault(asked, asyncio.Lock()):
            known = self._known.get(asked)
            if known is None or known[0] is not scanned:
                limited = await asyncio.to_thread(
                    limit_schema, scanned, policies, person, found_at=found_at, key=key
                )
                known = self._known[asked] = (scanned, limited)
            return known[1]


def limit_schema(
    scanned: ScannedSchema, policies: str, person: Person, *, found_at: int, key: str
) -> ScannedSchema:
    """Returns what a person knows of a scanned schema. A thousand tables take a second or more.

    `found_at` is the latest of the tables that the policies were written for.
    """
    rights = rights_of(read_policies(policies), person)
    dialect = scanned.schema.dialect
    limiter = Limiter(
        catalog_of(scanned.schema, found_at), rights, key=key, write=lambda tree: rewritten(tree, dialect)
    )
    return _limit_tables(scanned, limiter)


def catalog_of(schema: Schema, found_at: int | None = None) -> RelationCatalog:
    """Returns all tables with all columns, hidden ones, too: conditions may read them. Those found after
    `found_at` are new.
    """
    relations = [
        _relation(table, is_new=found_at is not None and table.found_at > found_at) for table in schema.tables
    ]
    return RelationCatalog(schema.dialect, relations, schema.database)


def _relation(table: Table, *, is_new: bool) -> DatabaseRelation:
    columns = [
        RelationColumn(
            name=each.name, kind=each.type, database_type=each.database_type, is_key=each.primary_key
        )
        for each in table.columns
    ]
    return DatabaseRelation(
        shown=table.name,
        name=table.in_database,
        columns=columns,
        is_view=table.kind == "view",
        definition=table.definition,
        hides=[each.name for each in table.columns if each.hidden],
        is_new=is_new,
    )


def _limit_tables(scanned: ScannedSchema, limiter: Limiter) -> ScannedSchema:
    tables: list[Table] = []
    withheld: set[str] = set()
    for table in scanned.schema.tables:
        relation = limiter.catalog.by_shown[table.name]
        columns = limiter.visible_columns(relation)
        if columns is None:
            continue
        if limiter.is_governed(relation):
            withheld.add(table.name)
        tables.append(_limit_table(table, columns, withheld=table.name in withheld))
    known = {table.name: {column.name for column in table.columns} for table in tables}
    texts = {name: values for name, values in scanned.texts.items() if name in known.keys() - withheld}
    shown = [_drop_unknown_keys(table, known) for table in tables]
    return ScannedSchema(replace(scanned.schema, tables=shown, limiter=limiter), texts)


def _limit_table(table: Table, columns: Sequence[str], *, withheld: bool) -> Table:
    shown = [column for column in table.columns if column.name in columns]
    if not withheld:
        return replace(table, columns=shown)
    return replace(
        table,
        columns=[unprofiled(column) for column in shown],
        row_count=None,
        secrets=[name for name in table.secrets if name in columns],
        definition="",
    )


def _drop_unknown_keys(table: Table, known: Mapping[str, set[str]]) -> Table:
    """Returns a table without its foreign keys of and to what the person does not know."""
    keys = [
        key
        for key in table.foreign_keys
        if known[table.name].issuperset(key.columns)
        and known.get(key.referred_table, set()).issuperset(key.referred_columns)
    ]
    return replace(table, foreign_keys=keys)
