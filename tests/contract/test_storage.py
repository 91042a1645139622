"""What every store of KAI's records does; the stores are in `tests.support.stores`."""

import asyncio
import base64
import json
import math
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from app.core.storage.port import (
    AnyOf,
    Collection,
    Condition,
    Contains,
    ContainsAny,
    Document,
    DocumentExists,
    Equals,
    Field,
    InvalidCursor,
    Query,
    Range,
    Scalar,
    Storage,
)
from tests.support.cases import assert_each, assert_each_awaited
from tests.support.stores import Open

BOOKS = Collection(
    "books",
    [
        Field("owner", "keyword"),
        Field("status", "keyword"),
        Field("tags", "keywords"),
        Field("year", "integer"),
        Field("title", "text"),
        Field("blurb", "text"),
    ],
    "shelf",
)

PAPERS = Collection("papers", [*BOOKS.fields, Field("pages", "integer")], "shelf")
"""Kept together with the books. What the tests do to books concerns no paper."""

TWINS: list[Document] = [
    {"id": str(UUID(bytes=name.encode().ljust(16, b"\0"))), "owner": "o", "year": 1, "title": "old red wine"}
    for name in "abcdefghij"
]
"""Papers with the ids, keywords, numbers and words of books."""

DECLARED = {"id", *(field.name for field in BOOKS.fields)}

LOOK_ALIKES = [
    *("alice", "Alice", "ALICE", "alicé", "alice\u0301", "al-ice", "al.ice", "al_ice", "al ice", " alice"),
    *("alice@x.com", "alicexcom", "a/b", "a\\b", "ab", "1", "01", "1.0", "null", "", "-", "日本", "🙂"),
    *("al`ice", "x` || year:>=0 || owner:=`x", "' OR '1'='1", '"', "*", "ali*", "%", "al_ce", "||", "&&"),
    *("alice\n", "alice\t", "alice\x00", "../alice", "a?b=1", "%61lice", "a" * 200, "a" * 199 + "b"),
]

NO_YEARS: list[JsonValue] = ["1", True, 1.5, 10**30, [], {}, "\ud800"]
NO_IDS: list[JsonValue] = [None, 1, True, [], {}, "\ud800", "a"]
FORGED: list[JsonValue] = [
    *(["books", "year", False, value, str(UUID(int=1))] for value in NO_YEARS),
    *(["books", "year", False, 1, document_id] for document_id in NO_IDS),
    ["books", "year", False, 1],
    ["books", "year", False, 1, str(UUID(int=1)), "b"],
    {},
    "books",
    1,
    None,
]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def uid(name: str) -> str:
    """A UUID for a name of up to 16 bytes; in the order of the names."""
    return str(UUID(bytes=name.encode().ljust(16, b"\0")))


def name_of(document_id: JsonValue) -> str:
    return UUID(str(document_id)).bytes.rstrip(b"\0").decode()


@pytest.fixture
async def storage(reopen: Open) -> AsyncIterator[Storage]:
    async with reopen() as opened:
        await opened.create_collection(BOOKS)
        await opened.create_collection(PAPERS)
        await opened.put("papers", TWINS)
        yield opened
        assert (await opened.query("papers", Query())).items == TWINS


async def ids(storage: Storage, *where: Condition) -> list[JsonValue]:
    return [name_of(book["id"]) for book in (await storage.query("books", Query(where, limit=1_000))).items]


async def found(storage: Storage, words: str, *where: Condition) -> set[JsonValue]:
    """Searches twice: for the documents, and for their ids."""
    books = [str(book["id"]) for book in await storage.search("books", words, where)]
    assert await storage.search_ids("books", [words, ""], where) == [books, []]
    return {name_of(each) for each in books}


async def walk(storage: Storage, order_by: str, *, descending: bool, limit: int) -> list[JsonValue]:
    seen: list[JsonValue] = []
    cursor: str | None = None
    for _ in range(1_000):
        page = await storage.query(
            "books", Query(order_by=order_by, descending=descending, limit=limit, cursor=cursor)
        )
        seen += [name_of(book["id"]) for book in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return seen
    raise AssertionError("the pages have no end")


# Keeping


async def test_an_unknown_document_is_none(storage: Storage) -> None:
    assert await storage.get("books", uid("none")) is None


async def test_a_collection_that_no_process_has_created_is_refused(storage: Storage) -> None:
    with pytest.raises(KeyError):
        await storage.get("missing", uid("none"))


async def test_a_document_comes_back_whole_with_its_undeclared_fields(storage: Storage) -> None:
    book: Document = {
        "id": uid("a"),
        "owner": "o",
        "pages": [{"n": 1, "notes": [None, True, 1.5, "é"]}],
        "x": {},
    }
    await storage.create("books", book)
    assert await storage.get("books", uid("a")) == book
    assert (await storage.query("books", Query())).items == [book]


@given(fields=st.dictionaries(TEXTS.filter(lambda name: name not in DECLARED), JSON, max_size=5))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_any_json_comes_back_equal(storage: Storage, fields: dict[str, JsonValue]) -> None:
    book: Document = {**fields, "id": uid("a")}
    await storage.put("books", [book])
    kept = await storage.get("books", uid("a"))
    # As text, since to Python 1, 1.0 and True are equal.
    assert json.dumps(kept, sort_keys=True) == json.dumps(book, sort_keys=True)


async def test_creating_an_id_twice_is_refused_and_keeps_the_first(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "title": "first"})
    with pytest.raises(DocumentExists):
        await storage.create("books", {"id": uid("a"), "title": "second"})
    assert await storage.get("books", uid("a")) == {"id": uid("a"), "title": "first"}


