"""Successors of documents' states in Typesense: created once, in one of two places.

Decisions of the bus cost Typesense nothing. They need every process that changes a collection on one bus.
For other collections the successor is itself a document in Typesense, whose id is derived from the revision,
for Typesense creates a document only if its id does not exist. It is deleted after ten minutes, and only once
its document is in the latest state.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias
from uuid import uuid4

from app.core.bus.port import ERASED, BusUnavailable, Decision, Decisions
from app.core.clock import now_ms
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Collection, Document
from typesense_checkpoint.collection import TypesenseCollection

logger = logging.getLogger(__name__)

_KEPT_SECONDS = 600
_SWEPT_AT_ONCE = 50


@dataclass(frozen=True)
class StoredCollection:
    """A collection as it is declared, and its Typesense collection."""

    declared: Collection
    kept: TypesenseCollection[layout.Row]


@dataclass(frozen=True)
class State:
    """A state of a document. `written`: the document itself is in it, and not only a successor."""

    document: Document
    revision: str
    written: bool
    latest: int = 0
    """Number of the latest decision about the document, 0 if there is none."""
    connection: int = 0
    """Number of the connection to the bus on which that was read."""


Find: TypeAlias = Callable[[str], Awaitable[StoredCollection]]
"""Finds a collection by its name."""

Finish: TypeAlias = Callable[[StoredCollection, str], Awaitable[object]]
"""Writes the latest state of a document, if it is not written."""


class Successors(Protocol):
    """What a place of successors does."""

    async def latest(self, documents: StoredCollection, document_id: str) -> State | None:
        """The document as its last successor has it. None without a document."""

    async def create(self, documents: StoredCollection, state: State, changed: Document) -> State | None:
        """Returns the successor, None if the state has another."""

    def is_certain(self, state: State) -> bool:
        """Whether the creation of the state's successor shows that the state was the latest."""

    async def find_other(self, documents: StoredCollection, state: State, successor: State) -> State | None:
        """Returns what the bus has in the place of this successor, which is written, if the bus has lost it.
        None if the successor stands.
        """

    async def withdraw(self, documents: StoredCollection, state: State) -> None:
        """Delete the successor of this state of a document that is deleted."""

    async def forget(self, documents: StoredCollection, ids: Sequence[str]) -> None:
        """Delete or erase the successors of deleted documents."""

    async def forget_earlier(self, documents: StoredCollection, state: State) -> None:
        """Erase what successors say but this state, which is written. Who reads an earlier state follows them
        to it all the same.
        """


class DecidedSuccessors:
    """Successors as decisions of the bus.

    A decision holds the successor's revision, the number of the decision that had made the state before, and
    the document. The stored revision of a decided state has the number of its decision, so of a document and
    the latest decision about it the later one is known, whatever the bus has lost.
    """

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions

    async def latest(self, documents: StoredCollection, document_id: str) -> State | None:
        (found,) = await documents.kept.find({"filter_by": layout.by_id(documents.declared, document_id)})
        if not found:
            return None
        connection = self._decisions.connections
        decision = await self._decisions.find(_decided(documents, document_id))
        if decision is not None and decision.value == ERASED:  # deleted; a late write has stored it again
            return None
        stored = str(found[0][layout.REVISION])
        if decision is not None:
            revision, since, document = _read(decision)
            if revision != stored and since >= layout.number_of(stored):
                return State(document, revision, False, decision.number, connection)
        number = 0 if decision is None else decision.number
        return State(layout.document_of(found[0]), stored, True, number, connection)

    async def create(self, documents: StoredCollection, state: State, changed: Document) -> State | None:
        revision, connection = uuid4().hex, self._decisions.connections
        value = json.dumps([revision, layout.number_of(state.revision), changed])
        document = _decided(documents, str(changed["id"]))
        number = await self._decisions.decide(document, value, state.latest)
        if number is None:
            return None
        return State(changed, layout.numbered(revision, number), False, number, connection)

    def is_certain(self, state: State) -> bool:
        """If the latest decision has made the state. Then a server that has lost it, or has a later one,
        refuses; it can have gone back to this one only if the connection was broken.
        """
        is_own = state.latest == layout.number_of(state.revision) > 0
        return not self._decisions.may_lose or (is_own and state.connection == self._decisions.connections)

    async def find_other(self, documents: StoredCollection, state: State, successor: State) -> State | None:
        """Decided for the same state, or later and not for the successor: perhaps for such another one.

        Where there is no decision, or an earlier one, all others look at the document before they write.
        """
        if not self._decisions.may_lose:
            return None
        decision = await self._decisions.find(_decided(documents, str(successor.document["id"])))
        if decision is None or decision.value == ERASED:
            return None
        revision, since, document = _read(decision)
        is_earlier = since < layout.number_of(state.revision)
        if is_earlier or revision == successor.revision or since == successor.latest:
            return None
        return State(document, revision, False, decision.number, self._decisions.connections)

    async def withdraw(self, documents: StoredCollection, state: State) -> None:
        """The document is deleted, and so is what it would have become."""
        await self.forget(documents, [str(state.document["id"])])

    async def forget(self, documents: StoredCollection, ids: Sequence[str]) -> None:
        """If the bus is unavailable, they expire."""
        try:
            await self._decisions.erase([_decided(documents, each) for each in ids])
        except BusUnavailable as error:
            logger.warning("decisions about deleted documents are kept until they expire: %s", error)

    async def forget_earlier(self, documents: StoredCollection, state: State) -> None:
        """Only the latest decision about a document is kept."""


