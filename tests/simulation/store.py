"""Typesense as far as KAI's records need it: imports with an action, filters, sorting and deletion."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, cast

import httpx
from pydantic import JsonValue

from app.bootstrap.typesense import DECIDED
from app.core.bus.port import ERASED, Decisions
from app.core.ids import new_id
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Amend, Collection, Condition, Document, Field, meets
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import translated_errors
from app.core.storage.typesense_compare_and_set import CompareAndSet
from app.core.storage.typesense_successors import CreatedSuccessors, DecidedSuccessors
from migrations import (
    m0001_initial,
    m0002_investigations,
    m0003_rules,
    m0006_memory,
    m0007_schedules,
    m0012_comments,
    m0013_overviews,
    m0014_unkept_sessions,
    m0015_keyed_requests,
    m0016_webhooks,
)
from tests.simulation.bus import DecisionData
from tests.simulation.world import Unreachable, World, described
from typesense_checkpoint.collection import Action, TypesenseCollection
from typesense_checkpoint.searches import Search

T = TypeVar("T")
Row = dict[str, object]

_SESSIONS = next(each for each in m0001_initial.COLLECTIONS if each.name == "sessions")
_RUNS = next(each for each in m0001_initial.COLLECTIONS if each.name == "runs")
_EXAMPLES = next(each for each in m0001_initial.COLLECTIONS if each.name == "examples")
_TOOL_CALLS = next(each for each in m0002_investigations.COLLECTIONS if each.name == "tool_calls")
_NOTICES = next(each for each in m0007_schedules.COLLECTIONS if each.name == "notices")

SCHEMA: Mapping[str, Collection] = {
    each.name: each
    for each in (
        *m0001_initial.COLLECTIONS,
        *m0002_investigations.COLLECTIONS,
        *m0003_rules.COLLECTIONS,
        *m0006_memory.COLLECTIONS,
        *m0007_schedules.COLLECTIONS,
        *m0012_comments.COLLECTIONS,
        m0013_overviews.OVERVIEWS,
        m0015_keyed_requests.KEYED_REQUESTS,
        *m0016_webhooks.COLLECTIONS,
        replace(_NOTICES, fields=[*_NOTICES.fields, *m0012_comments.NOTICE_FIELDS]),
        replace(_TOOL_CALLS, fields=[*_TOOL_CALLS.fields, Field("expires_at", "integer")]),
        replace(_EXAMPLES, fields=[*_EXAMPLES.fields, Field("session_id", "keyword")]),
        replace(
            _SESSIONS,
            fields=[
                *_SESSIONS.fields,
                *m0006_memory.SESSION_FIELDS,
                *m0014_unkept_sessions.SESSION_FIELDS,
            ],
        ),
        replace(
            _RUNS,
            fields=[*_RUNS.fields, *m0014_unkept_sessions.RUN_FIELDS, *m0016_webhooks.RUN_FIELDS],
        ),
    )
}
Test = Callable[[Mapping[str, object]], bool]


@lru_cache(maxsize=4_000)
def _compiled(filter_by: str) -> Sequence[Test]:
    if "(" in filter_by or "||" in filter_by:
        raise NotImplementedError(filter_by)
    return [_test(part) for part in filter_by.split(" && ")] if filter_by else []


def _test(part: str) -> Test:
    field, _, rest = part.partition(":")
    for sign in (">=", "<", "="):
        if rest.startswith(sign):
            value = rest.removeprefix(sign)
            break
    else:
        raise NotImplementedError(part)
    if value.startswith("["):
        values = set(value.strip("[]").split(","))
        return lambda row: str(row.get(field)) in values
    if sign == "=":
        return lambda row: str(row.get(field)) == value
    number = int(value)
    if sign == "<":
        return lambda row: cast("int", row.get(field, 0)) < number
    return lambda row: cast("int", row.get(field, 0)) >= number


class StoreData:
    """What the server holds: rows by collection and id. `decisions` are looked at by invariants only."""

    def __init__(self, decisions: DecisionData) -> None:
        self._decisions = decisions
        self.rows: dict[str, dict[str, Row]] = {}
        self.highest: dict[str, int] = {}
        """The highest number of a decision that was written, by row."""
        self.set_back: set[str] = set()
        """Rows in an earlier state than that."""

    def write(self, name: str, rows: Sequence[Row], action: Action) -> list[bool]:
        kept = self.rows.setdefault(name, {})
        return [self._write(kept, row, action) for row in rows]

    def _write(self, kept: dict[str, Row], row: Row, action: Action) -> bool:
        row_id = cast("str", row["id"])
        exists = row_id in kept
        if (action == "create" and exists) or (action == "update" and not exists):
            return False
        kept[row_id] = {**kept[row_id], **row} if action == "update" else dict(row)
        number = layout.number_of(str(row.get(layout.REVISION, "")))
        self.highest[row_id] = max(number, self.highest.get(row_id, 0))
        (self.set_back.add if number < self.highest[row_id] else self.set_back.discard)(row_id)
        return True

    def find(self, name: str, search: Search) -> list[Row]:
        rows = self.rows.get(search.get("collection", name), {})
        filter_by = search.get("filter_by", "")
        if filter_by.startswith("id:=") and filter_by[4:] in rows:
            return [rows[filter_by[4:]]]
        found = list(rows.values())
        for test in _compiled(filter_by):
            found = [row for row in found if test(row)]
        for part in reversed(search.get("sort_by", "").split(",")):
            if part:
                field, way = part.split(":")
                found.sort(key=lambda row: cast("int", row[field]), reverse=way == "desc")
        page, size = search.get("page", 1), search.get("per_page", 250)
        return found[(page - 1) * size : page * size]

    def delete(self, name: str, filter_by: str) -> int:
        kept = self.rows.get(name, {})
        gone = self.find(name, {"filter_by": filter_by, "per_page": 10_000})
        for row in gone:
            del kept[cast("str", row["id"])]
        return len(gone)

    # Looked at by invariants, not by the engine

    def documents(self, name: str) -> list[Document]:
        kept = SCHEMA[name]
        rows = self.rows.get(layout.place_of(kept), {}).values()
        ids = [str(layout.document_of(row)["id"]) for row in rows if row.get(layout.COLLECTION, name) == name]
        found = (self.effective(name, document_id) for document_id in ids)
        return [each for each in found if each is not None]

    def _row(self, name: str, document_id: str) -> Row | None:
        kept = SCHEMA[name]
        return self.rows.get(layout.place_of(kept), {}).get(layout.row_id(kept, document_id))

    def document(self, name: str, document_id: str) -> Document | None:
        row = self._row(name, document_id)
        return None if row is None else layout.document_of(row)

    def effective(self, name: str, document_id: str) -> Document | None:
        """The document in its latest state, whether that is written or still a successor alone."""
        row = self._row(name, document_id)
        if row is None:
            return None
        key = layout.key(layout.place_of(SCHEMA[name]), layout.row_id(SCHEMA[name], document_id))
        by_base = {each["base"]: each for each in self.rows.get("patches0", {}).values() if each["of"] == key}
        while (following := by_base.get(row[layout.REVISION])) is not None:
            row = following
        document, revision = layout.document_of(row), str(row[layout.REVISION])
        decision = self._decisions.latest.get(f"{name}.{document_id}")
        if decision is not None:
            if decision.value == ERASED:
                return None
            _, since, decided = json.loads(decision.value)
            if since >= layout.number_of(revision):
                return cast("Document", decided)
        return document


def _is_end(collection: str, document: Document) -> bool:
    """The document is a run that has ended."""
    return collection == "runs" and document.get("status") in ("complete", "failed", "cancelled")


class SimulatedCollection(TypesenseCollection[layout.Row]):
    """A collection that is reached over the simulated network."""

    def __init__(self, world: World, data: StoreData, name: str) -> None:
        self.name = name
        self._world = world
        self._data = data

    async def create_if_missing(self, fields: object) -> None:
        """Collections need not be made."""

    async def write(self, documents: Sequence[layout.Row], action: Action) -> list[bool]:
        rows = [dict(each) for each in documents]
        what = f"{action} {self.name}"
        if self._world.traced:
            what += " " + " ".join(map(described, rows))
        ends = any(
            _is_end(str(row.get(layout.COLLECTION)), layout.document_of(row))
            for row in rows
            if layout.DOCUMENT in row
        )
        return await self._ask(
            what, lambda: self._data.write(self.name, rows, action), writes=True, ends=ends
        )

    async def find(self, *searches: Search) -> list[list[layout.Row]]:
        def act() -> list[list[layout.Row]]:
            return [[dict(row) for row in self._data.find(self.name, search)] for search in searches]

        return await self._ask(f"find {self.name}", act)

    async def find_all(self, search: Search) -> list[layout.Row]:
        (found,) = await self.find({**search, "per_page": 10_000})
        return found

    async def find_ids(self, filter_by: str) -> list[str]:
        return [str(each["id"]) for each in await self.find_all({"filter_by": filter_by})]

    async def count(self, filter_by: str) -> int:
        search: Search = {"filter_by": filter_by, "per_page": 10_000}
        return await self._ask(f"count {self.name}", lambda: len(self._data.find(self.name, search)))

    async def delete(self, filter_by: str) -> int:
        what = f"delete {self.name}"
        return await self._ask(what, lambda: self._data.delete(self.name, filter_by), writes=True)

    async def delete_any(self, field: str, values: Sequence[str]) -> int:
        return await self.delete(f"{field}:=[{','.join(values)}]") if values else 0

    async def _ask(self, what: str, act: Callable[[], T], *, writes: bool = False, ends: bool = False) -> T:
        """As the client does, which may ask again by itself."""
        losses = self._world.losses
        for _ in range(self._world.store_retries):
            with suppress(Unreachable):
                return await self._world.request(self._world.store, what, act, writes=writes, ends=ends)
        if writes and losses != self._world.losses:
            raise httpx.ConnectError("the store is unreachable")
        try:
            return await self._world.request(self._world.store, what, act, writes=writes, ends=ends)
        except Unreachable as error:
            raise httpx.ConnectError(str(error)) from error


class SimulatedTypesense(TypesenseStorage):
    """The Typesense adapter itself, on simulated collections."""

    def __init__(
        self, world: World, data: StoreData, collections: Mapping[str, Collection], decisions: Decisions
    ) -> None:
        self._world = world
        self._data = data
        self._prefix = ""
        self._collections = dict(collections)
        self._created = CreatedSuccessors(SimulatedCollection(world, data, "patches0"), self._known)
        self._by_creation = CompareAndSet(self._created)
        self._by_decision = CompareAndSet(DecidedSuccessors(decisions))
        self._decided = frozenset(DECIDED)

    async def open(self) -> None:
        """All collections are known."""

    def _documents(self, collection: Collection) -> TypesenseCollection[layout.Row]:
        return SimulatedCollection(self._world, self._data, layout.place_of(collection))

    async def patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition] = (),
        also: Sequence[tuple[str, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        changed = await self._patch(collection, document_id, changes, where=where, also=also, amend=amend)
        if changed is not None and "fence" in changes:
            given = (document_id, cast("int", changed["fence"]))
            if given in self._world.fences:
                self._world.violate(f"session {document_id[-3:]} gets its fence {given[1]} twice")
            self._world.fences.add(given)
        return changed

    async def _patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition],
        also: Sequence[tuple[str, Document]],
        amend: Amend | None,
    ) -> Document | None:
        return await super().patch(collection, document_id, changes, where=where, also=also, amend=amend)


class SimulatedSqlite(SimulatedTypesense):
    """A store whose conditional write is one step, as SQLite's is."""

    async def _patch(
        self,
        collection: str,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition],
        also: Sequence[tuple[str, Document]],
        amend: Amend | None,
    ) -> Document | None:
        kept = self._collections[collection]

        def act() -> Document | None:
            document = self._data.document(collection, document_id)
            if document is None or not all(meets(document, each, kept) for each in where):
                return None
            amended = document if amend is None else amend(document)
            if amended is None:
                return None
            changed: Document = {**amended, **changes, "id": document_id}
            for name, other in also:
                declared = self._collections[name]
                rows = [layout.row(declared, other, new_id())]
                self._data.write(layout.place_of(declared), rows, "upsert")
            self._data.write(layout.place_of(kept), [layout.row(kept, changed, new_id())], "update")
            return changed

        documents = SimulatedCollection(self._world, self._data, layout.place_of(kept))
        with translated_errors():
            ends = _is_end(collection, dict(changes))
            what = f"patch {collection} {dict(changes)}"
            return await documents._ask(what, act, writes=True, ends=ends)
