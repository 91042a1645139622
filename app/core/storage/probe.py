"""Tries what a question needs of the store: a conditional write."""

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.storage.port import Collection, Equals, Field, Range, Storage, StorageUnavailable

PROBES = Collection("probes", [Field("made_at", "integer")])
_LEFT_MS = 60_000


class StoreProbe:
    """Makes a document, changes it under a condition and deletes it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._is_prepared = False

    async def write(self) -> None:
        """Raises `StorageUnavailable` when the store does not take a conditional write."""
        now = now_ms()
        if not self._is_prepared:
            await self._storage.create_collection(PROBES)
            # left by processes that died while they probed
            await self._storage.delete(PROBES.name, [Range("made_at", below=now - _LEFT_MS)])
            self._is_prepared = True
        probe_id = new_id()
        await self._storage.get(PROBES.name, probe_id)  # a store that is starting refuses reads with a reason
        await self._storage.create(PROBES.name, {"id": probe_id, "made_at": now})
        try:
            unchanged = Equals("made_at", now)
            changes = {"made_at": now + 1}
            if await self._storage.patch(PROBES.name, probe_id, changes, where=[unchanged]) is None:
                raise StorageUnavailable("The store does not take conditional writes.")
        finally:
            await self._storage.delete(PROBES.name, [Equals("id", probe_id)])
