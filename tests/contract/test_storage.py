"""What every store has to keep to. An adapter joins by a fixture parameter."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.storage.port import (
    AnyOf,
    Collection,
    Document,
    DocumentExists,
    Equals,
    Field,
    InvalidCursor,
    Storage,
)
from app.core.storage.sqlite import open_sqlite

NOTES = Collection(
    "notes",
    [Field("owner", "keyword"), Field("number", "integer"), Field("title", "text"), Field("body", "text")],
)
TRICKY = [
    "alice",
    "ALICE",
    "alicé",
    "al-ice",
    "al.ice",
    "al`ice",
    "x` || n:>=0 || owner:=`x",
    "a'b",
    'a"b',
    "*",
    "",
    " ",
    "a\nb",
    "x" * 200,
    "x" * 199 + "y",
    "null",
    "1",
]


@pytest.fixture(params=["sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Storage]:
    async with open_sqlite(tmp_path / "store.db") as storage:
        await storage.create_collection(NOTES)
        yield storage


def note(number: int, owner: str = "me", **more: str) -> Document:
    return {"id": f"n{number:05}", "owner": owner, "number": number, **more}


async def test_a_document_comes_back_as_it_was_kept(store: Storage) -> None:
    document: Document = {"id": "a", "owner": "me", "nested": {"list": [1, None, {"x": "é"}], "pi": 3.14}}
    await store.put("notes", [document])
    assert await store.get("notes", "a") == document
    assert await store.get("notes", "A") is None


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda key: key not in ("id", "owner")),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters(codec="utf-8")),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ).map(lambda fields: {f"x{name}": value for name, value in fields.items()})
)
async def test_any_json_comes_back_equal(store: Storage, fields: Document) -> None:
    await store.put("notes", [{"id": "a", **fields}])
    assert await store.get("notes", "a") == {"id": "a", **fields}


async def test_equality_is_exact_whatever_the_value(store: Storage) -> None:
    await store.put("notes", [{"id": f"d{at}", "owner": owner} for at, owner in enumerate(TRICKY)])
    for at, owner in enumerate(TRICKY):
        for condition in (Equals("owner", owner), AnyOf("owner", [owner])):
            found = (await store.query("notes", [condition])).items
            assert [each["id"] for each in found] == [f"d{at}"]


async def test_ids_are_exact_whatever_they_hold(store: Storage) -> None:
    ids = [each for each in TRICKY if each]
    await store.put("notes", [{"id": each, "owner": "me"} for each in ids])
    for each in ids:
        assert (await store.get("notes", each) or {})["id"] == each


async def test_none_means_null_or_absent_and_is_not_the_empty_text(store: Storage) -> None:
    await store.put("notes", [{"id": "null", "owner": None}, {"id": "absent"}, {"id": "empty", "owner": ""}])
    found = (await store.query("notes", [Equals("owner", None)])).items
    assert {each["id"] for each in found} == {"null", "absent"}


async def test_any_of_nothing_is_nothing(store: Storage) -> None:
    await store.put("notes", [note(1)])
    assert not (await store.query("notes", [AnyOf("owner", [])])).items


async def test_creating_what_exists_is_refused_and_changes_nothing(store: Storage) -> None:
    await store.create("notes", note(1))
    with pytest.raises(DocumentExists):
        await store.create("notes", note(1, owner="you"))
    assert (await store.get("notes", "n00001") or {})["owner"] == "me"


async def test_putting_several_keeps_all_or_none(store: Storage) -> None:
    unkeepable: Document = {"id": None}
    with pytest.raises(Exception, match=r".*"):
        await store.put("notes", [note(1), unkeepable])
    assert await store.get("notes", "n00001") is None


async def test_a_patch_changes_some_fields_if_the_conditions_hold(store: Storage) -> None:
    await store.put("notes", [note(1, title="old")])
    assert await store.patch("notes", "n00001", {"title": "new"}, where=[Equals("owner", "you")]) is None
    changed = await store.patch("notes", "n00001", {"title": "new"}, where=[Equals("owner", "me")])
    assert changed == note(1, title="new") == await store.get("notes", "n00001")
    assert await store.patch("notes", "unknown", {"title": "new"}) is None


async def test_of_many_who_claim_at_once_one_gets_it(store: Storage) -> None:
    await store.put("notes", [{"id": "seat", "owner": None}])
    free = [Equals("owner", None)]
    claims = await asyncio.gather(
        *(store.patch("notes", "seat", {"owner": f"claimant {at}"}, where=free) for at in range(20))
    )
    (winner,) = [claim for claim in claims if claim is not None]
    assert await store.get("notes", "seat") == winner


async def test_a_deletion_reports_and_touches_only_what_it_means(store: Storage) -> None:
    await store.put("notes", [note(1), note(2, owner="ME"), note(3), note(4)])
    assert (
        await store.delete("notes", [Equals("owner", "me"), AnyOf("id", ["n00001", "n00002", "n00003"])]) == 2
    )
    assert [each["number"] for each in (await store.query("notes", [])).items] == [2, 4]
    assert await store.delete("notes", [Equals("owner", "nobody")]) == 0


async def test_deleting_without_a_condition_is_refused(store: Storage) -> None:
    with pytest.raises(ValueError, match="condition"):
        await store.delete("notes", [])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order_by", ["id", "number"])
async def test_pages_hold_everything_once_and_in_order(
    store: Storage, order_by: str, descending: bool
) -> None:
    await store.put(
        "notes", [{"id": f"n{at:05}", "owner": "me", "number": at % 7 or None} for at in range(1_050)]
    )
    seen: list[Document] = []
    cursor: str | None = None
    while True:
        page = await store.query(
            "notes",
            [Equals("owner", "me")],
            order_by=order_by,
            descending=descending,
            limit=97,
            cursor=cursor,
        )
        seen += page.items
        if (cursor := page.next_cursor) is None:
            break
    keys = [(each[order_by] is not None, each[order_by], each["id"]) for each in seen]
    assert len({each["id"] for each in seen}) == len(seen) == 1_050
    assert keys == sorted(keys, key=lambda key: (key[0], key[1] or 0, key[2]), reverse=descending)


@pytest.mark.parametrize("cursor", ["", "made up", "bnVsbA==", "WzEsMl0=", "é"])
async def test_a_cursor_of_nobodys_making_is_refused(store: Storage, cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        await store.query("notes", [], cursor=cursor)


async def test_a_cursor_is_for_its_own_order(store: Storage) -> None:
    await store.put("notes", [note(at) for at in range(3)])
    cursor = (await store.query("notes", [], limit=1)).next_cursor
    with pytest.raises(InvalidCursor):
        await store.query("notes", [], order_by="number", limit=1, cursor=cursor)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("revenue", {"a", "b"}),
        ("REVENUE europe", {"a"}),
        ("reve", {"a", "b"}),
        ("europe reve", {"a"}),
        ("munchen", {"c"}),
        ('AND "', set()),
        ("NEAR(", set()),
        ("revenue*", {"a", "b"}),
        ("title:revenue", set()),
        ("-revenue", {"a", "b"}),
        ("", set()),
        ("'; --", set()),
    ],
)
async def test_words_are_searched_never_obeyed(store: Storage, words: str, found: set[str]) -> None:
    documents: list[Document] = [
        {"id": "a", "owner": "me", "title": "Revenue in Europe"},
        {"id": "b", "owner": "me", "title": "x", "body": "revenue of it all"},
        {"id": "c", "owner": "me", "title": "Kunden in München"},
        {"id": "d", "owner": "you", "title": "Revenue of others"},
    ]
    await store.put("notes", documents)
    matches = await store.search("notes", words, [Equals("owner", "me")])
    assert {each["id"] for each in matches} == found


async def test_a_search_finds_what_a_document_says_now(store: Storage) -> None:
    await store.put("notes", [note(1, title="first words")])
    await store.patch("notes", "n00001", {"title": "second thoughts"})
    assert not await store.search("notes", "first", [])
    assert await store.search("notes", "second", [])
    await store.delete("notes", [Equals("id", "n00001")])
    assert not await store.search("notes", "second", [])


async def test_everything_is_there_after_opening_anew(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path / "store.db") as storage:
        await storage.create_collection(NOTES)
        await storage.put("notes", [note(1, title="kept words")])
    async with open_sqlite(tmp_path / "store.db") as storage:
        assert await storage.get("notes", "n00001") == note(1, title="kept words")
        assert await storage.search("notes", "kept", [Equals("owner", "me")])


@pytest.mark.parametrize("name", ["", "Notes", "no tes", "x;drop", "1x", "x" * 41])
def test_collections_and_fields_have_plain_names(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        Field(name, "keyword")