async def test_of_many_creating_one_id_at_once_one_succeeds(storage: Storage) -> None:
    books: list[Document] = [{"id": uid("a"), "by": number} for number in range(20)]
    outcomes = await asyncio.gather(
        *(storage.create("books", book) for book in books), return_exceptions=True
    )
    assert sum(outcome is None for outcome in outcomes) == 1
    assert sum(isinstance(outcome, DocumentExists) for outcome in outcomes) == 19


async def test_only_missing_documents_are_created_and_the_others_stay(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "owner": "first"})
    later: list[Document] = [{"id": uid(name), "owner": "later"} for name in ("a", "b", "c")]
    await asyncio.gather(
        storage.create_missing("books", [*later[:2], {"id": uid("b"), "owner": "last"}]),
        storage.create_missing("books", []),
        *(storage.create_missing("books", later) for _ in range(3)),
    )
    assert (await storage.query("books", Query())).items == [{"id": uid("a"), "owner": "first"}, *later[1:]]
    with pytest.raises(ValueError, match="UUID"):
        await storage.create_missing("books", [{"id": uid("d")}, {"id": "d"}])
    assert await storage.count("books", []) == 3


async def test_putting_replaces_whole_documents_and_their_declared_fields(storage: Storage) -> None:
    await storage.put("books", [{"id": uid("a"), "owner": "o", "title": "Old", "pages": 3}])
    await storage.put("books", [{"id": uid("a"), "year": 1999}])
    assert await storage.get("books", uid("a")) == {"id": uid("a"), "year": 1999}
    assert await ids(storage, Equals("owner", "o")) == []
    assert await found(storage, "old") == set()


async def test_the_last_of_the_same_id_in_one_put_is_kept(storage: Storage) -> None:
    await storage.put("books", [{"id": uid("a"), "year": 1}, {"id": uid("a"), "year": 2}])
    assert (await storage.query("books", Query())).items == [{"id": uid("a"), "year": 2}]


async def test_putting_nothing_changes_nothing(storage: Storage) -> None:
    await storage.put("books", [])
    assert await ids(storage) == []


async def test_a_put_with_a_value_of_another_kind_keeps_none_of_its_documents(storage: Storage) -> None:
    async def check(wrong: Document) -> None:
        with pytest.raises(ValueError, match="declared as"):
            await storage.put("books", [{"id": uid("a")}, {"id": uid("b"), **wrong}, {"id": uid("c")}])
        assert await ids(storage) == []

    await assert_each_awaited(
        [
            {"owner": 1},
            {"owner": True},
            {"year": "1"},
            {"year": True},
            {"year": 1.0},
            {"year": 2**53 + 1},
            {"title": []},
        ],
        check,
    )


async def test_everything_survives_closing_and_opening_again(reopen: Open) -> None:
    book: Document = {"id": uid("a"), "owner": "o", "year": 7, "title": "Time and tide"}
    async with reopen() as storage:
        await storage.create_collection(BOOKS)
        await storage.create("books", book)
    async with reopen() as storage:
        assert await storage.get("books", uid("a")) == book
        assert (await storage.query("books", Query([Equals("year", 7)]))).items == [book]
        assert await storage.search("books", "tide", [Equals("owner", "o")]) == [book]


