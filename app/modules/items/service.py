"""Items that clients keep: JSON objects by namespace and key. KAI itself neither reads nor writes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from pydantic import JsonValue, TypeAdapter

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.pairs import pair_key, pair_keys
from app.core.storage.documents import Documents, all_documents
from app.core.storage.port import AnyOf, Condition, Contains, Document, Equals, Query, Storage
from app.modules.items.errors import NamespaceReserved, TooManyItems

Namespace: TypeAlias = Sequence[str]
"""Labels from the outermost on. No label has a dot."""

MOST_ITEMS = 10_000
"""Items of an owner."""
MOST_FOUND = 1_000
"""The most items that a search looks at, those that it skips included."""
ANY_LABEL = "*"
"""In a pattern of a namespace, any label."""
_RESERVED = "kai"
_ROOT = str(UUID(int=18))
_PAGE = 1_000


@dataclass(frozen=True, kw_only=True)
class Item:
    """A value that a client keeps."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, JsonValue]
    created_at: int
    updated_at: int


class ClientItems:
    """Items by owner, namespace and key. All methods but the last raise `NamespaceReserved`."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._items = Documents(storage, "items", Item)

    async def put(self, owner: str, namespace: Namespace, key: str, *, value: dict[str, JsonValue]) -> None:
        """Store an item, or replace its value. Raises `TooManyItems`."""
        _check(namespace)
        document_id = _id(owner, namespace, key)
        earlier = await self._storage.get("items", document_id)
        if earlier is None and await self._storage.count("items", [Equals("owner", owner)]) >= MOST_ITEMS:
            raise TooManyItems(most=MOST_ITEMS)
        now = now_ms()
        item: Document = {
            "id": document_id,
            "owner": owner,
            "namespace": [*namespace],
            "place": ".".join(namespace),
            "prefixes": _prefixes(namespace),
            "pairs": [*pair_keys(value)],
            "key": key,
            "value": value,
            "text": _text(key, value),
            "created_at": now if earlier is None else earlier["created_at"],
            "updated_at": now,
        }
        await self._storage.put("items", [item])
        # After the item: `delete` looks for items again once it has deleted a namespace.
        await self._put_namespace(owner, namespace)

    async def get(self, owner: str, namespace: Namespace, key: str) -> Item | None:
        _check(namespace)
        return await self._items.get(_id(owner, namespace, key))

    async def delete(self, owner: str, namespace: Namespace, key: str) -> None:
        """Delete an item, and its namespace with its last item. An unknown one is deleted already."""
        _check(namespace)
        await self._storage.delete("items", [Equals("id", _id(owner, namespace, key))])
        if await self._is_empty(owner, namespace):
            await self._storage.delete("item_namespaces", [Equals("id", _id(owner, namespace))])
            if not await self._is_empty(owner, namespace):  # an item was put meanwhile
                await self._put_namespace(owner, namespace)

    async def search(
        self,
        owner: str,
        prefix: Namespace,
        *,
        pairs: Mapping[str, JsonValue],
        words: str | None,
        limit: int,
        offset: int,
    ) -> list[Item]:
        """Returns the items of the namespaces that begin with these labels, last changed first.

        `pairs` are fields of the value, all of which must be equal. With `words`, items whose key and value
        have all of them, best first. `offset` and `limit` together are at most `MOST_FOUND`.
        """
        _check(prefix)
        where: list[Condition] = [Equals("owner", owner)]
        if prefix:
            where.append(Contains("prefixes", ".".join(prefix)))
        where += [Contains("pairs", pair_key(*pair)) for pair in pairs.items()]
        if words:
            return await self._with_words(words, where, slice(offset, offset + limit))
        found = Query(where, order_by="updated_at", descending=True, limit=offset + limit)
        return (await self._items.first(found))[offset:]

    async def _with_words(self, words: str, where: Sequence[Condition], part: slice) -> list[Item]:
        (found,) = await self._storage.search_ids("items", [words], where, limit=part.stop)
        ids = found[part]
        if not ids:
            return []
        page = await self._storage.query("items", Query([*where, AnyOf("id", ids)], limit=len(ids)))
        ordered = sorted(page.items, key=lambda each: ids.index(str(each["id"])))
        return [self._items.read(each) for each in ordered]

    async def namespaces(
        self, owner: str, *, prefix: Namespace = (), suffix: Namespace = (), max_depth: int | None = None
    ) -> list[tuple[str, ...]]:
        """Returns the namespaces with items, in order, whose first and last labels fit these patterns; each
        cut to `max_depth` labels.
        """
        _check(prefix)
        found = [
            namespace[:max_depth]
            for namespace in await self._all_namespaces(owner)
            if _fits(namespace[: len(prefix)], prefix)
            and _fits(namespace[max(0, len(namespace) - len(suffix)) :], suffix)
        ]
        return sorted(set(found))

    async def forget_owner(self, owner: str) -> None:
        """Delete all items of an owner."""
        for collection in ("items", "item_namespaces"):
            await self._storage.delete(collection, [Equals("owner", owner)])

    async def _is_empty(self, owner: str, namespace: Namespace) -> bool:
        own = [Equals("owner", owner), Equals("place", ".".join(namespace))]
        return await self._storage.count("items", own) == 0

    async def _put_namespace(self, owner: str, namespace: Namespace) -> None:
        document: Document = {"id": _id(owner, namespace), "owner": owner, "namespace": [*namespace]}
        await self._storage.put("item_namespaces", [document])

    async def _all_namespaces(self, owner: str) -> list[tuple[str, ...]]:
        own = Query([Equals("owner", owner)], limit=_PAGE)
        found = all_documents(self._storage, "item_namespaces", own)
        return [_LABELS.validate_python(each["namespace"]) async for each in found]


_LABELS = TypeAdapter(tuple[str, ...])


def _check(namespace: Namespace) -> None:
    if namespace and namespace[0] == _RESERVED:
        raise NamespaceReserved(label=_RESERVED)


def _id(owner: str, namespace: Namespace, *key: str) -> str:
    """Returns the id of an item, or without a key that of a namespace."""
    return id_of(_ROOT, json.dumps([owner, [*namespace], *key]))


def _prefixes(namespace: Namespace) -> list[JsonValue]:
    return [".".join(namespace[:length]) for length in range(1, len(namespace) + 1)]


def _fits(labels: Sequence[str], pattern: Namespace) -> bool:
    return len(labels) == len(pattern) and all(
        wanted in (ANY_LABEL, label) for label, wanted in zip(labels, pattern, strict=True)
    )


def _text(key: str, value: JsonValue) -> str:
    """Returns what words are searched in: the key, and all texts and numbers of the value."""
    texts = [key]
    left = [value]
    while left:
        match left.pop():
            case dict() as found:
                left += reversed(found.values())
            case list() as found:
                left += reversed(found)
            case bool() | None:
                pass
            case found:
                texts.append(str(found))
    return "\n".join(texts).replace("\x00", " ")
