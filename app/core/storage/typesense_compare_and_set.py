"""Compare-and-set for Typesense, which has no conditional writes: built on successors that are created once.

Every state of a document has a revision. To change the document, a process first creates the successor of
that revision; only one process can. The successor holds the changed document, and its creation is the change.
Then the process writes the document itself, without a condition. `typesense_successors` keeps successors.

A process may die between the two writes, or write late. So every reader follows the successors. If the
latest state is not written to the document, the reader waits a second for its author, then writes it itself.
A late write puts an earlier state into the document; the next reader sees its successors and repairs it.

A state that this process has read or written within the last minute is changed without another read: if it
is no longer the latest, its successor exists and the creation fails. Where the successor may be lost, the
document is looked at before it is written. If a state does not meet the conditions, they are checked on a
fresh one.
"""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cachetools import TTLCache
from pydantic import JsonValue

from app.core.bus.port import BusUnavailable
from app.core.storage import typesense_layout as layout
from app.core.storage.port import Amend, ChangeNotWritten, Condition, Document, StorageUnavailable, meets
from app.core.storage.typesense_client import translated_errors
from app.core.storage.typesense_successors import State, StoredCollection, Successors, key_of

LONGEST_TRY_SECONDS = 15.0
"""Of a change, from the read of a state to the creation of its successor."""

_TO_FINISH_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 0.004
_KNOWN_SECONDS = 60.0  # far less than successors are kept
_KNOWN_STATES = 1_000


@dataclass(frozen=True)
class _Rows:
    """Documents that are written as they are, and where."""

    of: StoredCollection
    rows: Sequence[layout.Row]


@dataclass
class _Change:
    """A conditional change while it is made."""

    documents: StoredCollection
    document_id: str
    changes: Mapping[str, JsonValue]
    where: Sequence[Condition]
    also: Sequence[_Rows]
    amend: Amend | None
    is_decided: bool = False
    """It has made the successor of the state, which may not be written yet."""

    def follow(self, state: State) -> Document | None:
        """Returns the changed document. Returns None if the state does not meet the conditions."""
        if not all(meets(state.document, each, self.documents.declared) for each in self.where):
            return None
        amended = state.document if self.amend is None else self.amend(state.document)
        return None if amended is None else {**amended, **self.changes}


