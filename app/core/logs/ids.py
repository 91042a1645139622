"""Ids of the request or run in progress, which every log line within it carries.

The ids are in a context variable, so tasks and threads started within the block have them, too.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_bound: ContextVar[dict[str, str] | None] = ContextVar("kai_log_ids", default=None)


@contextmanager
def bound(**ids: str) -> Generator[None]:
    """Bind these ids for the block. They replace all ids bound outside it."""
    token = _bound.set(dict(ids))
    try:
        yield
    finally:
        _bound.reset(token)


def note(**ids: str) -> None:
    """Add ids to the innermost `bound` block. Does nothing outside of one."""
    here = _bound.get()
    if here is not None:
        here.update(ids)


def ids_bound() -> dict[str, str]:
    return dict(_bound.get() or {})
