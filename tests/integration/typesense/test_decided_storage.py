"""Documents in Typesense whose changes are decided over the bus: one request each, and never in doubt."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID, uuid4

import pytest

from app.core.bus import local
from app.core.bus.local import LocalDecisions
from app.core.bus.port import ERASED, BusUnavailable, Decisions
from app.core.bus.remembered_decisions import RememberedDecisions
from app.core.storage import typesense_successors
from app.core.storage.port import (
    ChangeNotWritten,
    Collection,
    Condition,
    Document,
    Equals,
    Field,
    StorageUnavailable,
)
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_server import TypesenseServer
from tests.support.traces import traces_in_typesense
from tests.support.typesense import Wire, client_of

JOBS = Collection("jobs", [Field("owner", "keyword")])
JOB = str(UUID(int=1))
FREE: Sequence[Condition] = [Equals("owner", None)]


class FragileDecisions(LocalDecisions):
    """A server that is unavailable, or loses its data together with all connections."""

    def __init__(self) -> None:
        super().__init__()
        self.unavailable = False
        self.epoch = 0

    async def decide(self, key: str, value: str) -> bool:
        self._check()
        return await super().decide(key, value)

    async def find(self, key: str) -> str | None:
        self._check()
        return await super().find(key)

    @property
    def values(self) -> list[str]:
        return [value for _, value in self._decided.values()]

    def lose(self) -> None:
        self._decided.clear()
        self.epoch += 1

    def _check(self) -> None:
        if self.unavailable:
            raise BusUnavailable("unavailable")


@pytest.fixture
def decisions() -> FragileDecisions:
    return FragileDecisions()


@pytest.fixture
def prefix() -> str:
    return f"t{uuid4().hex}_"


@asynccontextmanager
async def opened(
    server: TypesenseServer, prefix: str, decisions: Decisions, wire: Wire | None = None
) -> AsyncGenerator[TypesenseStorage]:
    async with client_of(server, wire) as client:
        storage = TypesenseStorage(client, prefix, decisions, decided=["jobs"])
        await storage.open()
        await storage.create_collection(JOBS)
        yield storage


@pytest.fixture
async def storage(
    typesense_server: TypesenseServer, prefix: str, decisions: FragileDecisions, wire: Wire
) -> AsyncGenerator[TypesenseStorage]:
    async with opened(typesense_server, prefix, decisions, wire) as storage:
        await storage.create("jobs", {"id": JOB, "owner": None})
        yield storage


@pytest.fixture
async def other(
    typesense_server: TypesenseServer, prefix: str, decisions: FragileDecisions, storage: TypesenseStorage
) -> AsyncGenerator[TypesenseStorage]:
    async with opened(typesense_server, prefix, decisions) as other:
        yield other


async def die_after_deciding(storage: TypesenseStorage, wire: Wire, owner: str) -> None:
    wire.refuses = "action=update"
    with pytest.raises(ChangeNotWritten):
        await storage.patch("jobs", JOB, {"owner": owner}, where=FREE)
    wire.refuses = None


async def test_a_known_document_is_changed_by_one_request(storage: TypesenseStorage, wire: Wire) -> None:
    await storage.get("jobs", JOB)
    for owner in ("one", "two"):
        wire.requests.clear()
        assert await storage.patch("jobs", JOB, {"owner": owner}) == {"id": JOB, "owner": owner}
        assert len(wire.requests) == 1


async def test_a_change_that_was_decided_and_not_written_is_finished_by_the_next(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    await die_after_deciding(storage, wire, "the dead")
    assert await other.patch("jobs", JOB, {"owner": "late"}, where=FREE) is None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "the dead"}
    assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["the dead"]


async def test_a_change_that_the_store_has_not_let_decide_is_not_said_to_be_decided(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    wire.refuses = "multi_search"
    with pytest.raises(StorageUnavailable) as refused:
        await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE)
    wire.refuses = None
    assert not isinstance(refused.value, ChangeNotWritten)
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": None}


async def test_a_late_write_of_an_earlier_state_is_repaired(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    wire.requests.clear()
    await storage.patch("jobs", JOB, {"owner": "one"})
    late = next(each for each in wire.requests if "action=update" in str(each.url))
    assert await other.patch("jobs", JOB, {"owner": "two"}) is not None
    await wire.handle_async_request(late)
    assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["one"]
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "two"}
    assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["two"]


async def test_old_decisions_are_dropped_once_their_documents_are_written(
    storage: TypesenseStorage,
    other: TypesenseStorage,
    wire: Wire,
    decisions: FragileDecisions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await storage.patch("jobs", JOB, {"owner": None})
    await die_after_deciding(storage, wire, "the dead")
    await other.sweep_decisions()
    assert len(decisions._decided) == 2
    monkeypatch.setattr(local, "DECIDED_SECONDS", 0)
    await other.sweep_decisions()
    assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["the dead"]
    assert len(decisions._decided) == 2  # another process may have read a state before them just now
    monkeypatch.setattr(typesense_successors, "LONGEST_TRY_SECONDS", 0)
    await other.sweep_decisions()
    assert not decisions._decided


async def test_old_decisions_stay_while_their_documents_cannot_be_written(
    storage: TypesenseStorage, wire: Wire, decisions: FragileDecisions, monkeypatch: pytest.MonkeyPatch
) -> None:
    await die_after_deciding(storage, wire, "the dead")
    monkeypatch.setattr(local, "DECIDED_SECONDS", 0)
    wire.refuses = "action=update"
    with pytest.raises(StorageUnavailable):
        await storage.sweep_decisions()
    assert len(decisions._decided) == 1


async def test_decisions_of_deleted_documents_are_dropped(
    storage: TypesenseStorage, decisions: FragileDecisions, monkeypatch: pytest.MonkeyPatch
) -> None:
    await storage.patch("jobs", JOB, {"owner": "one"})
    await storage.delete("jobs", [Equals("id", JOB)])
    monkeypatch.setattr(local, "DECIDED_SECONDS", 0)
    monkeypatch.setattr(typesense_successors, "LONGEST_TRY_SECONDS", 0)
    await storage.sweep_decisions()
    assert not decisions._decided
    assert await storage.patch("jobs", JOB, {"owner": "two"}) is None


async def test_without_the_bus_documents_are_read_and_not_changed(
    storage: TypesenseStorage, decisions: FragileDecisions
) -> None:
    decisions.unavailable = True
    assert await storage.get("jobs", JOB) == {"id": JOB, "owner": None}
    with pytest.raises(BusUnavailable):
        await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE)
    decisions.unavailable = False
    assert await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE) is not None


async def test_a_document_is_read_again_after_the_bus_may_have_lost_its_changes(
    storage: TypesenseStorage, other: TypesenseStorage, decisions: FragileDecisions
) -> None:
    await storage.get("jobs", JOB)
    assert await other.patch("jobs", JOB, {"owner": "other"}, where=FREE) is not None
    decisions.lose()
    assert await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE) is None


async def test_what_was_decided_as_the_bus_lost_its_data_is_not_called_done(
    typesense_server: TypesenseServer, prefix: str, storage: TypesenseStorage
) -> None:
    class Losing(FragileDecisions):
        async def decide(self, key: str, value: str) -> bool:
            is_first = await super().decide(key, value)
            self.lose()
            return is_first

    async with opened(typesense_server, prefix, Losing()) as losing:
        with pytest.raises(BusUnavailable):
            await losing.patch("jobs", JOB, {"owner": "lost"}, where=FREE)
    assert await storage.get("jobs", JOB) == {"id": JOB, "owner": None}


async def test_decisions_that_the_bus_has_lost_are_made_again_by_those_who_know_them(
    typesense_server: TypesenseServer, prefix: str, wire: Wire, storage: TypesenseStorage
) -> None:
    decisions = FragileDecisions()
    async with AsyncExitStack() as stack:
        one, other, third = [
            await stack.enter_async_context(
                opened(typesense_server, prefix, RememberedDecisions(decisions), each)
            )
            for each in (wire, None, None)
        ]
        await die_after_deciding(one, wire, "one")
        decisions.lose()
        assert await one.get("jobs", JOB) == {"id": JOB, "owner": "one"}  # it has made its decision again
        decisions.lose()
        assert await other.patch("jobs", JOB, {"owner": "late"}, where=FREE) is None
        assert await third.get("jobs", JOB) == {"id": JOB, "owner": "one"}


async def test_a_late_write_of_a_lost_decision_is_repaired_by_the_one_in_its_place(
    typesense_server: TypesenseServer, prefix: str, wire: Wire, storage: TypesenseStorage
) -> None:
    decisions = FragileDecisions()
    remembered = RememberedDecisions(decisions)
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(opened(typesense_server, prefix, each, on))
            for each, on in ((remembered, wire), (RememberedDecisions(decisions), None))
        ]
        wire.requests.clear()
        await die_after_deciding(one, wire, "lost")
        late = next(each for each in wire.requests if "action=update" in str(each.url))
        decisions.lose()
        assert await other.patch("jobs", JOB, {"owner": "other"}, where=FREE) is not None
        await remembered.restore()
        await wire.handle_async_request(late)
        assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["lost"]
        assert await other.get("jobs", JOB) == {"id": JOB, "owner": "other"}
        assert [each["owner"] for each in (await other.query("jobs", [])).items] == ["other"]


async def test_a_late_change_of_a_deleted_document_does_not_bring_it_back(
    storage: TypesenseStorage, other: TypesenseStorage
) -> None:
    """The other process knows an earlier state, and would store the document with the change."""
    await other.get("jobs", JOB)
    assert await storage.patch("jobs", JOB, {"owner": "the words"}, where=FREE) is not None
    await storage.delete("jobs", [Equals("owner", "the words")])
    beside: tuple[str, Document] = ("jobs", {"id": str(UUID(int=2)), "owner": None})
    assert await other.patch("jobs", JOB, {"owner": "late"}, where=FREE, also=[beside]) is None
    assert await other.get("jobs", JOB) is None


async def test_of_a_deleted_document_no_decision_holds_a_word(
    storage: TypesenseStorage, decisions: FragileDecisions
) -> None:
    assert await storage.patch("jobs", JOB, {"owner": "the words"}, where=FREE) is not None
    await storage.delete("jobs", [Equals("owner", "the words")])
    assert decisions.values == [ERASED]


async def test_a_deleted_document_that_a_late_write_has_stored_again_is_not_read(
    storage: TypesenseStorage, other: TypesenseStorage
) -> None:
    found = await storage.get("jobs", JOB)
    assert found is not None
    assert await storage.patch("jobs", JOB, {"owner": "the words"}, where=FREE) is not None
    await storage.delete("jobs", [Equals("id", JOB)])
    await other.create("jobs", found)  # the state of its creation, as a late request has it
    assert await other.get("jobs", JOB) is None
    await other.delete("jobs", [Equals("id", JOB)])


async def test_of_a_deleted_document_no_successor_holds_a_word(
    typesense_server: TypesenseServer, prefix: str
) -> None:
    async with client_of(typesense_server) as client:
        storage = TypesenseStorage(client, prefix)
        await storage.open()
        await storage.create_collection(JOBS)
        await storage.create("jobs", {"id": JOB, "owner": "zebramarker"})
        assert await storage.patch("jobs", JOB, {"note": "zebramarker"}) is not None
        assert set(await traces_in_typesense(typesense_server, prefix, "zebramarker")) == {"jobs", "patches0"}
        await storage.delete("jobs", [Equals("owner", "zebramarker")])
    assert not await traces_in_typesense(typesense_server, prefix, "zebramarker")
