"""The tables and indexes of a collection in the embedded store.

Internal names begin with an underscore or contain a dot, unlike names of collections and fields.
"""

import json
from array import array

from pydantic import JsonValue
from sqlalchemy import (
    Column,
    ColumnElement,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    and_,
    bindparam,
    false,
    or_,
    select,
)
from sqlalchemy.dialects.sqlite import Insert, insert

from app.core.storage.paging import Place
from app.core.storage.port import AnyOf, Collection, Condition, Document, Equals, Field, Range

_TYPES = {"keyword": Text, "integer": Integer, "text": Text, "vector": LargeBinary}

CATALOG = Table(
    "_collections",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("fields", Text, nullable=False),
)


class CollectionTable:
    """The table of a collection: one row per document, with a column for each declared field.

    `keyword` and `integer` fields have an index each; `text` fields share a full-text index.
    """

    def __init__(self, collection: Collection) -> None:
        self.name = collection.name
        metadata = MetaData()
        self.collection = collection
        self._declared = collection.fields
        self.rows = Table(
            self.name,
            metadata,
            Column("_position", Integer, primary_key=True),
            Column("id", Text, nullable=False, unique=True),
            Column("_document", Text, nullable=False),
            *(Column(each.name, _TYPES[each.kind]) for each in self._declared),
            # With the id at its end, an index also gives the order of the documents it finds.
            *(Index(f"{self.name}.{each.name}", each.name, "id") for each in self._compared()),
        )
        self.document = self.rows.c["_document"]
        self.position = self.rows.c["_position"]
        self.full_text = Table(f"{self.name}.text", metadata, Column("rowid", Integer, primary_key=True))

        # Built once: SQLAlchemy takes longer to build these than SQLite to run them.
        self.found = select(self.document).where(self.rows.c.id == bindparam("wanted"))
        self.replacing = self._replacing()

    def _replacing(self) -> Insert:
        insertion = insert(self.rows)
        names = ("_document", *(field.name for field in self._declared))
        changed = {name: insertion.excluded[name] for name in names}
        return insertion.on_conflict_do_update(index_elements=["id"], set_=changed)

    def _compared(self) -> list[Field]:
        return [field for field in self._declared if field.kind in ("keyword", "integer")]

    def specification(self) -> str:
        """Returns the declared fields as JSON for the catalog."""
        return json.dumps([[field.name, field.kind, field.dimensions] for field in self._declared])

    def full_text_ddl(self) -> list[str]:
        """Returns the DDL of an FTS5 index that triggers keep current, as SQLite documents it.

        SQLAlchemy supports neither virtual tables nor triggers. `Field` and `Collection` validate all names.
        """
        searched = [f'"{field.name}"' for field in self._declared if field.kind == "text"]
        if not searched:
            return []
        rows = f'"{self.name}"'
        index = f'"{self.full_text.name}"'
        columns = ", ".join(searched)
        new = ", ".join(f"new.{name}" for name in searched)
        old = ", ".join(f"old.{name}" for name in searched)
        changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in searched)
        add = f"INSERT INTO {index}(rowid, {columns}) VALUES (new._position, {new});"  # noqa: S608
        drop = f"INSERT INTO {index}({index}, rowid, {columns}) VALUES ('delete', old._position, {old});"  # noqa: S608
        trigger = f'CREATE TRIGGER "{self.full_text.name}'
        return [
            f"CREATE VIRTUAL TABLE {index} USING fts5({columns}, content={rows}, content_rowid='_position')",
            f'{trigger}_added" AFTER INSERT ON {rows} BEGIN {add} END',
            f'{trigger}_deleted" AFTER DELETE ON {rows} BEGIN {drop} END',
            f'{trigger}_changed" AFTER UPDATE ON {rows} WHEN {changed} BEGIN {drop} {add} END',
        ]

    def row(self, document: Document) -> dict[str, JsonValue | bytes]:
        """Returns the row of a document. Raises what `Collection.check` raises."""
        self.collection.check(document)
        fields = {field.name: _stored(field, document.get(field.name)) for field in self._declared}
        return {**fields, "id": document["id"], "_document": json.dumps(document, ensure_ascii=False)}

    def compile(self, condition: Condition) -> ColumnElement[bool]:
        field = self.collection.compared(condition)
        column = self.rows.c[field.name]
        match condition:
            case Equals(value=None):
                return column.is_(None)
            case Equals(value=value):
                # SQLite would convert: to it, the text '1' in an integer column is 1.
                return column == value if field.holds(value) else false()
            case AnyOf(values=values):
                return column.in_([value for value in values if field.holds(value)])
            case Range(at_least=at_least, below=below):
                least = column.is_not(None) if at_least is None else column >= at_least
                return least if below is None else and_(least, column < below)

    def beyond(self, order: str, place: Place, *, descending: bool) -> ColumnElement[bool]:
        """Returns the condition for rows after a place in an order. Null sorts lowest; ties by id."""
        column = self.rows.c[order]
        identity = self.rows.c.id
        further_id = identity < place.document_id if descending else identity > place.document_id
        same = and_(column.is_not_distinct_from(place.value), further_id)
        if place.value is None:
            return same if descending else or_(column.is_not(None), same)
        further = or_(column < place.value, column.is_(None)) if descending else column > place.value
        return or_(further, same)


def _stored(field: Field, value: JsonValue) -> JsonValue | bytes:
    if field.kind == "vector" and isinstance(value, list):
        return array("f", [each for each in value if isinstance(each, float | int)]).tobytes()
    return value
