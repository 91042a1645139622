"""Ids of what a request with an `Idempotency-Key` creates: a repeat derives the same ones from the key."""

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from app.core.ids import new_id


class KeyedIds:
    """The ids of a keyed request, in order. They are UUIDv7 of the time of its first try.

    `is_repeat`: an earlier try was interrupted, and may have created what it was to create.
    """

    def __init__(self, seed: str, at_ms: int, *, is_repeat: bool) -> None:
        self.is_repeat = is_repeat
        self._seed = seed
        self._at_ms = at_ms
        self._made: list[str] = []

    def next(self) -> str:
        digest = hashlib.sha256(f"{self._seed} {len(self._made) + 1}".encode()).digest()
        random_a = int.from_bytes(digest[:2]) & 0xFFF
        random_b = int.from_bytes(digest[2:10]) & ((1 << 62) - 1)
        made = str(UUID(int=self._at_ms << 80 | 7 << 76 | random_a << 64 | 2 << 62 | random_b))
        self._made.append(made)
        return made

    def has_made(self, record_id: str) -> bool:
        return record_id in self._made


_current: ContextVar[KeyedIds | None] = ContextVar("keyed_ids", default=None)


@contextmanager
def keyed_by(ids: KeyedIds) -> Generator[None]:
    """What is created in this block has these ids."""
    token = _current.set(ids)
    try:
        yield
    finally:
        _current.reset(token)


def created_id() -> str:
    """The id of the record that the present request creates: of its key, or a new one."""
    ids = _current.get()
    return new_id() if ids is None else ids.next()


def is_of_key(record_id: str) -> bool:
    """True if the present request derived this id from its key: only its own tries create a record with it,
    of which two may run at once.
    """
    ids = _current.get()
    return ids is not None and ids.has_made(record_id)


def is_repeat() -> bool:
    """True if an interrupted try of the present request may have created its record."""
    ids = _current.get()
    return ids is not None and ids.is_repeat