class CreatedSuccessors:
    """Successors as documents in a collection of their own."""

    def __init__(self, successors: TypesenseCollection[layout.Row], find: Find) -> None:
        self._successors = successors
        self._find = find
        self._swept = time.monotonic()

    async def make(self) -> None:
        await self._successors.create_if_missing(
            [
                {"name": "of", "type": "string"},
                {"name": "made_at", "type": "int64"},
                *map(layout.stored, ("collection", "document_id", "base", layout.REVISION, layout.DOCUMENT)),
            ]
        )

    async def latest(self, documents: StoredCollection, document_id: str) -> State | None:
        key = key_of(documents, document_id)
        found, successors = await documents.kept.find(
            {"filter_by": layout.by_id(documents.declared, document_id)},
            {"collection": self._successors.name, "filter_by": f"of:={key}", "sort_by": "made_at:desc"},
        )
        if not found:
            return None
        by_base = {each["base"]: each for each in successors}
        current = found[0]
        while (following := by_base.get(current[layout.REVISION])) is not None:
            current = following
        return State(layout.document_of(current), str(current[layout.REVISION]), current is found[0])

    async def create(self, documents: StoredCollection, state: State, changed: Document) -> State | None:
        key, revision = key_of(documents, str(changed["id"])), uuid4().hex
        kept = {
            "id": layout.key(key, state.revision),
            "of": key,
            "made_at": now_ms(),
            "collection": documents.declared.name,
            "document_id": changed["id"],
            "base": state.revision,
            layout.REVISION: revision,
            layout.DOCUMENT: json.dumps(changed),
        }
        (created,) = await self._successors.write([kept], "create")
        if not created:
            (found,) = await self._successors.find({"filter_by": f"id:={kept['id']}"})
            # An earlier try of this call may have created it, its answer lost: then the revision is ours.
            if not found or found[0][layout.REVISION] != revision:
                return None
        return State(changed, revision, written=False)

    def is_certain(self, state: State) -> bool:
        """Documents are not lost."""
        return True

    async def find_other(self, documents: StoredCollection, state: State, successor: State) -> State | None:
        return None

    async def withdraw(self, documents: StoredCollection, state: State) -> None:
        key = layout.key(key_of(documents, str(state.document["id"])), state.revision)
        await self._successors.delete_any("id", [key])

    async def forget(self, documents: StoredCollection, ids: Sequence[str]) -> None:
        await self._successors.delete_any("of", [key_of(documents, each) for each in ids])

    async def forget_earlier(self, documents: StoredCollection, state: State) -> None:
        key = key_of(documents, str(state.document["id"]))
        found = await self._successors.find_all({"filter_by": f"of:={key}"})
        earlier = [each for each in found if each[layout.REVISION] != state.revision]
        erased = json.dumps({"id": state.document["id"]})
        await self._successors.write([{**each, layout.DOCUMENT: erased} for each in earlier], "update")

    async def sweep(self, finish: Finish) -> None:
        """Delete some old successors, after writing the latest state of their documents."""
        if time.monotonic() - self._swept <= _KEPT_SECONDS:
            return
        before = now_ms() - 1_000 * _KEPT_SECONDS
        (old,) = await self._successors.find(
            {"filter_by": f"made_at:<{before}", "sort_by": "made_at:asc", "per_page": _SWEPT_AT_ONCE}
        )
        if len(old) < _SWEPT_AT_ONCE:
            self._swept = time.monotonic()
        for name, document_id in sorted(
            {(str(each["collection"]), str(each["document_id"])) for each in old}
        ):
            await finish(await self._find(name), document_id)
        await self._successors.delete_any("id", [str(each["id"]) for each in old])


def _decided(documents: StoredCollection, document_id: str) -> str:
    return f"{documents.declared.name}.{document_id}"


def _read(decision: Decision) -> tuple[str, int, Document]:
    """Returns the revision as it is stored, the number of the decision before, and the document."""
    revision, since, document = json.loads(decision.value)
    return layout.numbered(revision, decision.number), since, document


def key_of(documents: StoredCollection, document_id: str) -> str:
    """Key of a document in all collections."""
    return layout.key(documents.kept.name, layout.row_id(documents.declared, document_id))
