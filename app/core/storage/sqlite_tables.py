"""How the embedded store lays a collection out in SQLite."""

import json

from pydantic import JsonValue
from sqlalchemy import Column, ColumnElement, Index, Integer, MetaData, Table, Text, bindparam, select
from sqlalchemy.dialects.sqlite import Insert, insert

from app.core.storage.port import AnyOf, Collection, Condition, Document, Equals

CATALOG = Table(
    "kai_collections",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("fields", Text, nullable=False),
)


class CollectionTable:
    """A row a document, with its declared fields beside it, and an index over the searched ones."""

    def __init__(self, collection: Collection) -> None:
        name, metadata = collection.name, MetaData()
        self.declared = [field.name for field in collection.fields]
        self._searched = [field.name for field in collection.fields if field.kind == "text"]
        self.rows = Table(
            name,
            metadata,
            Column("position", Integer, primary_key=True),
            Column("id", Text, nullable=False, unique=True),
            Column("document", Text, nullable=False),
            *(Column(each.name, Integer if each.kind == "integer" else Text) for each in collection.fields),
            *(Index(f"{name}_{each.name}", each.name) for each in collection.fields if each.kind != "text"),
        )
        self.full_text = Table(f"{name}_text", metadata, Column("rowid", Integer, primary_key=True))

        # Built once: SQLAlchemy takes longer to build these than SQLite to run them.
        self.found = select(self.rows.c.document).where(self.rows.c.id == bindparam("wanted"))
        self.replacing = self._replacing()

    def _replacing(self) -> Insert:
        insertion = insert(self.rows)
        changed = {name: insertion.excluded[name] for name in ("document", *self.declared)}
        return insertion.on_conflict_do_update(index_elements=["id"], set_=changed)

    def full_text_ddl(self) -> list[str]:
        """An FTS5 index over the rows, kept by triggers, as SQLite's documentation has it.

        SQLAlchemy knows neither virtual tables nor triggers; all names are validated by the port.
        """
        if not self._searched:
            return []
        rows, index, columns = self.rows.name, self.full_text.name, ", ".join(self._searched)
        new = ", ".join(f"new.{name}" for name in self._searched)
        old = ", ".join(f"old.{name}" for name in self._searched)
        changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in self._searched)
        add = f"INSERT INTO {index}(rowid, {columns}) VALUES (new.position, {new});"  # noqa: S608
        drop = f"INSERT INTO {index}({index}, rowid, {columns}) VALUES ('delete', old.position, {old});"  # noqa: S608
        content = f"content='{rows}', content_rowid='position'"
        trigger = f"CREATE TRIGGER IF NOT EXISTS {index}"
        return [
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {index} USING fts5({columns}, {content})",
            f"{trigger}_added AFTER INSERT ON {rows} BEGIN {add} END",
            f"{trigger}_deleted AFTER DELETE ON {rows} BEGIN {drop} END",
            f"{trigger}_changed AFTER UPDATE ON {rows} WHEN {changed} BEGIN {drop} {add} END",
        ]

    def row(self, document: Document) -> dict[str, JsonValue]:
        fields = {name: document.get(name) for name in self.declared}
        return {"id": document["id"], "document": json.dumps(document, ensure_ascii=False), **fields}

    def compile(self, condition: Condition) -> ColumnElement[bool]:
        column = self.rows.c[condition.field]
        match condition:
            case Equals(value=None):
                return column.is_(None)
            case Equals(value=value):
                return column == value
            case AnyOf(values=values):
                return column.in_(values)
