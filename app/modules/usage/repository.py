"""Usage of owners in the store. Runs and sessions are counted from their records, also after a crash."""

from pydantic import TypeAdapter

from app.core.ids import id_of
from app.core.storage.documents import all_documents
from app.core.storage.port import Condition, Document, DocumentExists, Equals, Query, Range, Storage

_NAMESPACE = "6f6d1d0a-6f4c-5d6c-9d3b-0f4f4c3a7e11"
_USAGE = "usage"
_COUNTED = TypeAdapter(tuple[int, int])
_LONGEST_RUN_MS = 86_400_000
"""The longest run in milliseconds. Runs that began earlier before a day do not count for it."""
_PAGE = 1_000


class UsageRepository:
    """One document per owner: the UTC day of the latest tokens (days since 1970), and that day's sum."""

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

    async def tokens(self, owner: str, day: int) -> int:
        """Returns the tokens counted for this day."""
        latest, tokens = await self._latest(owner) or (day, 0)
        return tokens if _goes_on(latest, day) else 0

    async def add_tokens(self, owner: str, day: int, tokens: int) -> None:
        """Add tokens to a day. Exact with concurrent calls: a try fails only when another one succeeds."""
        while not await self._added(owner, day, tokens):
            pass

    async def _added(self, owner: str, day: int, tokens: int) -> bool:
        known = await self._latest(owner)
        if known is None:
            return await self._created(owner, day, tokens)
        latest, before = known
        unchanged = [Equals("day", latest), Equals("tokens", before)]
        changes = {"day": day, "tokens": tokens}
        if _goes_on(latest, day):
            changes = {"day": latest, "tokens": before + tokens}
        return await self._storage.patch(_USAGE, _id(owner), changes, where=unchanged) is not None

    async def _created(self, owner: str, day: int, tokens: int) -> bool:
        document: Document = {"id": _id(owner), "owner": owner, "day": day, "tokens": tokens}
        try:
            await self._storage.create(_USAGE, document)
        except DocumentExists:
            return False
        return True

    async def _latest(self, owner: str) -> tuple[int, int] | None:
        found = await self._storage.get(_USAGE, _id(owner))
        return None if found is None else _COUNTED.validate_python((found["day"], found["tokens"]))


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