async def test_making_a_collection_again_keeps_its_documents(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a")})
    await storage.create_collection(BOOKS)
    assert await ids(storage) == ["a"]


async def test_making_a_collection_again_with_other_fields_is_refused(storage: Storage) -> None:
    with pytest.raises(ValueError, match="other fields"):
        await storage.create_collection(Collection("books", [Field("year", "keyword")]))
    await storage.create("books", {"id": uid("a"), "owner": "o"})
    assert await ids(storage, Equals("owner", "o")) == ["a"]


async def test_making_a_collection_with_fewer_fields_than_it_has_is_fine(storage: Storage) -> None:
    await storage.create_collection(Collection("books", BOOKS.fields[:2]))
    await storage.create("books", {"id": uid("a"), "year": 1})
    assert await ids(storage, Equals("year", 1)) == ["a"]


async def test_documents_are_found_by_fields_that_were_added_later(reopen: Open) -> None:
    async with reopen() as storage:
        await storage.create_collection(Collection("books", [Field("owner", "keyword")]))
        books: list[Document] = [
            {"id": uid(str(n)), "owner": "o", "year": n, "title": f"Tale {n}", "status": "new"}
            for n in range(1_100)
        ]
        await storage.put("books", books)
        added = [Field("year", "integer"), Field("title", "text"), Field("status", "keyword")]
        for _ in range(2):
            await storage.add_fields("books", added)
    async with reopen() as storage:
        assert await ids(storage, Equals("year", 7), Equals("owner", "o"), Equals("status", "new")) == ["7"]
        assert await found(storage, "tale 1099") == {"1099"}
        assert await storage.count("books", [Equals("status", None)]) == 0
        assert (await storage.query("books", Query(order_by="year", limit=1))).items == books[:1]


async def test_creating_a_collection_makes_known_what_other_processes_have_created(reopen: Open) -> None:
    year, title = Field("year", "integer"), Field("title", "text")
    async with reopen() as storage, reopen() as other:
        await storage.create_collection(Collection("books", [Field("owner", "keyword")]))
        await other.create_collection(PAPERS)
        await other.add_fields("books", [year, title])
        await other.create("books", {"id": uid("a"), "year": 7, "title": "Time and tide"})

        await storage.create_collection(Collection("maps", [year]))

        assert {*storage.collections()} == {"books", "maps", "papers"}
        assert await ids(storage, Equals("year", 7)) == ["a"]
        await storage.create("books", {"id": uid("b"), "year": 7, "title": "High tide"})
        assert await found(other, "tide", Equals("year", 7)) == {"a", "b"}


async def test_fields_that_another_process_has_added_stay_as_more_are_added(reopen: Open) -> None:
    async with reopen() as storage, reopen() as other:
        await storage.create_collection(Collection("books", [Field("owner", "keyword")]))
        await other.create_collection(Collection("books", [Field("owner", "keyword")]))
        await other.add_fields("books", [Field("year", "integer")])
        await other.create("books", {"id": uid("a"), "owner": "o", "year": 7, "pages": 300})

        await storage.add_fields("books", [Field("pages", "integer")])

        assert await ids(storage, Equals("owner", "o"), Equals("year", 7), Equals("pages", 300)) == ["a"]
    async with reopen() as storage:
        assert await ids(storage, Equals("owner", "o"), Equals("year", 7), Equals("pages", 300)) == ["a"]


async def test_collections_whose_names_run_together_are_apart(storage: Storage) -> None:
    names = ["books_text", "books_title", "books_text_data", "books_owner", "a", "a_b", "order"]
    for name in names:
        await storage.create_collection(
            Collection(name, [Field("b_c", "keyword"), Field("c", "keyword"), Field("select", "text")])
        )
        await storage.create(name, {"id": uid(name), "c": "x", "select": "word"})
    for name in names:
        assert (await storage.query(name, Query([Equals("c", "x")]))).items == await storage.search(
            name, "word", []
        )


async def test_documents_with_fields_named_like_a_stores_own_are_kept_apart(storage: Storage) -> None:
    fields = [Field(name, "keyword") for name in ("document", "position", "rowid", "table", "group")]
    await storage.create_collection(Collection("odd", fields))
    odd: Document = {
        "id": uid("a"),
        "document": "d",
        "position": "p",
        "rowid": "r",
        "table": "t",
        "group": "g",
    }
    await storage.create("odd", odd)
    for field in fields:
        assert (await storage.query("odd", Query([Equals(field.name, str(odd[field.name]))]))).items == [odd]


# Names


def test_what_could_be_syntax_is_no_name() -> None:
    def check(name: str) -> None:
        with pytest.raises(ValueError, match="is no name"):
            Field(name, "keyword")
        with pytest.raises(ValueError, match="is no name"):
            Collection(name, [])

    assert_each(["", "Books", "a b", "a;b", 'a"b', "a.b", "_a", "é", "a1", "a" * 41, "a\n"], check)


@pytest.mark.parametrize("names", [["id"], ["a", "a"]])
def test_a_field_is_declared_once_and_the_id_never(names: list[str]) -> None:
    with pytest.raises(ValueError, match="declares"):
        Collection("books", [Field(name, "keyword") for name in names])


# Exactness


async def test_values_that_look_alike_are_different(storage: Storage) -> None:
    await storage.put("books", [{"id": uid(str(n)), "owner": owner} for n, owner in enumerate(LOOK_ALIKES)])
    for number, owner in enumerate(LOOK_ALIKES):
        assert await ids(storage, Equals("owner", owner)) == [str(number)]
        assert await ids(storage, AnyOf("owner", [owner])) == [str(number)]


async def test_an_id_that_is_no_uuid_is_refused_and_unknown(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a")})

    async def check(wrong: str) -> None:
        with pytest.raises(ValueError, match="UUID"):
            await storage.put("books", [{"id": uid("b")}, {"id": wrong}])
        with pytest.raises(ValueError, match="UUID"):
            await storage.create("books", {"id": wrong})
        assert await storage.get("books", wrong) is None
        assert await storage.patch("books", wrong, {"year": 1}) is None
        assert await ids(storage, Equals("id", wrong)) == []
        assert await storage.delete("books", [AnyOf("id", [wrong])]) == 0
        assert await ids(storage) == ["a"]

    await assert_each_awaited(
        [*LOOK_ALIKES, uid("o").upper(), uid("a").replace("-", ""), uid("a") + "\n"], check
    )


async def test_a_value_of_another_kind_matches_nothing(storage: Storage) -> None:
    await storage.create("books", {"id": uid("1"), "owner": "1", "year": 1, "title": "1"})

    async def check(field: str, value: Scalar) -> None:
        assert await ids(storage, Equals(field, value)) == []

    await assert_each_awaited(
        [("owner", 1), ("owner", True), ("year", "1"), ("year", True), ("year", 10**30), ("id", 1)], check
    )


async def test_any_of_compares_no_text_with_numbers(storage: Storage) -> None:
    await storage.create("books", {"id": uid("1"), "owner": "1", "year": 1})
    assert await ids(storage, AnyOf("year", ["1"])) == []


async def test_integers_are_exact_to_fifty_three_bits(storage: Storage) -> None:
    years = [-(2**53), 1 - 2**53, -1, 0, 2**53 - 1, 2**53]
    await storage.put("books", [{"id": uid(str(n)), "year": year} for n, year in enumerate(years)])
    for number, year in enumerate(years):
        assert await ids(storage, Equals("year", year)) == [str(number)]
    assert await walk(storage, "year", descending=False, limit=2) == ["0", "1", "2", "3", "4", "5"]


async def test_a_range_has_its_lower_end_and_not_its_upper_one(storage: Storage) -> None:
    async def check(at_least: int | None, below: int | None, books: list[str]) -> None:
        years = {"a": -1, "b": 0, "c": 7, "d": 2**53, "e": None}
        await storage.put("books", [{"id": uid(name), "year": year} for name, year in years.items()])
        assert await ids(storage, Range("year", at_least, below)) == books

    await assert_each_awaited(
        [
            (None, None, ["a", "b", "c", "d"]),
            (0, None, ["b", "c", "d"]),
            (None, 0, ["a"]),
            (0, 7, ["b"]),
            (7, 7, []),
            (8, 7, []),
        ],
        check,
    )


async def test_a_condition_on_a_field_that_is_not_compared_is_refused(storage: Storage) -> None:
    async def check(condition: Condition) -> None:
        with pytest.raises(ValueError, match="declared as"):
            await storage.query("books", Query([condition]))

    await assert_each_awaited(
        [
            *(
                Equals("title", "a"),
                AnyOf("blurb", []),
                Range("owner", 1),
                Range("id"),
                Contains("owner", "a"),
                ContainsAny("owner", ["a"]),
            ),
            *(Equals("tags", "a"), AnyOf("tags", ["a"]), Range("tags"), Contains("title", "a")),
        ],
        check,
    )


async def test_counting_says_how_many_meet_the_conditions(storage: Storage) -> None:
    await storage.put("books", [{"id": uid(str(n)), "owner": "ab"[n % 2]} for n in range(301)])
    assert await storage.count("books", []) == 301
    assert await storage.count("books", [Equals("owner", "a")]) == 151
    assert await storage.count("books", [Equals("owner", "A")]) == 0
    assert await storage.count("books", [AnyOf("owner", [])]) == 0


async def test_an_empty_text_is_not_null(storage: Storage) -> None:
    await storage.put(
        "books",
        [{"id": uid("absent")}, {"id": uid("empty"), "owner": ""}, {"id": uid("null"), "owner": None}],
    )
    assert await ids(storage, Equals("owner", "")) == ["empty"]
    assert await ids(storage, Equals("owner", None)) == ["absent", "null"]


async def test_a_list_of_texts_is_found_by_each_of_them_exactly(storage: Storage) -> None:
    for number, text in enumerate(LOOK_ALIKES):
        await storage.put("books", [{"id": uid(f"n{number:02}"), "tags": ["x", text]}])
    await storage.put("books", [{"id": uid("none"), "tags": []}, {"id": uid("null"), "tags": None}])
    for number, text in enumerate(LOOK_ALIKES):
        assert await ids(storage, Contains("tags", text)) == [f"n{number:02}"]
    assert await storage.count("books", [Contains("tags", "x")]) == len(LOOK_ALIKES)
    assert await ids(storage, Contains("tags", "x"), Contains("tags", "alice")) == ["n00"]
    first = uid("n00")
    assert await storage.patch("books", first, {"tags": ["y"]}, where=[Contains("tags", "z")]) is None
    assert await storage.patch("books", first, {"tags": ["y"]}, where=[Contains("tags", "alice")]) is not None
    assert await ids(storage, Contains("tags", "alice")) == []
    assert await ids(storage, Contains("tags", "y")) == ["n00"]
    for number, text in enumerate(LOOK_ALIKES[1:], 1):
        assert await ids(storage, ContainsAny("tags", [text, "y"])) == ["n00", f"n{number:02}"]
    assert await ids(storage, ContainsAny("tags", [])) == []
    assert await storage.count("books", [ContainsAny("tags", ["x", "y"])]) == len(LOOK_ALIKES)


async def test_all_conditions_must_hold(storage: Storage) -> None:
    await storage.put(
        "books",
        [
            {"id": uid(f"{owner}{status}"), "owner": owner, "status": status}
            for owner in "ab"
            for status in "xyz"
        ],
    )
    assert await ids(storage, Equals("owner", "a"), AnyOf("status", ["x", "z", "x"])) == ["ax", "az"]
    assert await ids(storage, Equals("owner", "a"), AnyOf("status", [])) == []
    assert await ids(storage, Equals("owner", "a"), Equals("owner", "b")) == []


async def test_any_of_takes_a_thousand_values(storage: Storage) -> None:
    await storage.put("books", [{"id": uid("a"), "owner": "o999"}])
    assert await ids(storage, AnyOf("owner", [f"o{number}" for number in range(1_000)])) == ["a"]


# Changing


async def test_a_patch_changes_the_named_fields_only(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "owner": "o", "year": 1, "meta": {"x": 1, "y": 2}})
    changed = await storage.patch("books", uid("a"), {"year": None, "meta": {"x": 3}, "title": "New"})
    assert changed == {"id": uid("a"), "owner": "o", "year": None, "meta": {"x": 3}, "title": "New"}
    assert await storage.get("books", uid("a")) == changed
    assert await ids(storage, Equals("year", None)) == ["a"]
    assert await found(storage, "new") == {"a"}


async def test_a_patch_that_meets_no_document_changes_nothing(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "owner": "o"})
    assert await storage.patch("books", uid("A"), {"owner": "p"}) is None
    assert await storage.patch("books", uid("a"), {"owner": "p"}, where=[Equals("owner", "O")]) is None
    assert await storage.get("books", uid("a")) == {"id": uid("a"), "owner": "o"}


