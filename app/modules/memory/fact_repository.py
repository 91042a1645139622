"""Facts in the store."""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pydantic import JsonValue

from app.core.storage.documents import Documents
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import AnyOf, Condition, Document, Equals, Query, Range, Storage
from app.modules.memory.model import TASK_UPDATE_MS, FactGroup, FactStatus, StoredFact

_NAME = "facts"
_NEVER = 2**53
"""The time at which a fact expires that does not."""
_PAGE = 100
_MOST_OF_TEXTS = 1_000
"""Facts that are read to compare texts. Few texts are there twice, and only for a moment."""
LIVING: Sequence[FactStatus] = ("active", "waiting")


class FactRepository:
    """Facts of all owners. A read by group compares group and owner again here, whatever the store says."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._facts = Documents(storage, _NAME, StoredFact, write=_document)

    async def create(self, fact: StoredFact) -> bool:
        """Returns False if there is a fact with this id."""
        return await self._facts.add(fact)

    async def find(self, fact_id: str) -> StoredFact | None:
        """Returns a fact of any owner, or None."""
        return await self._facts.get(fact_id)

    async def change(
        self,
        fact: StoredFact,
        changes: Mapping[str, JsonValue],
        *,
        while_status: FactStatus | None = None,
        while_used_at: int | None = None,
    ) -> StoredFact | None:
        """Returns the changed fact, or None if it is gone, or was changed or used meanwhile."""
        wanted = {"status": while_status, "used_at": while_used_at}
        where = [Equals(name, value) for name, value in wanted.items() if value is not None]
        return await self._facts.change(fact.id, changes, where)

    async def edit(self, fact: StoredFact, changes: Mapping[str, JsonValue]) -> StoredFact | None:
        """Change a fact for a person. Returns None if it is gone, or has another status meanwhile."""
        return await self._facts.edit(fact.id, changes, [Equals("status", fact.status)])

    async def create_all(self, facts: Sequence[StoredFact]) -> None:
        """Store facts with new ids in one write."""
        await self._facts.add_missing(facts)

    async def find_by_texts(
        self, group: FactGroup, texts: Sequence[str]
    ) -> Mapping[str, Sequence[StoredFact]]:
        """Returns the living facts of a group with one of these texts, case and blanks aside, by `text_key`.

        Smallest id first.
        """
        keys = list(set(map(text_key, texts)))
        where = [*_of_group(group), AnyOf("text_key", keys), AnyOf("status", LIVING)]
        found: defaultdict[str, list[StoredFact]] = defaultdict(list)
        for fact in await self._held(group, Query(where, limit=_MOST_OF_TEXTS)):
            found[text_key(fact.text)].append(fact)
        return found

    async def with_words(
        self, groups: Sequence[FactGroup], words: Sequence[str], now: int, *, limit: int
    ) -> Sequence[Sequence[str]]:
        """Returns for each word the ids of active facts that have a word with this prefix, best first.

        The groups are compared, not their owners.
        """
        where = [_of_groups(groups), Equals("status", "active"), Range("expires_at", at_least=now)]
        return await self._storage.search_ids(_NAME, words, where, limit=limit)

    async def has_any(self, group: FactGroup) -> bool:
        """True if the group has a fact of any status."""
        # One condition: of two, the store may search by the wider, which is not that of the group.
        return bool(await self._held(group, Query([Equals("group", group.id)], limit=1)))

    async def active(
        self, groups: Sequence[FactGroup], fact_ids: Sequence[str], now: int
    ) -> list[StoredFact]:
        """Returns the active facts among these of the groups, in the order of the ids."""
        where = [
            _of_groups(groups),
            AnyOf("id", fact_ids),
            Equals("status", "active"),
            Range("expires_at", at_least=now),
        ]
        facts = await self._facts.first(Query(where, limit=max(1, len(fact_ids))))
        found = {fact.id: fact for fact in facts if any(group.holds(fact) for group in groups)}
        return [found[each] for each in fact_ids if each in found]

    async def count(self, group: FactGroup, statuses: Sequence[FactStatus]) -> int:
        return await self._facts.count(*_of_group(group), AnyOf("status", statuses))

    async def latest(self, group: FactGroup, now: int, *, limit: int) -> list[StoredFact]:
        """Returns the active facts of a group that were changed last, latest first."""
        where = [*_of_group(group), Equals("status", "active"), Range("expires_at", at_least=now)]
        return await self._held(group, Query(where, order_by="updated_at", descending=True, limit=limit))

    async def unused(self, group: FactGroup, since: int) -> list[StoredFact]:
        """Returns the living facts of a group that were not used since."""
        where = [*_of_group(group), AnyOf("status", LIVING), Range("used_at", below=since)]
        return await self._held(group, Query(where, order_by="used_at", limit=1_000))

    async def oldest_superseded(self, group: FactGroup) -> list[StoredFact]:
        where = [*_of_group(group), Equals("status", "superseded")]
        return await self._held(group, Query(where, order_by="updated_at", limit=1))

    async def _held(self, group: FactGroup, query: Query) -> list[StoredFact]:
        return [fact for fact in await self._facts.first(query) if group.holds(fact)]

    async def successors(self, fact_id: str) -> list[StoredFact]:
        """Returns the facts that supersede this one."""
        return await self._facts.first(Query([Equals("supersedes", fact_id)]))

    async def page(self, where: Sequence[Condition], wanted: ListRequest) -> Listed[StoredFact]:
        return await self._facts.list_page(where, wanted)

    async def all(self, limit: int, cursor: str | None) -> tuple[list[StoredFact], str | None]:
        """Returns a page of the facts of all owners by their ids, and the cursor of the next page."""
        return await self._facts.page(Query(limit=limit, cursor=cursor))

    async def count_all(self) -> int:
        return await self._facts.count()

    async def search(self, words: str, where: Sequence[Condition], *, limit: int) -> list[StoredFact]:
        """Returns facts that contain all words, best first."""
        return await self._facts.search(words, where, limit=limit)

    async def some(self, where: Sequence[Condition]) -> list[StoredFact]:
        """Returns facts that meet the conditions, at most a hundred."""
        return await self._facts.first(Query(where, limit=_PAGE))

    async def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete facts.

        Each is marked before, so that a change that is made at the same moment cannot bring it back.
        """
        for fact_id in fact_ids:
            await self._storage.patch(_NAME, fact_id, {"status": "forgotten", "text": ""})
        await self._facts.delete(AnyOf("id", fact_ids))


