"""How much of a server's messages is read: enough for its list of tools, little of a result."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

MAX_RESULT_BYTES = 65_536
_ENVELOPE_BYTES = 4_096
_MAX_LIST_BYTES = 1_048_576


class TooLarge(Exception):
    """A message is longer than the limit."""


class MessageLimit:
    """The limit of messages of one connection, and whether one was longer."""

    def __init__(self) -> None:
        self.exceeded = False
        self.ended = asyncio.Event()
        """Set when nothing more can be read."""
        self._listing = 0

    @property
    def max_bytes(self) -> int:
        """The most bytes of a message."""
        return _MAX_LIST_BYTES if self._listing else MAX_RESULT_BYTES + _ENVELOPE_BYTES

    @contextmanager
    def of_list(self) -> Generator[None]:
        """Messages that arrive within the block may be as long as a list of tools."""
        self._listing += 1
        try:
            yield
        finally:
            self._listing -= 1

    def refuse(self) -> TooLarge:
        """Note that a message was too long. Returns the error to raise."""
        self.exceeded = True
        return TooLarge()
