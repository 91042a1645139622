"""How the embedded store lays a collection out in SQLite.

Names of our own have an underscore in front or a dot inside, which no collection or field has.
"""

import json

from pydantic import JsonValue
from sqlalchemy import (
    Column,
    ColumnElement,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    false,
    select,
)
from sqlalchemy.dialects.sqlite import Insert, insert

from app.core.storage.port import AnyOf, Collection, Condition, Document, Equals, Field

CATALOG = Table(
    "_collections",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("fields", Text, nullable=False),
)


class CollectionTable:
    """A row a document, with its declared fields beside it, and an index over the searched ones."""

    def __init__(self, collection: Collection) -> None:
        self.name, metadata = collection.name, MetaData()
        self._declared = collection.fields
        self._fields = {field.name: field for field in (Field("id", "keyword"), *collection.fields)}
        self.rows = Table(
            self.name,
            metadata,
            Column("_position", Integer, primary_key=True),
            Column("id", Text, nullable=False, unique=True),
            Column("_document", Text, nullable=False),
            *(Column(each.name, Integer if each.kind == "integer" else Text) for each in self._declared),
            # With the id at its end, an index also gives the order of the documents it finds.
            *(Index(f"{self.name}.{each.name}", each.name, "id") for each in self._ordered()),
        )
        self.document = self.rows.c["_document"]
        self.position = self.rows.c["_position"]
        self.full_text = Table(f"{self.name}.text", metadata, Column("rowid", Integer, primary_key=True))

        # Built once: SQLAlchemy takes longer to build these than SQLite to run them.
        self.found = select(self.document).where(self.rows.c.id == bindparam("wanted"))
        self.replacing = self._replacing()

    def _replacing(self) -> Insert:
        insertion = insert(self.rows)
        changed = {name: insertion.excluded[name] for name in ("_document", *self._fields) if name != "id"}
        return insertion.on_conflict_do_update(index_elements=["id"], set_=changed)

    def _ordered(self) -> list[Field]:
        return [field for field in self._declared if field.kind != "text"]

    def field(self, name: str) -> Field:
        return self._fields[name]

    def specification(self) -> str:
        """The declared fields as text for the catalog."""
        return json.dumps([[field.name, field.kind] for field in self._declared])

    def full_text_ddl(self) -> list[str]:
        """An FTS5 index over the rows, kept by triggers, as SQLite's documentation has it.

        SQLAlchemy knows neither virtual tables nor triggers; all names are validated by the port.
        """
        searched = [f'"{field.name}"' for field in self._declared if field.kind == "text"]
        if not searched:
            return []
        rows, index, columns = f'"{self.name}"', f'"{self.full_text.name}"', ", ".join(searched)
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

    def row(self, document: Document) -> dict[str, JsonValue]:
        fields = {name: document.get(name) for name in self._fields}
        for name, value in fields.items():
            if not self._fields[name].holds(value):
                raise ValueError(f"{self.name}.{name} is declared as {self._fields[name].kind}")
        return {**fields, "_document": json.dumps(document, ensure_ascii=False)}

    def compile(self, condition: Condition) -> ColumnElement[bool]:
        column, field = self.rows.c[condition.field], self._fields[condition.field]
        match condition:
            case Equals(value=None):
                return column.is_(None)
            case Equals(value=value):
                # SQLite would convert: to it, the text '1' in an integer column is 1.
                return column == value if field.holds(value) else false()
            case AnyOf(values=values):
                return column.in_([value for value in values if field.holds(value)])