async def test_a_patch_never_changes_the_id(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a")})
    assert await storage.patch("books", uid("a"), {"id": uid("b"), "year": 1}) == {"id": uid("a"), "year": 1}
    assert await ids(storage) == ["a"]


async def test_of_twenty_claims_at_once_one_wins(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "status": "idle"})
    free: list[Condition] = [Equals("owner", None), AnyOf("status", ["idle", "error"])]
    claims = (
        storage.patch("books", uid("a"), {"owner": f"o{n}", "status": "busy"}, where=free) for n in range(20)
    )
    won = [book for book in await asyncio.gather(*claims) if book is not None]
    assert won == [await storage.get("books", uid("a"))]


async def test_patches_of_different_fields_at_once_are_all_kept(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a")})
    await asyncio.gather(*(storage.patch("books", uid("a"), {f"note_{n}": n}) for n in range(20)))
    assert await storage.get("books", uid("a")) == {"id": uid("a"), **{f"note_{n}": n for n in range(20)}}


async def test_a_document_whose_earlier_states_are_forgotten_can_be_changed_as_before(
    storage: Storage,
) -> None:
    await storage.create("books", {"id": uid("a"), "owner": "o"})
    for title in ("First", "Second", "Third"):
        await storage.patch("books", uid("a"), {"title": title}, where=[Equals("owner", "o")])
    await storage.forget_earlier("books", uid("a"))
    await storage.forget_earlier("books", uid("missing"))
    assert await storage.get("books", uid("a")) == {"id": uid("a"), "owner": "o", "title": "Third"}
    claims = (
        storage.patch("books", uid("a"), {"owner": f"o{n}"}, where=[Equals("owner", "o")]) for n in range(5)
    )
    won = [book for book in await asyncio.gather(*claims) if book is not None]
    assert won == [await storage.get("books", uid("a"))]
    assert won[0]["title"] == "Third"


async def test_deleting_touches_only_matches_and_counts_them(storage: Storage) -> None:
    books: list[Document] = [
        {"id": uid(each), "owner": each[0], "title": f"tale {each}"} for each in ("a1", "a2", "A1", "b1")
    ]
    await storage.put("books", books)
    assert await storage.delete("books", [Equals("owner", "a")]) == 2
    assert await storage.delete("books", [Equals("owner", "a")]) == 0
    assert await ids(storage) == ["A1", "b1"]
    assert await found(storage, "tale") == {"A1", "b1"}


async def test_deleting_everything_needs_a_condition(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a")})
    with pytest.raises(ValueError, match="condition"):
        await storage.delete("books", [])
    assert await ids(storage) == ["a"]


# Paging


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("order_by", "limit"), [("id", 100), ("year", 7), ("year", 1_000)])
async def test_paging_neither_repeats_nor_skips(
    storage: Storage, order_by: str, limit: int, *, descending: bool
) -> None:
    keys = {f"{n:04}": (n % 3, n % 5) if n % 4 else None for n in range(1_100)}
    books: list[Document] = [
        {"id": uid(name), "owner": f"o{key[0]}", "year": key[1]} if key else {"id": uid(name)}
        for name, key in keys.items()
    ]
    await storage.put("books", books)

    def place(book: Document) -> tuple[bool, str, str]:
        value = book.get(order_by)
        return value is not None, str(value), str(book["id"])

    wanted = [name_of(book["id"]) for book in sorted(books, key=place, reverse=descending)]
    assert await walk(storage, order_by, descending=descending, limit=limit) == wanted


async def test_the_last_full_page_has_no_cursor(storage: Storage) -> None:
    await storage.put("books", [{"id": uid(str(number))} for number in range(4)])
    first = await storage.query("books", Query(limit=2))
    second = await storage.query("books", Query(limit=2, cursor=first.next_cursor))
    assert [len(first.items), len(second.items), second.next_cursor] == [2, 2, None]


async def test_a_page_goes_on_after_documents_come_and_go(storage: Storage) -> None:
    await storage.put("books", [{"id": uid(each)} for each in "bdfh"])
    first = await storage.query("books", Query(limit=2))
    await storage.delete("books", [AnyOf("id", [uid("b"), uid("d")])])
    await storage.put("books", [{"id": uid(each)} for each in "ae"])
    second = await storage.query("books", Query(limit=10, cursor=first.next_cursor))
    assert [name_of(book["id"]) for book in second.items] == ["e", "f", "h"]


async def test_a_cursor_is_safe_in_a_url(storage: Storage) -> None:
    await storage.put("books", [{"id": uid("a"), "year": -1}, {"id": uid("b")}])
    cursor = (await storage.query("books", Query(order_by="year", limit=1))).next_cursor
    assert cursor is not None
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=")


@pytest.mark.parametrize("order_by", ["owner", "title"])
async def test_only_ids_and_integers_give_an_order(storage: Storage, order_by: str) -> None:
    with pytest.raises(ValueError, match="not ordered"):
        await storage.query("books", Query(order_by=order_by))


async def test_a_cursor_of_another_query_is_refused(storage: Storage) -> None:
    await storage.create_collection(Collection("films", [Field("year", "integer")]))
    await storage.put("books", [{"id": uid("a"), "year": 1}, {"id": uid("b"), "year": 2}])
    cursor = (await storage.query("books", Query(order_by="year", limit=1))).next_cursor
    assert cursor is not None
    for collection, order_by, descending in [
        ("films", "year", False),
        ("books", "id", False),
        ("books", "year", True),
    ]:
        with pytest.raises(InvalidCursor):
            await storage.query(collection, Query(order_by=order_by, descending=descending, cursor=cursor))


async def test_a_malformed_cursor_is_refused(storage: Storage) -> None:
    async def check(cursor: str) -> None:
        with pytest.raises(InvalidCursor):
            await storage.query("books", Query(cursor=cursor))

    await assert_each_awaited(
        ["", "x", "é", "\ud800", "!!!!", "AAAA", "bnVsbA==", "e30=", "W10=", "../..", "a" * 10_000], check
    )


async def test_a_forged_cursor_is_refused(storage: Storage) -> None:
    async def check(forged: JsonValue) -> None:
        cursor = base64.urlsafe_b64encode(json.dumps(forged).encode()).decode()
        with pytest.raises(InvalidCursor):
            await storage.query("books", Query(order_by="year", cursor=cursor))

    await assert_each_awaited(FORGED, check)


async def test_a_cursor_of_deep_nesting_is_refused(storage: Storage) -> None:
    with pytest.raises(InvalidCursor):
        await storage.query("books", Query(cursor=base64.urlsafe_b64encode(b"[" * 50_000).decode()))


async def test_a_page_has_one_to_a_thousand_documents(storage: Storage) -> None:
    async def check(limit: int) -> None:
        with pytest.raises(ValueError, match="limit"):
            await storage.query("books", Query(limit=limit))
        with pytest.raises(ValueError, match="limit"):
            await storage.search("books", "word", [], limit=limit)

    await assert_each_awaited([-1, 0, 1_001], check)


# Searching


@pytest.fixture
async def library(storage: Storage) -> Storage:
    titles = {
        "pride": "Pride and Prejudice",
        "cafe": "Le Café des Résumés",
        "monthly": "Monthly revenue, by region",
        "near": 'NEAR(the "river" OR sea)',
        "brien": "O'Brien's snake_case -- SELECT * FROM orders",
    }
    await storage.put(
        "books", [{"id": uid(name), "owner": name[0], "title": titles[name]} for name in titles]
    )
    await storage.create("books", {"id": uid("blurb"), "owner": "b", "title": "River", "blurb": "of pride"})
    return storage


async def test_all_words_must_occur_the_last_as_a_prefix(library: Storage) -> None:
    async def check(words: str, books: set[str]) -> None:
        assert await found(library, words) == books

    await assert_each_awaited(
        [
            ("prejudice pride", {"pride"}),
            ("PRIDE", {"pride", "blurb"}),
            ("river pride", {"blurb"}),
            ("pride sea", set()),
            ("month", {"monthly"}),
            ("revenue reg", {"monthly"}),
            ("month revenue", set()),
            ("revenue,region", {"monthly"}),
            ("cafe resumes", {"cafe"}),
            ("CAFÉ", {"cafe"}),
            ("cafe\u0301 re\u0301sume\u0301s", {"cafe"}),
            ("snake_case", {"brien"}),
            ("o'brien", {"brien"}),
        ],
        check,
    )


async def test_nothing_in_the_words_is_syntax(library: Storage) -> None:
    async def check(words: str, books: set[str]) -> None:
        assert await found(library, words) == books

    await assert_each_awaited(
        [
            ("AND", {"pride"}),
            ("pride AND", {"pride"}),
            ("pride OR sea", set()),
            ("NOT", set()),
            ("NEAR(", {"near"}),
            ("NEAR(the sea)", {"near"}),
            ('"river', {"near", "blurb"}),
            ('"', set()),
            ("pride*", {"pride", "blurb"}),
            ("prid* prejudice", set()),
            ("title:pride", set()),
            ("{title blurb}", set()),
            ("^pride", {"pride", "blurb"}),
            ("-- SELECT *", {"brien"}),
            ("pride' --", {"pride", "blurb"}),
            ("-pride", {"pride", "blurb"}),
            ("pride\x00\nprejudice", {"pride"}),
        ],
        check,
    )


async def test_no_words_find_nothing(library: Storage) -> None:
    async def check(words: str) -> None:
        assert await found(library, words) == set()

    await assert_each_awaited(["", " \n\t", "*", '""', "()", "_", "-- ||", "\u0301", "🙂"], check)


async def test_a_search_meets_its_conditions_and_limit(library: Storage) -> None:
    assert await found(library, "pride", Equals("owner", "p")) == {"pride"}
    assert await found(library, "pride", Equals("owner", "P")) == set()
    assert len(await library.search("books", "pride", [], limit=1)) == 1
    queries = ["pride", "NEAR", "sea river"]
    one_each = await library.search_ids("books", queries, [], limit=1)
    assert [len(ids) for ids in one_each] == [1, 1, 1]
    assert one_each[1] == one_each[2] == [uid("near")]


async def test_the_better_match_comes_first(storage: Storage) -> None:
    long = "orders among very many other words about something else entirely and at length"
    await storage.put("books", [{"id": uid("a"), "title": long}, {"id": uid("b"), "title": "orders"}])
    assert [name_of(book["id"]) for book in await storage.search("books", "orders", [])] == ["b", "a"]


async def test_a_search_takes_a_thousand_words(library: Storage) -> None:
    assert await found(library, "pride " * 1_000) == {"pride", "blurb"}


@given(words=TEXTS)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_any_text_can_be_searched_for(library: Storage, words: str) -> None:
    await found(library, words)


# Nearness


@pytest.fixture
async def places(storage: Storage) -> Storage:
    """Points on a circle, one a degree, and one without a place."""
    vector = Field("place", "vector", dimensions=2)
    await storage.create_collection(Collection("places", [Field("owner", "keyword"), vector]))
    points: list[Document] = [
        {
            "id": uid(str(degree)),
            "owner": "odd" if degree % 2 else "even",
            "place": [9 * math.cos(math.radians(degree)), 9 * math.sin(math.radians(degree))],
        }
        for degree in range(360)
    ]
    await storage.put("places", [*points, {"id": uid("nowhere"), "owner": "odd"}])
    return storage


async def near(storage: Storage, vector: list[float], *where: Condition, limit: int = 3) -> list[str]:
    found = await storage.nearest("places", "place", vector, where=where, limit=limit)
    return [name_of(each.document_id) for each in found]


async def test_the_nearest_come_first(places: Storage) -> None:
    assert (await near(places, [1.0, 0.001])) == ["0", "1", "359"]
    found = await places.nearest("places", "place", [0.0, 5.0], where=[], limit=2)
    assert [each.cosine for each in found] == pytest.approx([1.0, math.cos(math.radians(1))], abs=1e-5)
    assert (await near(places, [-5, -0.001], limit=1)) == ["180"]


async def test_only_those_that_meet_the_conditions_are_compared(places: Storage) -> None:
    assert await near(places, [1.0, 0.001], Equals("owner", "odd")) == ["1", "359", "3"]
    assert await near(places, [1.0, 0.001], Equals("owner", "ODD")) == []
    assert len(await near(places, [1.0, 0.0], Equals("owner", "odd"), limit=1_000)) == 180


async def test_a_vector_that_was_replaced_or_removed_is_not_found_any_more(places: Storage) -> None:
    await places.patch("places", uid("0"), {"place": None})
    await places.put("places", [{"id": uid("1"), "place": [-1.0, 0.0]}])
    assert await near(places, [1.0, 0.001], limit=2) == ["359", "2"]
    assert (await places.get("places", uid("0"))) == {"id": uid("0"), "owner": "even", "place": None}


async def test_a_vector_is_read_as_it_was_written(places: Storage) -> None:
    async def check(place: list[JsonValue] | None) -> None:
        written: Document = {"id": uid("a"), "place": place, "owner": "odd"}
        await places.put("places", [written])
        assert await places.get("places", uid("a")) == written
        assert (await places.query("places", Query([Equals("id", uid("a"))]))).items == [written]
        changed = await places.patch("places", uid("a"), {"owner": "even"})
        assert changed == await places.get("places", uid("a")) == {**written, "owner": "even"}

    await assert_each_awaited([[0.5, -2.0], [0.1, 1e-12], [0, 3], None], check)


async def test_a_vector_of_other_dimensions_is_refused(places: Storage) -> None:
    async def check(vector: list[float]) -> None:
        with pytest.raises(ValueError, match="dimensions"):
            await near(places, vector)
        with pytest.raises(ValueError, match="declared as"):
            await places.put("places", [{"id": uid("a"), "place": [*vector]}])

    await assert_each_awaited([[], [1.0], [1.0, 2.0, 3.0]], check)


# Collections that are kept together


async def test_collections_that_are_kept_together_do_not_see_each_other(storage: Storage) -> None:
    assert await storage.get("books", uid("a")) is None
    assert await storage.patch("books", uid("a"), {"owner": "o"}) is None
    for where in ([], [Equals("owner", "o")], [Equals("status", None)], [Range("year", at_least=0)]):
        assert (await storage.query("books", Query(where))).items == []
        assert await storage.count("books", where) == 0
    for where in ([Equals("id", uid("a"))], [Equals("owner", "o")], [Range("year", below=9)]):
        assert await storage.delete("books", where) == 0
    assert await storage.search("books", "red", []) == []
    await storage.create("books", {"id": uid("a"), "owner": "o", "year": 1, "title": "A red book"})
    assert await ids(storage) == ["a"]
    assert await found(storage, "red") == {"a"}
    assert await storage.count("papers", [Equals("owner", "o")]) == len(TWINS)
    assert await storage.delete("books", [AnyOf("id", [uid("a"), uid("b")])]) == 1


async def test_pages_of_collections_kept_together_hold_all_of_one(storage: Storage) -> None:
    await storage.put("books", [{"id": uid(f"{number:02}"), "year": number % 3} for number in range(20)])
    for order_by in ("id", "year"):
        seen = await walk(storage, order_by, descending=True, limit=7)
        assert sorted(map(str, seen)) == [f"{number:02}" for number in range(20)]


async def test_documents_are_put_with_a_change_and_only_with_it(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "status": "open"})
    also: list[tuple[str, Document]] = [
        ("books", {"id": uid("b"), "owner": "of a"}),
        ("papers", {**TWINS[0], "owner": "p"}),
    ]
    refused = [Equals("status", "closed")]
    assert await storage.patch("books", uid("a"), {"status": "x"}, where=refused, also=also) is None
    assert await storage.patch("books", uid("none"), {"status": "x"}, also=also) is None
    assert await ids(storage, Equals("owner", "of a")) == []
    assert await storage.get("papers", uid("a")) == TWINS[0]
    changed = await storage.patch("books", uid("a"), {"status": "closed"}, also=also)
    assert changed == {"id": uid("a"), "status": "closed"}
    assert await storage.get("books", uid("a")) == changed
    assert await ids(storage, Equals("owner", "of a")) == ["b"]
    assert (await storage.get("papers", uid("a")) or {})["owner"] == "p"
    await storage.patch("books", uid("a"), {"status": "again"}, also=[("papers", TWINS[0])])
    assert await storage.patch("books", uid("b"), {"owner": "c"}, where=[Equals("owner", "of a")])


async def test_a_change_with_a_document_that_is_refused_is_not_made(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "year": 1})
    wrongs: list[Document] = [{"id": "no uuid"}, {"id": uid("b"), "year": "1"}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"UUID|integer"):
            await storage.patch("books", uid("a"), {"year": 2}, also=[("papers", wrong)])
    assert (await storage.get("books", uid("a")) or {})["year"] == 1


async def test_of_many_changes_one_is_made_and_its_documents_put(storage: Storage) -> None:
    await storage.create("books", {"id": uid("a"), "year": 0})
    made = await asyncio.gather(
        *(
            storage.patch(
                "books",
                uid("a"),
                {"year": number},
                where=[Equals("year", 0)],
                also=[("books", {"id": uid("b"), "year": number})],
            )
            for number in range(1, 9)
        )
    )
    (changed,) = [each for each in made if each is not None]
    assert (await storage.get("books", uid("b")) or {})["year"] == changed["year"]
