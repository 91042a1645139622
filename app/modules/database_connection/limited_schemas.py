"""The schema of a connection with policies as one person knows it.

What they may not see is in no prompt, suggestion, error or check that is made of it, and its statements are
limited to their rows. It has no values of limited tables: the account has read those of all people.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cachetools import LRUCache

from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.scan.scanned import ScannedSchema, unprofiled
from app.modules.database_connection.schema import Schema, Table
from app.modules.policies.catalog import DatabaseRelation, RelationCatalog, RelationColumn
from app.modules.policies.limiting import Limiter
from app.modules.policies.model import read_policies
from app.modules.policies.rights import Person, rights_of


class LimitedSchemas:
    """Schemas of people, by what their rights follow from; the least recently used are dropped."""

    def __init__(self, limit: int) -> None:
        self._known: LRUCache[tuple[str, str, str], tuple[ScannedSchema, ScannedSchema]] = LRUCache(limit)

    def of(self, scanned: ScannedSchema, policies: str, person: Person, *, key: str) -> ScannedSchema:
        """Returns what the person knows of a scanned schema: the same object for the same rights."""
        asked = (key, policies, json.dumps(person.known, sort_keys=True, default=list))
        known = self._known.get(asked)
        if known is not None and known[0] is scanned:
            return known[1]
        rights = rights_of(read_policies(policies), person)
        dialect = scanned.schema.dialect
        limiter = Limiter(
            catalog_of(scanned.schema), rights, key=key, write=lambda tree: rewritten(tree, dialect)
        )
        limited = _limited(scanned, limiter)
        self._known[asked] = (scanned, limited)
        return limited


def catalog_of(schema: Schema) -> RelationCatalog:
    """Returns all tables with all columns, hidden ones, too: conditions may read them."""
    return RelationCatalog(schema.dialect, [_relation(table) for table in schema.tables], schema.database)


def _relation(table: Table) -> DatabaseRelation:
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
    )


def _limited(scanned: ScannedSchema, limiter: Limiter) -> ScannedSchema:
    tables: list[Table] = []
    for table in scanned.schema.tables:
        relation = limiter.catalog.by_shown[table.name]
        columns = limiter.visible_columns(relation)
        if columns is not None:
            tables.append(_limited_table(table, columns, withheld=limiter.is_governed(relation)))
    known = {table.name: {column.name for column in table.columns} for table in tables}
    withheld = {table.name for table in tables if limiter.is_governed(limiter.catalog.by_shown[table.name])}
    texts = {name: values for name, values in scanned.texts.items() if name in known.keys() - withheld}
    shown = [_without_unknown_keys(table, known) for table in tables]
    return ScannedSchema(replace(scanned.schema, tables=shown, limiter=limiter), texts)


def _limited_table(table: Table, columns: Sequence[str], *, withheld: bool) -> Table:
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


def _without_unknown_keys(table: Table, known: Mapping[str, set[str]]) -> Table:
    """Returns a table without its foreign keys of and to what the person does not know."""
    keys = [
        key
        for key in table.foreign_keys
        if known[table.name].issuperset(key.columns)
        and known.get(key.referred_table, set()).issuperset(key.referred_columns)
    ]
    return replace(table, foreign_keys=keys)
