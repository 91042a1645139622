"""Searches of one moment in one request, whichever collections and callers they are of.

A request costs client and server far more than a search does. Tasks that the event loop runs in the same two
iterations, as those of nested calls of `asyncio.gather`, therefore share a request.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast
from weakref import WeakKeyDictionary

from typesense import AsyncClient
from typesense.types.document import SearchResponse
from typesense.types.multi_search import MultiSearchRequestSchema

SEARCHES_PER_REQUEST = 50
"""The most that Typesense accepts by default."""


class Search(TypedDict, total=False):
    """The search parameters in use. The default query is `*`, which every document matches."""

    collection: str
    q: str
    query_by: str
    filter_by: str
    sort_by: str
    vector_query: str
    include_fields: str
    page: int
    per_page: int
    num_typos: int
    drop_tokens_threshold: int
    typo_tokens_threshold: int


SearchResult = SearchResponse[Any]


@dataclass(frozen=True)
class _Batch:
    searches: list[Search]
    results: asyncio.Future[list[SearchResult]]


class SharedSearches:
    """Sends the searches that begin in two iterations of the event loop in one request."""

    def __init__(self, client: AsyncClient) -> None:
        self._multi_search = client.multi_search
        self._open: _Batch | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def perform(self, searches: Sequence[Search]) -> list[SearchResult]:
        """Returns the result of each of at most `SEARCHES_PER_REQUEST` searches.

        Raises what the client raises for their request. The cancellation of one caller does not disturb the
        others.
        """
        batch = self._open
        if batch is None or len(batch.searches) + len(searches) > SEARCHES_PER_REQUEST:
            batch = self._start_batch()
        start = len(batch.searches)
        batch.searches.extend(searches)
        results = await asyncio.shield(batch.results)
        return results[start : start + len(searches)]

    def _start_batch(self) -> _Batch:
        loop = asyncio.get_running_loop()
        batch = self._open = _Batch([], loop.create_future())
        sending = loop.create_task(self._send(batch), name="typesense: search")
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
        return batch

    async def _send(self, batch: _Batch) -> None:
        """Runs after the tasks that were ready when the batch was started, and those that they start."""
        await asyncio.sleep(0)
        if self._open is batch:
            self._open = None
        # The client's type demands `query_by`, which a search for `*` does not take.
        request = cast("MultiSearchRequestSchema", {"searches": batch.searches})
        try:
            batch.results.set_result((await self._multi_search.perform(request))["results"])
        except BaseException as error:
            batch.results.set_exception(error)
            batch.results.exception()  # every caller may have been cancelled
            if not isinstance(error, Exception):
                raise


_shared: WeakKeyDictionary[AsyncClient, SharedSearches] = WeakKeyDictionary()


def shared_searches(client: AsyncClient) -> SharedSearches:
    """Returns the one instance of a client, which belongs to one event loop."""
    return _shared.setdefault(client, SharedSearches(client))
