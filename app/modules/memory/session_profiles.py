"""Sections about users as sessions have begun with them: one document a session, under its id.

A session keeps the text that it has begun with. It lies apart from the session and from its checkpoints, so
that it can be deleted at any time.
"""

from collections.abc import Sequence

from app.core.storage.port import AnyOf, DocumentExists, Equals, Storage

_NAME = "session_profiles"


class SessionProfiles:
    """All methods raise `StorageUnavailable`."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def find(self, owner: str, session_id: str) -> str | None:
        """Returns the text that is kept for a session, which may be empty. None if there is none."""
        found = await self._storage.get(_NAME, session_id)
        return str(found["text"]) if found and found["owner"] == owner and found["text"] is not None else None

    async def announce(self, owner: str, session_id: str) -> bool:
        """Announce that a text is going to be written. Returns False if one was announced or kept before.

        To forget the owner's profile deletes the announcement, too. So a text that was read before is not
        written afterwards, and what was written is found, however early the writing process dies.
        """
        try:
            await self._storage.create(_NAME, {"id": session_id, "owner": owner, "text": None})
        except DocumentExists:
            return False
        return True

    async def write(self, session_id: str, text: str) -> bool:
        """Write an announced text. Returns False if the announcement was deleted."""
        return await self._storage.patch(_NAME, session_id, {"text": text}) is not None

    async def forget_owner(self, owner: str) -> None:
        await self._storage.delete(_NAME, [Equals("owner", owner)])

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        await self._storage.delete(_NAME, [AnyOf("id", session_ids)])
