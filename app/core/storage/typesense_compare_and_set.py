"""Conditional changes on a store that knows none: compare-and-set made of `create`.

Typesense can do one thing atomically: create a document under an id that may be there once. So every
state of a document has a revision, and a writer first creates the successor of that
revision, under an id made of it: only one can. The successor holds the changed document, so that if its
maker dies before the document itself is written, the next one finds it and goes on from there.

After a crash no writer waits longer than a second. A maker that was held up for longer than that looks
whether others have gone on without it, and writes what they have made.
"""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.storage import typesense_layout as layout
from app.core.storage.conditions import meets
from app.core.storage.port import Collection, Condition, Document
from typesense_checkpoint.collection import TypesenseCollection

_TO_FINISH_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.004
_TRIES_SECONDS = 15.0
_KEPT_SECONDS = 600


@dataclass(frozen=True)
class _State:
    document: Document
    revision: str
    written: bool
    """Whether the document itself is in this state, rather than a successor that waits to be written."""


class CompareAndSet:
    """The successors of all documents' revisions, in a collection of their own."""

    def __init__(self, successors: TypesenseCollection[layout.Row]) -> None:
        self._successors = successors
        self._swept = time.monotonic()

    async def make(self) -> None:
        await self._successors.create_if_missing(
            [
                {"name": "of", "type": "string"},
                {"name": "made_at", "type": "int64"},
                *map(layout.stored, ("base", layout.REVISION, layout.DOCUMENT)),
            ]
        )

    async def apply(
        self,
        collection: Collection,
        documents: TypesenseCollection[layout.Row],
        document_id: str,
        changes: Mapping[str, JsonValue],
        where: Sequence[Condition],
    ) -> Document | None:
        """The changed document, or None when none meets the conditions."""
        first_seen: dict[str, float] = {}
        async with asyncio.timeout(_TRIES_SECONDS):
            while (state := await self._state(documents, document_id)) is not None:
                now = time.monotonic()
                if state.written or now - first_seen.setdefault(state.revision, now) > _TO_FINISH_SECONDS:
                    if not all(meets(state.document, condition, collection) for condition in where):
                        return None
                    changed: Document = {**state.document, **changes}
                    if await self._succeed(collection, documents, state, changed):
                        return changed
                await asyncio.sleep(_LOOK_AGAIN_SECONDS * (1 + random.random()))  # noqa: S311
        return None

    async def _state(self, documents: TypesenseCollection[layout.Row], document_id: str) -> _State | None:
        key = layout.key(documents.name, document_id)
        found, successors = await documents.find(
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
            cast("str", current[layout.REVISION]),
            current is found[0],
        )

    async def _succeed(
        self,
        collection: Collection,
        documents: TypesenseCollection[layout.Row],
        state: _State,
        changed: Document,
    ) -> bool:
        """Whether this is the one successor of the state; then it is written."""
        revision = uuid4().hex
        row = layout.row(collection, changed, revision)
        key = layout.key(documents.name, str(changed["id"]))
        successor = {
            "id": layout.key(key, state.revision),
            "of": key,
            "made_at": now_ms(),
            "base": state.revision,
            layout.REVISION: revision,
            layout.DOCUMENT: row[layout.DOCUMENT],
        }
        (created,) = await self._successors.write([successor], "create")
        if not created:
            (found,) = await self._successors.find({"filter_by": f"id:={successor['id']}"})
            # Created by this very call, whose first answer was lost?
            if not found or found[0][layout.REVISION] != revision:
                return False
        started = time.monotonic()
        await documents.write([row], "update")
        if time.monotonic() - started > _TO_FINISH_SECONDS / 2:
            await self._write_latest(collection, documents, str(changed["id"]))
        await self._sweep()
        return True

    async def _write_latest(
        self, collection: Collection, documents: TypesenseCollection[layout.Row], document_id: str
    ) -> None:
        """Mend what this late writer may have overwritten."""
        state = await self._state(documents, document_id)
        if state is not None and not state.written:
            await documents.write([layout.row(collection, state.document, state.revision)], "update")

    async def forget(self, documents: TypesenseCollection[layout.Row], ids: Sequence[str]) -> None:
        """Delete what is kept of the earlier states of documents that are deleted."""
        await self._successors.delete_any("of", [layout.key(documents.name, each) for each in ids])

    async def _sweep(self) -> None:
        if time.monotonic() - self._swept > _KEPT_SECONDS:
            self._swept = time.monotonic()
            await self._successors.delete(f"made_at:<{now_ms() - 1_000 * _KEPT_SECONDS}")
