"""Items of clients on every store: found by namespace, fields and words, each owner their own."""

import asyncio
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from app.core.storage.port import Storage
from app.modules.items import service
from app.modules.items.errors import NamespaceReserved, TooManyItems
from app.modules.items.service import ClientItems, Namespace


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
def items(storage: Storage) -> ClientItems:
    return ClientItems(storage)


async def keys(
    items: ClientItems,
    prefix: Namespace = (),
    *,
    owner: str = "ann",
    pairs: Mapping[str, JsonValue] | None = None,
    words: str | None = None,
    limit: int = 10,
    offset: int = 0,
) -> list[str]:
    found = await items.search(owner, prefix, pairs=pairs or {}, words=words, limit=limit, offset=offset)
    return [item.key for item in found]


async def test_an_item_keeps_its_time_of_creation_and_comes_back_as_it_was(items: ClientItems) -> None:
    value: dict[str, JsonValue] = {"a": [1, {"b": None}], "text": "Grüße\x00 \"'`:=&&", "number": 1.5}
    assert await items.get("ann", ["team", "A"], "k") is None
    await items.put("ann", ["team", "A"], "k", value=value)
    made = await items.get("ann", ["team", "A"], "k")
    assert made is not None
    assert (made.namespace, made.key, made.value) == (("team", "A"), "k", value)
    await items.put("ann", ["team", "A"], "k", value={})
    changed = await items.get("ann", ["team", "A"], "k")
    assert changed is not None
    assert changed.value == {}
    assert changed.created_at == made.created_at <= changed.updated_at
    assert await keys(items, words="Grüße") == []
    for other in (["team", "a"], ["team"], ["team", "A", "k"]):
        assert await items.get("ann", other, "k") is None
    assert await items.get("Ann", ["team", "A"], "k") is None


async def test_items_are_found_by_namespace_fields_and_words(items: ClientItems) -> None:
    await items.put(
        "ann", ["team", "sales"], "one", value={"page": "revenue by month", "size": 2, "on": True}
    )
    await items.put("ann", ["team", "sales", "eu"], "two", value={"page": "churn", "size": 2.0, "on": 1})
    await items.put("ann", ["teams"], "three", value={"deep": {"page": ["Revenue of 2026"]}})
    assert set(await keys(items)) == {"one", "two", "three"}
    assert set(await keys(items, ["team"])) == {"one", "two"}
    assert await keys(items, ["team", "sales", "eu"]) == ["two"]
    assert await keys(items, ["sales"]) == []
    assert set(await keys(items, pairs={"size": 2})) == {"one", "two"}
    assert await keys(items, pairs={"size": 2, "on": True}) == ["one"]
    assert await keys(items, pairs={"page": "revenue"}) == []
    assert await keys(items, pairs={"absent": None}) == []
    assert set(await keys(items, words="REVEN")) == {"one", "three"}
    assert await keys(items, ["team"], words="month revenue") == ["one"]
    assert await keys(items, words="2026") == ["three"]
    assert await keys(items, words="two") == ["two"]
    assert await keys(items, words="?!") == []
    both = await keys(items, words="revenue")
    assert await keys(items, words="revenue", offset=1, limit=1) == both[1:]
    assert await keys(items, words="revenue", offset=2) == []
    all_keys = await keys(items)
    assert [await keys(items, offset=place, limit=1) for place in range(4)] == [
        *([key] for key in all_keys),
        [],
    ]
    assert await keys(items, owner="Ann") == []


async def test_namespaces_are_listed_while_they_have_items(items: ClientItems) -> None:
    for labels in (["a", "b", "c"], ["a", "x", "c"], ["b"]):
        await items.put("ann", labels, "one", value={})
    await items.put("ann", ["b"], "two", value={})
    await items.put("Ann", ["z"], "one", value={})
    assert await items.namespaces("ann") == [("a", "b", "c"), ("a", "x", "c"), ("b",)]
    assert await items.namespaces("ann", prefix=["a"], max_depth=1) == [("a",)]
    assert await items.namespaces("ann", prefix=["a", "*", "c"], suffix=["x", "c"]) == [("a", "x", "c")]
    assert await items.namespaces("ann", suffix=["*", "*"]) == [("a", "b", "c"), ("a", "x", "c")]
    assert await items.namespaces("ann", prefix=["c"]) == []
    await items.delete("ann", ["b"], "one")
    await items.delete("ann", ["b"], "one")
    assert ("b",) in await items.namespaces("ann")
    await items.delete("ann", ["b"], "two")
    assert ("b",) not in await items.namespaces("ann")


async def test_a_namespace_is_listed_after_a_put_and_a_delete_at_once(items: ClientItems) -> None:
    await items.put("ann", ["a"], "old", value={})
    await asyncio.gather(
        items.delete("ann", ["a"], "old"), *(items.put("ann", ["a"], f"{n}", value={}) for n in range(3))
    )
    assert await items.namespaces("ann") == [("a",)]


async def test_an_owner_has_as_many_items_as_allowed(
    items: ClientItems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_ITEMS", 1)
    await items.put("ann", ["a"], "one", value={})
    await items.put("bob", ["a"], "one", value={})
    with pytest.raises(TooManyItems):
        await items.put("ann", ["a"], "two", value={})
    await items.put("ann", ["a"], "one", value={"again": True})


async def test_kais_own_namespace_is_refused(items: ClientItems) -> None:
    for refused in (
        items.put("ann", ["kai"], "k", value={}),
        items.get("ann", ["kai", "facts"], "k"),
        items.delete("ann", ["kai"], "k"),
        items.namespaces("ann", prefix=["kai"]),
        keys(items, ["kai"]),
    ):
        with pytest.raises(NamespaceReserved):
            await refused
    await items.put("ann", ["kaiser", "kai"], "k", value={})


async def test_forgetting_an_owner_leaves_the_items_of_others(items: ClientItems) -> None:
    for owner in ("ann", "Ann"):
        await items.put(owner, ["a"], "one", value={})
    await items.forget_owner("ann")
    assert await keys(items) == []
    assert await items.namespaces("ann") == []
    assert await keys(items, owner="Ann") == ["one"]
    assert await items.namespaces("Ann") == [("a",)]
