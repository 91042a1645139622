"""Compare-and-set for Typesense, which has no conditional writes: built on `create`.

Typesense does one thing atomically: it creates a document only if its id does not exist. So every state of
a document has a revision. To change the document, a process first creates the successor of that revision,
under an id derived from it; only one process can. The successor holds the changed document, and its creation
is the change. Then the process writes the document itself.

A process may die between the two writes, or write late. So every reader follows the successors. If the
latest state is not written to the document, the reader waits a second for its author, then writes it itself.
A late write puts an earlier state into the document; the next reader sees its successors and repairs it.
A successor is deleted after ten minutes, and only once its document is in the latest state.

A state that this process has read or written within the last minute is changed without another read: if it
is no longer the latest, its successor exists and the creation fails. If it does not meet the conditions, they
are checked on a fresh state.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from uuid import uuid4

from cachetools import TTLCache
from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Collection, Condition, Document, meets
from typesense_checkpoint.collection import TypesenseCollection

_TO_FINISH_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.004
_TRIES_SECONDS = 15.0
_KEPT_SECONDS = 600
_SWEPT_AT_ONCE = 50
_KNOWN_SECONDS = 60.0  # far less than successors are kept
_KNOWN_STATES = 1_000


@dataclass(frozen=True)
class Documents:
    """A collection as it is declared, and its Typesense collection."""

    declared: Collection
    kept: TypesenseCollection[layout.Row]


@dataclass(frozen=True)
class _State:
    document: Document
    revision: str
    written: bool
    """True if the document itself is in this state; False if only a successor is."""


Find: TypeAlias = Callable[[str], Awaitable[Documents]]
"""Finds a collection by its name."""


class CompareAndSet:
    """The successors of all documents' revisions, in a collection of their own."""

    def __init__(self, successors: TypesenseCollection[layout.Row], find: Find) -> None:
        self._successors = successors
        self._find = find
        self._swept = time.monotonic()
        self._known: TTLCache[str, _State] = TTLCache(_KNOWN_STATES, _KNOWN_SECONDS, timer=time.monotonic)
        """The latest written states that this process has seen, by the key of their document."""

    async def make(self) -> None:
        await self._successors.create_if_missing(
            [
                {"name": "of", "type": "string"},
                {"name": "made_at", "type": "int64"},
                *map(layout.stored, ("collection", "document_id", "base", layout.REVISION, layout.DOCUMENT)),
            ]
        )

    async def get(self, documents: Documents, document_id: str) -> Document | None:
        """Returns the document in its latest state, or None. That state is written first.

        Raises `TimeoutError` after 15 seconds.
        """
        async with asyncio.timeout(_TRIES_SECONDS):
            state = await self._written(documents, document_id)
        return None if state is None else state.document

    async def apply(
        self,
        documents: Documents,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition],
    ) -> Document | None:
        """Change a document. Returns it changed, or None if it is missing or does not meet the conditions.

        Raises `TimeoutError` after 15 seconds.
        """
        async with asyncio.timeout(_TRIES_SECONDS):
            await self._sweep()
            known = self._known.pop(_key(documents, document_id), None)
            if known is not None and all(
                meets(known.document, condition, documents.declared) for condition in where
            ):
                changed: Document = {**known.document, **changes}
                if await self._succeed(documents, known, changed):
                    return changed
            while (state := await self._written(documents, document_id)) is not None:
                if not all(meets(state.document, condition, documents.declared) for condition in where):
                    return None
                changed = {**state.document, **changes}
                if await self._succeed(documents, state, changed):
                    return changed
                await _pause()
        return None

    async def _written(self, documents: Documents, document_id: str) -> _State | None:
        """Returns the latest state once it is written, if need be by this reader. None without a document."""
        first_seen: dict[str, float] = {}
        while (state := await self._latest(documents, document_id)) is not None:
            now = time.monotonic()
            if state.written:
                self._known[_key(documents, document_id)] = state
                return state
            if now - first_seen.setdefault(state.revision, now) > _TO_FINISH_SECONDS:
                await self._write(documents, state)
            else:
                await _pause()
        return None

    async def _latest(self, documents: Documents, document_id: str) -> _State | None:
        key = _key(documents, document_id)
        found, successors = await documents.kept.find(
            {"filter_by": f"id:={document_id}"},
            {"collection": self._successors.name, "filter_by": f"of:={key}", "sort_by": "made_at:desc"},
        )
        if not found:
            return None
        by_base = {each["base"]: each for each in successors}
        current = found[0]
        while (following := by_base.get(current[layout.REVISION])) is not None:
            current = following
        return _State(
            layout.document_of(current),
            str(current[layout.REVISION]),
            current is found[0],
        )

    async def _succeed(self, documents: Documents, state: _State, changed: Document) -> bool:
        """Create the successor of a state and write it.

        Returns False if the state has another successor, or its document is deleted.
        """
        successor = _State(changed, uuid4().hex, written=False)
        row = layout.row(documents.declared, changed, successor.revision)
        key = _key(documents, str(changed["id"]))
        kept = {
            "id": layout.key(key, state.revision),
            "of": key,
            "made_at": now_ms(),
            "collection": documents.declared.name,
            "document_id": changed["id"],
            "base": state.revision,
            layout.REVISION: successor.revision,
            layout.DOCUMENT: row[layout.DOCUMENT],
        }
        (created,) = await self._successors.write([kept], "create")
        if not created:
            (found,) = await self._successors.find({"filter_by": f"id:={kept['id']}"})
            # An earlier try of this call may have created it, its answer lost: then the revision is ours.
            if not found or found[0][layout.REVISION] != successor.revision:
                return False
        if await self._write(documents, successor):
            return True
        await self._successors.delete_any("id", [str(kept["id"])])
        return False

    async def _write(self, documents: Documents, state: _State) -> bool:
        """Write a state to its document. If that was slow, also write a later state that exists by then.

        Returns False if the document is deleted.
        """
        started = time.monotonic()
        row = layout.row(documents.declared, state.document, state.revision)
        (exists,) = await documents.kept.write([row], "update")
        if not exists:
            return False
        self._known[_key(documents, str(state.document["id"]))] = replace(state, written=True)
        if time.monotonic() - started > _TO_FINISH_SECONDS / 2:
            latest = await self._latest(documents, str(state.document["id"]))
            if latest is not None and not latest.written:
                await self._write(documents, latest)
        return True

    def drop_known(self, documents: TypesenseCollection[layout.Row], ids: Sequence[str]) -> None:
        """Drop the known states of documents that are written or deleted without a condition."""
        for each in ids:
            self._known.pop(layout.key(documents.name, each), None)

    async def forget(self, documents: TypesenseCollection[layout.Row], ids: Sequence[str]) -> None:
        """Delete the successors of deleted documents."""
        self.drop_known(documents, ids)
        await self._successors.delete_any("of", [layout.key(documents.name, each) for each in ids])

    async def _sweep(self) -> None:
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
            await self._written(await self._find(name), document_id)
        await self._successors.delete_any("id", [str(each["id"]) for each in old])


def _key(documents: Documents, document_id: str) -> str:
    return layout.key(documents.kept.name, document_id)


async def _pause() -> None:
    await asyncio.sleep(_LOOK_AGAIN_SECONDS * (1 + random.random()))  # noqa: S311
