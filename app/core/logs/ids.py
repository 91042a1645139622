"""Whose doing a log line tells of: ids of the request or the run under way, bound where it begins.

They follow into tasks and threads that are started meanwhile.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_bound: ContextVar[dict[str, str] | None] = ContextVar("kai_log_ids", default=None)


@contextmanager
def bound(**ids: str) -> Generator[None]:
    """Within the block every line carries these ids, and none that were bound around it."""
    token = _bound.set(dict(ids))
    try:
        yield
    finally:
        _bound.reset(token)


def note(**ids: str) -> None:
    """Add what became known only within the innermost `bound` block, until its end; without one, nothing."""
    here = _bound.get()
    if here is not None:
        here.update(ids)


def ids_bound() -> dict[str, str]:
    return dict(_bound.get() or {})