def readers_of_owner(owner: str) -> str:
    """Names who may read facts that are not shared."""
    return f"owner:{owner}"


def readers_of_connection(connection_id: str) -> str:
    """Names who may read the shared facts of a connection."""
    return f"connection:{connection_id}"


def made_before(moment: int) -> Sequence[Condition]:
    """Conditions for facts of a limited life that were made before a moment."""
    return [Range("expires_at", below=moment + TASK_UPDATE_MS)]


def not_expired(now: int) -> Condition:
    return Range("expires_at", at_least=now)


def text_key(text: str) -> str:
    """Returns a hash of a text. Case and white space do not change it."""
    folded = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return hashlib.sha256(folded.encode(errors="replace")).hexdigest()


def _of_group(group: FactGroup) -> list[Condition]:
    return [Equals("group", group.id), *([] if group.owner is None else [Equals("owner", group.owner)])]


def _of_groups(groups: Sequence[FactGroup]) -> Condition:
    """Groups of several owners are read at once: their owners are compared afterwards."""
    return AnyOf("group", [group.id for group in groups])


def _document(fact: StoredFact) -> Document:
    """A flat copy of the source is kept beside it for conditions."""
    shared = fact.scope == "shared" and fact.connection_id is not None
    return {
        **asdict(fact),
        "about": list(fact.about),
        "readers": readers_of_connection(str(fact.connection_id)) if shared else readers_of_owner(fact.owner),
        "text_key": text_key(fact.text),
        "source_message_id": fact.source.message_id,
        "source_session_id": fact.source.session_id,
        "expires_at": _NEVER if fact.expires_at is None else fact.expires_at,
    }