class CompareAndSet:
    """Conditional changes of documents whose successors are kept in one place."""

    def __init__(self, successors: Successors) -> None:
        self._successors = successors
        self._known: TTLCache[str, State] = TTLCache(_KNOWN_STATES, _KNOWN_SECONDS, timer=time.monotonic)
        """The latest written states that this process has seen, by the key of their document."""

    async def get(self, documents: StoredCollection, document_id: str) -> Document | None:
        """Returns the document in its latest state, or None. That state is written first.

        While the bus that has the successors is unavailable, nothing can be changed, and the document is
        returned as it is written. Raises `TimeoutError` after 15 seconds.
        """
        async with asyncio.timeout(LONGEST_TRY_SECONDS):
            try:
                state = await self.find_written(documents, document_id)
            except BusUnavailable:
                (found,) = await documents.kept.find(
                    {"filter_by": layout.by_id(documents.declared, document_id)}
                )
                return layout.document_of(found[0]) if found else None
        return None if state is None else state.document

    async def apply(
        self,
        documents: StoredCollection,
        document_id: str,
        changes: Mapping[str, JsonValue],
        *,
        where: Sequence[Condition],
        also: Sequence[tuple[StoredCollection, Document]] = (),
        amend: Amend | None = None,
    ) -> Document | None:
        """Change a document. Returns it changed, or None if it is missing or does not meet the conditions.

        `also` are documents that are put with the change. Those of the same Typesense collection share its
        import, as the lines before the document's own; the others are written before it. If nothing is
        written because the process dies, the next reader writes the changed document alone.

        Raises `BusUnavailable` when it is not known what was decided, `ChangeNotWritten` when the change is
        decided and could not be written within 15 seconds, and else `StorageUnavailable`.
        """
        change = _Change(documents, document_id, changes, where=where, also=_rows(also), amend=amend)
        try:
            with translated_errors():
                async with asyncio.timeout(LONGEST_TRY_SECONDS):
                    return await self._apply(change)
        except StorageUnavailable as error:
            if change.is_decided:
                raise ChangeNotWritten(str(error)) from error
            raise

    async def _apply(self, change: _Change) -> Document | None:
        known = self._known.pop(key_of(change.documents, change.document_id), None)
        if known is not None and (wanted := change.follow(known)) is not None:
            changed = await self._succeed(known, change, wanted)
            if changed is not None:
                return changed
        while (state := await self.find_written(change.documents, change.document_id)) is not None:
            if (wanted := change.follow(state)) is None:
                return None
            changed = await self._succeed(state, change, wanted)
            if changed is not None:
                return changed
            await _pause()
        return None

    async def forget_earlier(self, documents: StoredCollection, document_id: str) -> None:
        """Erase what the successors before the latest state say. Raises `TimeoutError` after 15 seconds."""
        async with asyncio.timeout(LONGEST_TRY_SECONDS):
            if (state := await self.find_written(documents, document_id)) is not None:
                await self._successors.forget_earlier(documents, state)

    async def find_written(self, documents: StoredCollection, document_id: str) -> State | None:
        """Returns the latest state once it is written, if need be by this reader. None without a document."""
        first_seen: dict[str, float] = {}
        while (state := await self._successors.latest(documents, document_id)) is not None:
            now = time.monotonic()
            if state.written:
                self._known[key_of(documents, document_id)] = state
                return state
            if now - first_seen.setdefault(state.revision, now) > _TO_FINISH_SECONDS:
                await self._write(documents, state)
            else:
                await _pause()
        return None

    async def _succeed(self, state: State, change: _Change, changed: Document) -> Document | None:
        """Create the successor of a state, and write it. Returns the changed document.

        Returns None if the state has another successor, or its document is deleted. Raises `BusUnavailable`
        if the successor may be lost.
        """
        documents = change.documents
        documents.declared.check(changed)
        started = time.monotonic()
        successor = await self._successors.create(documents, state, changed)
        if successor is None:
            return None
        is_certain = self._successors.is_certain(state)
        change.is_decided = True
        if is_certain and time.monotonic() - started <= _TO_FINISH_SECONDS / 2:
            stored: str | None = state.revision
        else:  # others may have finished this change, and made later ones
            stored = await self._stored_revision(change)
        if stored == state.revision:
            if not await self._write(documents, successor, change.also):
                change.is_decided = False
                await self._successors.withdraw(documents, state)
                return None
        elif stored is not None and (is_certain or stored == successor.revision):
            for each in change.also:
                await each.of.kept.write(each.rows, "upsert")
        else:
            change.is_decided = False
            if stored is None:
                await self._successors.withdraw(documents, state)
            elif layout.number_of(stored) > layout.number_of(successor.revision):
                raise BusUnavailable("It is not known whether the change was made: the bus may have lost it.")
            return None
        if (other := await self._successors.find_other(documents, state, successor)) is not None:
            await self._write(documents, other)
            raise BusUnavailable("The bus has lost what was decided.")
        return changed

    async def _stored_revision(self, change: _Change) -> str | None:
        """The revision of the document as it is written. None without a document."""
        by_id = layout.by_id(change.documents.declared, change.document_id)
        (found,) = await change.documents.kept.find({"filter_by": by_id})
        return str(found[0][layout.REVISION]) if found else None

    async def _write(self, documents: StoredCollection, state: State, also: Sequence[_Rows] = ()) -> bool:
        """Write a state to its document. If that was slow, also write a later state that exists by then.

        Returns False if the document is deleted.
        """
        started = time.monotonic()
        document_id = str(state.document["id"])
        row = layout.row(documents.declared, state.document, state.revision)
        together = [each for each in also if each.of.kept.name == documents.kept.name]
        for each in also:
            if each not in together:
                await each.of.kept.write(each.rows, "upsert")
        if together:
            # An import has one action, so this one would also store a deleted document again.
            await documents.kept.write([*(other for each in together for other in each.rows), row], "upsert")
        elif not all(await documents.kept.write([row], "update")):
            return False
        self._known[key_of(documents, document_id)] = replace(state, written=True)
        if time.monotonic() - started > _TO_FINISH_SECONDS / 2:
            latest = await self._successors.latest(documents, document_id)
            if latest is not None and not latest.written:
                await self._write(documents, latest)
        return True

    def drop_known(self, documents: StoredCollection, ids: Sequence[str]) -> None:
        """Drop the known states of documents that are written or deleted without a condition."""
        for each in ids:
            self._known.pop(key_of(documents, each), None)

    async def forget(self, documents: StoredCollection, ids: Sequence[str]) -> None:
        """Delete the successors of deleted documents."""
        self.drop_known(documents, ids)
        await self._successors.forget(documents, ids)


def _rows(documents: Sequence[tuple[StoredCollection, Document]]) -> list[_Rows]:
    return [
        _Rows(each, [layout.row(each.declared, document, layout.first_revision(document))])
        for each, document in documents
    ]


async def _pause() -> None:
    await asyncio.sleep(_LOOK_AGAIN_SECONDS * (1 + random.random()))  # noqa: S311
