"""Successors of documents' states in Typesense: created once, in one of two places.

Decisions of the bus cost Typesense nothing. They need every process that changes a collection on one bus.
For other collections the successor is itself a document in Typesense, whose id is derived from the revision,
for Typesense creates a document only if its id does not exist.

A successor is deleted after ten minutes, and only once its document is in the latest state.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from app.core.bus.port import ERASED, BusUnavailable, Decisions
from app.core.clock import now_ms
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Collection, Document
from typesense_checkpoint.collection import TypesenseCollection

logger = logging.getLogger(__name__)

LONGEST_TRY_SECONDS = 15.0
"""Of a change, from the read of a state to the creation of its successor."""

_KEPT_SECONDS = 600
_SWEPT_AT_ONCE = 50


@dataclass(frozen=True)
class Documents:
    """A collection as it is declared, and its Typesense collection."""

    declared: Collection
    kept: TypesenseCollection[layout.Row]


@dataclass(frozen=True)
class State:
    """A state of a document. `written`: the document itself is in it, and not only a successor."""

    document: Document
    revision: str
    written: bool


Find: TypeAlias = Callable[[str], Awaitable[Documents]]
"""Finds a collection by its name."""

Finish: TypeAlias = Callable[[Documents, str], Awaitable[object]]
"""Writes the latest state of a document, if it is not written."""


class Successors(Protocol):
    """What a place of successors does."""

    @property
    def epoch(self) -> int:
        """Changes when successors may be lost."""

    async def latest(self, documents: Documents, document_id: str) -> State | None:
        """The document as its last successor has it. None without a document."""

    async def create(self, documents: Documents, state: State, successor: State) -> bool:
        """Returns False if the state has another successor."""

    async def stands(self, documents: Documents, state: State, successor: State) -> bool:
        """Whether this is the state's successor, also after the bus may have lost it meanwhile."""

    async def withdraw(self, documents: Documents, state: State) -> None:
        """Delete the successor of this state of a document that is deleted."""

    async def forget(self, documents: Documents, ids: Sequence[str]) -> None:
        """Delete or erase the successors of deleted documents."""

    async def forget_earlier(self, documents: Documents, state: State) -> None:
        """Erase what successors say but this state, which is written. Who reads an earlier state follows them
        to it all the same.
        """

    async def sweep(self, finish: Finish) -> None:
        """Delete some old successors, after writing the latest state of their documents."""


class DecidedSuccessors:
    """Successors as decisions of the bus. The key has the collection, the document's id and the revision."""

    def __init__(self, decisions: Decisions, find: Find) -> None:
        self._decisions = decisions
        self._find = find
        self._finished: dict[str, float] = {}
        """Old decisions whose documents are written, and since when that is known."""

    @property
    def epoch(self) -> int:
        return self._decisions.epoch

    async def latest(self, documents: Documents, document_id: str) -> State | None:
        (found,) = await documents.kept.find({"filter_by": layout.by_id(documents.declared, document_id)})
        if not found:
            return None
        document, revision = layout.document_of(found[0]), str(found[0][layout.REVISION])
        written = True
        while (
            successor := await self._decisions.find(_decided(documents, document_id, revision))
        ) is not None:
            if successor == ERASED:  # deleted; a late write has stored it again
                return None
            revision, document = json.loads(successor)
            written = False
        return State(document, revision, written)

    async def create(self, documents: Documents, state: State, successor: State) -> bool:
        key = _decided(documents, str(successor.document["id"]), state.revision)
        return await self._decisions.decide(key, json.dumps([successor.revision, successor.document]))

    async def stands(self, documents: Documents, state: State, successor: State) -> bool:
        found = await self._decisions.find(_decided(documents, str(successor.document["id"]), state.revision))
        if found is None:  # lost; nothing else is decided unless it is decided now
            return await self.create(documents, state, successor)
        return str(json.loads(found)[0]) == successor.revision

    async def withdraw(self, documents: Documents, state: State) -> None:
        """The document is deleted, and so is what it would have become."""
        await self.forget(documents, [str(state.document["id"])])

    async def forget(self, documents: Documents, ids: Sequence[str]) -> None:
        """If the bus is unavailable, they are dropped when they are old."""
        try:
            await self._decisions.erase([f"{documents.declared.name}.{each}" for each in ids])
        except BusUnavailable as error:
            logger.warning("decisions about deleted documents are dropped later: %s", error)

    async def forget_earlier(self, documents: Documents, state: State) -> None:
        """Decisions cannot be changed. They go with their document, or when they are old."""

    async def sweep(self, finish: Finish) -> None:
        """A decision is dropped only when no try can go on that has read the state before it.

        Raises `BusUnavailable`.
        """
        found = await self._decisions.old(_SWEPT_AT_ONCE + len(self._finished))
        old = [each for each in found if each not in self._finished]
        changed = sorted({(name, document_id) for name, document_id, _ in (each.split(".") for each in old)})
        await asyncio.gather(*(self._finish(each, finish) for each in changed))
        now = time.monotonic()
        self._finished |= dict.fromkeys(old, now)
        settled = [key for key, at in self._finished.items() if now - at >= LONGEST_TRY_SECONDS]
        await self._decisions.drop(settled)
        for key in settled:
            del self._finished[key]

    async def _finish(self, changed: tuple[str, str], finish: Finish) -> None:
        name, document_id = changed
        await finish(await self._find(name), document_id)


class CreatedSuccessors:
    """Successors as documents in a collection of their own."""

    epoch = 0

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

    async def latest(self, documents: Documents, document_id: str) -> State | None:
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

    async def create(self, documents: Documents, state: State, successor: State) -> bool:
        key = key_of(documents, str(successor.document["id"]))
        kept = {
            "id": layout.key(key, state.revision),
            "of": key,
            "made_at": now_ms(),
            "collection": documents.declared.name,
            "document_id": successor.document["id"],
            "base": state.revision,
            layout.REVISION: successor.revision,
            layout.DOCUMENT: json.dumps(successor.document),
        }
        (created,) = await self._successors.write([kept], "create")
        if created:
            return True
        (found,) = await self._successors.find({"filter_by": f"id:={kept['id']}"})
        # An earlier try of this call may have created it, its answer lost: then the revision is ours.
        return bool(found) and found[0][layout.REVISION] == successor.revision

    async def stands(self, documents: Documents, state: State, successor: State) -> bool:
        """Documents are not lost."""
        return True

    async def withdraw(self, documents: Documents, state: State) -> None:
        key = layout.key(key_of(documents, str(state.document["id"])), state.revision)
        await self._successors.delete_any("id", [key])

    async def forget(self, documents: Documents, ids: Sequence[str]) -> None:
        await self._successors.delete_any("of", [key_of(documents, each) for each in ids])

    async def forget_earlier(self, documents: Documents, state: State) -> None:
        key = key_of(documents, str(state.document["id"]))
        found = await self._successors.find_all({"filter_by": f"of:={key}"})
        earlier = [each for each in found if each[layout.REVISION] != state.revision]
        erased = json.dumps({"id": state.document["id"]})
        await self._successors.write([{**each, layout.DOCUMENT: erased} for each in earlier], "update")

    async def sweep(self, finish: Finish) -> None:
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


def _decided(documents: Documents, document_id: str, revision: str) -> str:
    return f"{documents.declared.name}.{document_id}.{revision}"


def key_of(documents: Documents, document_id: str) -> str:
    """Key of a document in all collections."""
    return layout.key(documents.kept.name, layout.row_id(documents.declared, document_id))
