"""Leases: rights that one process at a time has, kept in the store. They expire unless they are renewed."""

from collections.abc import Mapping
from contextlib import suppress

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.storage.port import Collection, Condition, DocumentExists, Equals, Field, Range, Storage

_LEASES = Collection("leases", [Field("holder", "keyword"), Field("until", "integer")])


class Lease:
    """One lease, for one holder. Holders of the same name are one: they take it from each other at once.

    Every method raises `StorageUnavailable`.
    """

    def __init__(
        self,
        storage: Storage,
        lease_id: str,
        holder: str,
        *,
        for_ms: int,
        about: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """`lease_id` is a UUID; `about` is what others can read of the holder."""
        self._storage = storage
        self._id = lease_id
        self._holder = holder
        self._for_ms = for_ms
        self._about = about or {}

    async def take(self) -> bool:
        """Returns True if the lease was free, had expired or was this holder's."""
        await self._storage.create_collection(_LEASES)
        with suppress(DocumentExists):
            await self._storage.create(_LEASES.name, {"id": self._id, "holder": None, "until": 0})
        return await self._set(self._for_ms, Range("until", below=now_ms())) or await self.renew()

    async def renew(self) -> bool:
        """Returns False if another holder has taken it."""
        return await self._set(self._for_ms, Equals("holder", self._holder))

    async def release(self) -> None:
        await self._set(0, Equals("holder", self._holder))

    async def about(self) -> Mapping[str, JsonValue]:
        """Returns what the holder says of itself."""
        return await self._storage.get(_LEASES.name, self._id) or {}

    async def _set(self, for_ms: int, condition: Condition) -> bool:
        changes = {**self._about, "holder": self._holder, "until": now_ms() + for_ms}
        return await self._storage.patch(_LEASES.name, self._id, changes, where=[condition]) is not None
