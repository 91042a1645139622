"""Dependency of routes that stream: the limit of open streams of an owner."""

from collections import Counter
from functools import partial

from fastapi import Depends, Request

from app.core.errors import TooMany
from app.http.callers import owner_of
from app.http.response_lifetime import call_at_end


class TooManyStreams(TooMany):
    """The owner has as many open streams as allowed."""

    problem = "too-many-streams"
    title = "Too many streams at once"

    _A_WHILE_SECONDS = 5

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"{limit} streams are open, and more are not allowed at once. Close one, or wait until one ends.",
            retry_after_seconds=self._A_WHILE_SECONDS,
            limit="streams",
            size=limit,
            resets_at=None,
        )


class OpenStreams:
    """Counts the open streams of each owner in this process."""

    def __init__(self, limit: int) -> None:
        """`limit` is that of one owner. 0 means none."""
        self._limit = limit
        self._open = Counter[str]()

    def begin(self, owner: str) -> None:
        """Raises `TooManyStreams`."""
        if self._limit and self._open[owner] >= self._limit:
            raise TooManyStreams(self._limit)
        self._open[owner] += 1

    def end(self, owner: str) -> None:
        self._open[owner] -= 1
        if not self._open[owner]:
            del self._open[owner]


async def hold_stream(request: Request) -> None:
    """Counts a stream as open until its response has ended. Raises `TooManyStreams`."""
    streams: OpenStreams = request.app.state.open_streams
    owner = owner_of(request)
    streams.begin(owner)
    call_at_end(request.scope, partial(streams.end, owner))


STREAM = Depends(hold_stream)
"""Of routes that stream. It comes after the scopes and counts of a route."""
