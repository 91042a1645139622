"""Records of a class in every store."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, replace

import pytest

from app.core.ids import new_id
from app.core.storage.documents import Documents, all_documents
from app.core.storage.port import Collection, Document, DocumentExists, Equals, Field, Query, Storage
from tests.support.stores import ADAPTERS

NOTES = Collection("notes", [Field("owner", "keyword"), Field("at", "integer"), Field("title", "text")])


@dataclass(frozen=True, kw_only=True)
class Note:
    id: str
    owner: str
    at: int
    title: str
    tags: tuple[str, ...] = ()


@pytest.fixture(params=["sqlite", "typesense"])
async def storage(request: pytest.FixtureRequest) -> AsyncIterator[Storage]:
    async with ADAPTERS[request.param](request)() as opened:
        await opened.create_collection(NOTES)
        yield opened


@pytest.fixture
def notes(storage: Storage) -> Documents[Note]:
    return Documents(storage, "notes", Note)


def note(at: int, owner: str = "ann", title: str = "A note") -> Note:
    return Note(id=new_id(), owner=owner, at=at, title=title, tags=("a", "b"))


async def test_a_record_is_read_as_it_was_written(notes: Documents[Note]) -> None:
    kept = note(1)
    await notes.create(kept)
    assert await notes.get(kept.id) == kept
    assert await notes.get(new_id()) is None
    with pytest.raises(DocumentExists):
        await notes.create(kept)


async def test_a_record_is_added_once(notes: Documents[Note]) -> None:
    kept = note(1)
    assert await notes.add(kept)
    assert not await notes.add(replace(kept, at=2))
    await notes.add_missing([replace(kept, at=3), other := note(4)])
    assert [await notes.get(kept.id), await notes.get(other.id)] == [kept, other]


async def test_a_change_is_made_where_the_record_meets_the_conditions(notes: Documents[Note]) -> None:
    kept = note(1)
    await notes.put(kept)
    assert await notes.change(kept.id, {"at": 2}, [Equals("at", 1)]) == replace(kept, at=2)
    assert await notes.change(kept.id, {"at": 3}, [Equals("at", 1)]) is None
    assert await notes.change(new_id(), {"at": 3}) is None


async def test_a_record_is_replaced_whole_and_never_made(notes: Documents[Note]) -> None:
    kept = note(1)
    await notes.put(kept)
    later = replace(kept, at=2, title="Another", tags=())
    assert await notes.replace(later, [Equals("at", 1)])
    assert not await notes.replace(kept, [Equals("at", 1)])
    assert await notes.get(kept.id) == later
    assert not await notes.replace(note(3))
    assert await notes.count() == 1


async def test_pages_follow_each_other_and_all_reads_every_one(
    storage: Storage, notes: Documents[Note]
) -> None:
    kept = [note(at) for at in range(5)]
    await notes.put(*kept, note(9, owner="bob"))
    query = Query([Equals("owner", "ann")], order_by="at", descending=True, limit=2)
    first, cursor = await notes.page(query)
    second, _ = await notes.page(replace(query, cursor=cursor))
    assert [each.at for each in (*first, *second)] == [4, 3, 2, 1]
    assert await notes.first(query) == first
    assert [each async for each in notes.all(query)] == kept[::-1]
    documents = [each async for each in all_documents(storage, "notes", query)]
    assert [each["id"] for each in documents] == [each.id for each in reversed(kept)]


async def test_records_are_counted_searched_and_deleted_by_conditions(notes: Documents[Note]) -> None:
    red = note(1, title="A red note")
    await notes.put(red, note(2, title="A blue note"), note(3, owner="bob", title="A red note"))
    own = Equals("owner", "ann")
    assert await notes.count(own) == 2
    assert await notes.search("red", [own], limit=5) == [red]
    assert await notes.delete(own) == 2
    assert await notes.count() == 1


async def test_a_document_of_an_earlier_release_is_read_as_one_of_today(storage: Storage) -> None:
    def upgrade(document: Document) -> Mapping[str, object]:
        return {"title": "Untitled", **document}

    kept = note(1)
    early = {name: value for name, value in asdict(kept).items() if name != "title"}
    await storage.put("notes", [early])
    notes = Documents(storage, "notes", Note, upgrade=upgrade)
    assert await notes.get(kept.id) == replace(kept, title="Untitled")
    assert await notes.first(Query()) == [replace(kept, title="Untitled")]
