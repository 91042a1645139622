"""What the store knows of an owner's use: counted from what is there, so no crash leaves a wrong count."""

from typing import cast

from app.core.ids import id_of
from app.core.storage.port import Document, DocumentExists, Equals, Storage

_NAMESPACE = "6f6d1d0a-6f4c-5d6c-9d3b-0f4f4c3a7e11"
_USAGE = "usage"


class UsageRepository:
    """One document an owner: the UTC day of its latest tokens (days since 1970), and that day's sum."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def runs(self, owner: str) -> int:
        """Of the runs under way, those that wait included."""
        return await self._storage.count("runs", [Equals("owner", owner), Equals("status", "open")])

    async def sessions(self, owner: str) -> int:
        return await self._storage.count("sessions", [Equals("owner", owner)])

    async def tokens(self, owner: str, day: int) -> int:
        latest, tokens = await self._latest(owner) or (day, 0)
        return tokens if _goes_on(latest, day) else 0

    async def add_tokens(self, owner: str, day: int, tokens: int) -> None:
        """Exact, although others may add at the same time: each try that fails is one of theirs done."""
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
        return None if found is None else (cast("int", found["day"]), cast("int", found["tokens"]))


def _goes_on(latest: int, day: int) -> bool:
    """Whether the latest day is still this one: also the next is, by a clock a little ahead at midnight."""
    return latest in (day, day + 1)


def _id(owner: str) -> str:
    return id_of(_NAMESPACE, owner)
