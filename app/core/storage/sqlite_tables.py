"""The tables and indexes of a collection in the embedded store.

To build an expression of SQLAlchemy takes longer than SQLite takes to run it. So a `Shape` is what conditions
say without their values: statements of one shape are one expression, and the values are its parameters.

Internal names begin with an underscore or contain a dot, unlike names of collections and fields.
"""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from pydantic import JsonValue
from sqlalchemy import (
    BindParameter,
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
    func,
    insert,
    or_,
    select,
)
from sqlalchemy.dialects import sqlite

from app.core.storage.port import (
    AnyOf,
    Collection,
    Condition,
    Contains,
    ContainsAny,
    Document,
    Equals,
    Field,
    Range,
)
from app.core.storage.sqlite_access import Prepared

Comparison: TypeAlias = Literal[
    "null", "not null", "never", "equals", "any of", "contains", "contains any", "at least", "below"
]
Shape: TypeAlias = tuple[tuple[str, Comparison], ...]
"""Fields and how each is compared, with the parameter `value_0`, `value_1` and so on where it has one."""

Parameters: TypeAlias = Mapping[str, JsonValue | bytes | Sequence[str]]

_IN_COLUMN: list[JsonValue] = []
"""In the text of a document, for a vector that its column has exactly. No vector is empty."""
_TYPES = {"keyword": Text, "keywords": Text, "integer": Integer, "text": Text, "vector": LargeBinary}

CATALOG = Table(
    "_collections",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("fields", Text, nullable=False),
)


class CollectionTable:
    """The table of a collection: one row per document, with a column for each declared field.

    `keyword` and `integer` fields have an index each; `text` fields share a full-text index. `keywords` have
    none: conditions on them come with others.
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
        self._vectors = [field.name for field in self._declared if field.kind == "vector"]
        self.kept = [self.rows.c["_document"], *(self.rows.c[name] for name in self._vectors)]
        """The columns that `document_of` makes a document of."""
        self.position = self.rows.c["_position"]
        self.full_text = Table(f"{self.name}.text", metadata, Column("rowid", Integer, primary_key=True))
        self._given = ["id", "_document", *(field.name for field in self._declared)]

    # Written when they are first used: a process writes to few of its collections.

    @cached_property
    def inserting(self) -> Prepared:
        return Prepared(insert(self.rows), self._given)

    @cached_property
    def inserting_missing(self) -> Prepared:
        missing = sqlite.insert(self.rows).on_conflict_do_nothing(index_elements=["id"])
        return Prepared(missing, self._given)

    @cached_property
    def replacing(self) -> Prepared:
        insertion = sqlite.insert(self.rows)
        changed = {name: insertion.excluded[name] for name in self._given if name != "id"}
        return Prepared(insertion.on_conflict_do_update(index_elements=["id"], set_=changed), self._given)

    @property
    def has_words(self) -> bool:
        return any(field.kind == "text" for field in self._declared)

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
        written = json.dumps(self._without_vectors(document, fields), ensure_ascii=False)
        return {**fields, "id": document["id"], "_document": written}

    def document_of(self, kept: Sequence[object]) -> Document:
        """Returns the document of a row's `kept` columns."""
        document: Document = json.loads(str(kept[0]))
        for name, stored in zip(self._vectors, kept[1:], strict=True):
            if document.get(name) == _IN_COLUMN and isinstance(stored, bytes):
                document[name] = [*array("f", stored)]
        return document

    def _without_vectors(
        self, document: Document, fields: Mapping[str, JsonValue | bytes]
    ) -> Mapping[str, JsonValue]:
        """A vector of 32-bit numbers is kept once, for as text it is five times as long: a search that
        compares all vectors would read a row of many pages for each.
        """
        columns = {name: stored for name in self._vectors if isinstance(stored := fields[name], bytes)}
        exact = [name for name, stored in columns.items() if array("f", stored).tolist() == document[name]]
        return {**document, **dict.fromkeys(exact, _IN_COLUMN)} if exact else document

    def shape(self, conditions: Sequence[Condition]) -> tuple[Shape, Parameters]:
        """Returns what conditions compare, and the values. Raises what `Collection.compared` raises."""
        compared = [each for condition in conditions for each in self._comparisons(condition)]
        values = {f"value_{place}": value for place, (_, _, value) in enumerate(compared)}
        return tuple((field, comparison) for field, comparison, _ in compared), values

    def _comparisons(
        self, condition: Condition
    ) -> Iterator[tuple[str, Comparison, JsonValue | Sequence[str]]]:
        field = self.collection.compared(condition)
        match condition:
            case Equals(value=None):
                yield field.name, "null", None
            case Equals(value=value):
                # SQLite would convert: to it, the text '1' in an integer column is 1.
                yield field.name, "equals" if field.holds(value) else "never", value
            case AnyOf(values=values):
                yield field.name, "any of", [value for value in values if field.holds(value)]
            case Contains(value=value):
                yield field.name, "contains", json.dumps(value)
            case ContainsAny(values=values):
                yield field.name, "contains any", [json.dumps(value) for value in values]
            case Range(at_least=None, below=None):
                yield field.name, "not null", None
            case Range(at_least=at_least, below=below):
                if at_least is not None:
                    yield field.name, "at least", at_least
                if below is not None:
                    yield field.name, "below", below

    def meets(self, shape: Shape) -> list[ColumnElement[bool]]:
        """Returns the conditions of a shape as expressions, with parameters."""
        return [
            self._compare(field, comparison, f"value_{place}")
            for place, (field, comparison) in enumerate(shape)
        ]

    def _compare(self, field: str, comparison: Comparison, parameter: str) -> ColumnElement[bool]:
        column = self.rows.c[field]
        match comparison:
            case "null":
                return column.is_(None)
            case "not null":
                return column.is_not(None)
            case "never":
                return false()
            case "equals":
                return column == bindparam(parameter)
            case "any of":
                return column.in_(bindparam(parameter, expanding=True))
            case "contains":
                listed = func.json_each(column).table_valued("value")
                return select(listed.c.value).where(listed.c.value == bindparam(parameter)).exists()
            case "contains any":
                listed = func.json_each(column).table_valued("value")
                among = listed.c.value.in_(bindparam(parameter, expanding=True))
                return select(listed.c.value).where(among).exists()
            case "at least":
                return column >= bindparam(parameter)
            case "below":
                return column < bindparam(parameter)

    def beyond(self, order: str, *, is_null: bool, descending: bool) -> ColumnElement[bool]:
        """Returns the condition for rows after a place in an order, with the parameters `place` (or null) and
        `place_id`. Null sorts lowest; ties by id.
        """
        column = self.rows.c[order]
        identity = self.rows.c.id
        place_id: BindParameter[str] = bindparam("place_id")
        further_id = identity < place_id if descending else identity > place_id
        if is_null:
            same = and_(column.is_(None), further_id)
            return same if descending else or_(column.is_not(None), same)
        place: BindParameter[int | str] = bindparam("place")
        further = or_(column < place, column.is_(None)) if descending else column > place
        return or_(further, and_(column == place, further_id))


def _stored(field: Field, value: JsonValue) -> JsonValue | bytes:
    if field.kind == "vector" and isinstance(value, list):
        return array("f", [each for each in value if isinstance(each, float | int)]).tobytes()
    if field.kind == "keywords" and isinstance(value, list | tuple):
        return json.dumps([json.dumps(each) for each in value])  # SQLite would end a text at NUL
    return value
