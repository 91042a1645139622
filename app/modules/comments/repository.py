"""Comments in the store."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Equals, Query, Storage
from app.modules.comments.errors import CommentUnknown
from app.modules.comments.model import MOST_COMMENTS, Comment, CommentedThing

_COUNTED = 1_000


class CommentRepository:
    """Access is checked by the service, not here."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._comments = Documents(storage, "comments", Comment)

    async def add(self, comment: Comment) -> Comment:
        """Returns the comment that is stored."""
        return await self._comments.create(comment)

    async def find(self, comment_id: str) -> Comment | None:
        return await self._comments.get(comment_id)

    async def count(self, thing_id: str) -> int:
        return await self._comments.count(Equals("thing_id", thing_id))

    async def page(self, place: CommentedThing, wanted: ListRequest) -> Listed[Comment]:
        return await self._comments.list_page([Equals("thing_id", place.thing_id)], wanted)

    async def authors(self, place: CommentedThing) -> list[str]:
        """Returns the people who have commented, by name."""
        of_thing = [Equals("thing_id", place.thing_id)]
        found = await self._comments.first(Query(of_thing, limit=MOST_COMMENTS))
        return sorted({each.author for each in found})

    async def open_counts(self, session_id: str) -> Mapping[str, int]:
        """Returns the numbers of unresolved comments of answers by their ids, of at most 1,000 comments."""
        of_session = [Equals("session_id", session_id)]
        found = await self._comments.first(Query(of_session, limit=_COUNTED))
        return Counter(each.thing_id for each in found if each.resolved_at is None)

    async def edit(self, comment: Comment, changes: Mapping[str, JsonValue]) -> Comment:
        """Change a comment for a person. Raises `CommentUnknown` if it is gone."""
        changed = await self._comments.edit(comment.id, changes)
        if changed is None:
            raise CommentUnknown
        return changed

    async def delete(self, comment: Comment) -> None:
        await self._comments.delete(Equals("id", comment.id))

    async def delete_all(self, owner: str) -> None:
        """Delete what an owner has written, and what was written on boards and answers of theirs."""
        for field in ("author", "owner"):
            await self._comments.delete(Equals(field, owner))

    async def is_known(self, name: str) -> bool:
        """True for a person who has used this KAI: one with a key or a conversation."""
        own: Sequence[Equals] = [Equals("owner", name)]
        return any([await self._storage.count(each, own) > 0 for each in ("api_keys", "sessions")])
