"""A store that has been started and cannot be read yet."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

CATCH_UP_SECONDS = 30.0

catch_up_seconds: ContextVar[float] = ContextVar("catch_up_seconds", default=CATCH_UP_SECONDS)


class NotReadable(Exception):
    """A store has been started and cannot be read yet; the text says why and for how long, without a URL."""


@contextmanager
def catch_up_within(seconds: float) -> Generator[None]:
    """Within the block, reads wait only so long for a server that applies its log, instead of 30 s."""
    token = catch_up_seconds.set(seconds)
    try:
        yield
    finally:
        catch_up_seconds.reset(token)
