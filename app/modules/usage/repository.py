"""Usage of owners in the store. Runs and sessions are counted from their records, also after a crash."""

from typing import NamedTuple

from pydantic import TypeAdapter

from app.core.ids import id_of
from app.core.storage.documents import all_documents
from app.core.storage.port import Condition, Document, DocumentExists, Equals, Query, Range, Storage

_NAMESPACE = "6f6d1d0a-6f4c-5d6c-9d3b-0f4f4c3a7e11"
_USAGE = "usage"
_COUNTED = TypeAdapter(tuple[int, int, int | None])
_LONGEST_RUN_MS = 86_400_000
"""The longest run in milliseconds. Runs that began earlier before a day do not count for it."""
_PAGE = 1_000


class DayUsage(NamedTuple):
    """What is counted of an owner's day. `bytes_read` are those that databases read for statements."""

    tokens: int = 0
    bytes_read: int = 0


class UsageRepository:
    """One document per owner: the latest UTC day (days since 1970), and its sums of tokens and of bytes that
    databases read.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def runs(self, owner: str) -> int:
        """Returns the number of open runs, waiting ones included."""
        return await self._storage.count("runs", [Equals("owner", owner), Equals("status", "open")])

    async def sessions(self, owner: str) -> int:
        """Returns the number of sessions that are kept."""
        return await self._storage.count("sessions", [Equals("owner", owner), Equals("expires_at", None)])

    async def tokens_of_runs(self, owner: str, since: int) -> int:
        """Returns the tokens of runs that ended at or after `since` (epoch milliseconds)."""
        conditions: list[Condition] = [
            Equals("owner", owner),
            Range("created_at", at_least=since - _LONGEST_RUN_MS),
        ]
        runs = all_documents(self._storage, "runs", Query(conditions, limit=_PAGE))
        return sum([_tokens_since(run, since) async for run in runs])

    async def counted(self, owner: str, day: int) -> DayUsage:
        """Returns what was counted for this day."""
        found = await self._latest(owner)
        if found is None or not _goes_on(found[0], day):
            return DayUsage()
        return DayUsage(tokens=found[1], bytes_read=found[2] or 0)

    async def add(self, owner: str, day: int, counted: DayUsage) -> None:
        """Add to a day. Exact with concurrent calls: a try fails only when another one succeeds."""
        while not await self._added(owner, day, counted):
            pass

    async def _added(self, owner: str, day: int, counted: DayUsage) -> bool:
        known = await self._latest(owner)
        if known is None:
            return await self._created(owner, day, counted)
        latest, tokens, bytes_read = known
        # A document of before bytes were counted has none.
        unchanged = [Equals("day", latest), Equals("tokens", tokens), Equals("bytes_read", bytes_read)]
        changes: Document = {"day": day, **counted._asdict()}
        if _goes_on(latest, day):
            changes = {
                "day": latest,
                "tokens": tokens + counted.tokens,
                "bytes_read": (bytes_read or 0) + counted.bytes_read,
            }
        return await self._storage.patch(_USAGE, _id(owner), changes, where=unchanged) is not None

    async def _created(self, owner: str, day: int, counted: DayUsage) -> bool:
        document: Document = {"id": _id(owner), "owner": owner, "day": day, **counted._asdict()}
        try:
            await self._storage.create(_USAGE, document)
        except DocumentExists:
            return False
        return True

    async def _latest(self, owner: str) -> tuple[int, int, int | None] | None:
        found = await self._storage.get(_USAGE, _id(owner))
        if found is None:
            return None
        return _COUNTED.validate_python((found["day"], found["tokens"], found.get("bytes_read")))


def _tokens_since(run: Document, since: int) -> int:
    ended_at = run.get("ended_at")
    tokens = run.get("tokens_used", 0)
    has_ended = isinstance(ended_at, int) and ended_at >= since
    return tokens if has_ended and isinstance(tokens, int) else 0


def _goes_on(latest: int, day: int) -> bool:
    """True if the latest day is `day`, or the next one by the faster clock of another process."""
    return latest in (day, day + 1)


def _id(owner: str) -> str:
    return id_of(_NAMESPACE, owner)
