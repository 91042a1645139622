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
        self._made = 0

    def next(self) -> str:
        self._made += 1
        digest = hashlib.sha256(f"{self._seed} {self._made}".encode()).digest()
        random_a = int.from_bytes(digest[:2]) & 0xFFF
        random_b = int.from_bytes(digest[2:10]) & ((1 << 62) - 1)
        return str(UUID(int=self._at_ms << 80 | 7 << 76 | random_a << 64 | 2 << 62 | random_b))


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


def is_repeat() -> bool:
    """True if an interrupted try of the present request may have created its record."""
    ids = _current.get()
    return ids is not None and ids.is_repeat
