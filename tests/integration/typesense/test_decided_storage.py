"""Documents in Typesense whose changes are decided over the bus: one request each, and never in doubt."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID, uuid4

import pytest

from app.core.bus.local import LocalDecisions
from app.core.bus.port import ERASED, BusUnavailable, Decision, Decisions
from app.core.storage.port import (
    ChangeNotWritten,
    Collection,
    Condition,
    Document,
    Equals,
    Field,
    Query,
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
    """A server that is unavailable, or loses its data: with its connections only if it goes back."""

    may_lose = True

    def __init__(self) -> None:
        super().__init__()
        self.unavailable = False
        self.connections = 0

    async def decide(self, document: str, value: str, after: int) -> int | None:
        self._check()
        return await super().decide(document, value, after)

    async def find(self, document: str) -> Decision | None:
        self._check()
        return await super().find(document)

    @property
    def values(self) -> list[str]:
        return [decision.value for decision in self._latest.values()]

    def lose(self) -> None:
        self._latest.clear()

    def go_back(self, to: dict[str, Decision]) -> None:
        self.lose()
        self._latest.update(to)
        self.connections += 1

    def held(self) -> dict[str, Decision]:
        return dict(self._latest)

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


async def test_a_known_document_is_changed_by_one_request_after_its_first_change(
    storage: TypesenseStorage, wire: Wire
) -> None:
    await storage.get("jobs", JOB)
    for owner, requests in (("first", 2), ("second", 1), ("third", 1)):
        wire.requests.clear()
        assert await storage.patch("jobs", JOB, {"owner": owner}) == {"id": JOB, "owner": owner}
        assert len(wire.requests) == requests


async def test_where_no_decision_can_be_lost_the_first_change_is_one_request_too(
    typesense_server: TypesenseServer, prefix: str, storage: TypesenseStorage, wire: Wire
) -> None:
    async with opened(typesense_server, prefix, LocalDecisions(), wire) as alone:
        await alone.get("jobs", JOB)
        wire.requests.clear()
        assert await alone.patch("jobs", JOB, {"owner": "first"}) is not None
        assert len(wire.requests) == 1


async def test_a_change_that_was_decided_and_not_written_is_finished_by_the_next(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    await die_after_deciding(storage, wire, "the dead")
    assert await other.patch("jobs", JOB, {"owner": "late"}, where=FREE) is None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "the dead"}
    assert [each["owner"] for each in (await other.query("jobs", Query())).items] == ["the dead"]


async def test_a_change_that_the_store_has_not_let_decide_is_not_said_to_be_decided(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    wire.refuses = "multi_search"
    with pytest.raises(StorageUnavailable) as refused:
        await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE)
    wire.refuses = None
    assert not isinstance(refused.value, ChangeNotWritten)
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": None}


async def test_a_change_that_is_decided_before_the_store_is_unavailable_is_said_to_be_decided(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    """The first one of a document looks at it before it writes."""
    await storage.get("jobs", JOB)
    wire.refuses = "multi_search"
    with pytest.raises(ChangeNotWritten):
        await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE)
    wire.refuses = None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "one"}


async def test_a_late_write_of_an_earlier_state_is_repaired(
    storage: TypesenseStorage, other: TypesenseStorage, wire: Wire
) -> None:
    wire.requests.clear()
    await storage.patch("jobs", JOB, {"owner": "one"})
    late = next(each for each in wire.requests if "action=update" in str(each.url))
    assert await other.patch("jobs", JOB, {"owner": "two"}) is not None
    await wire.handle_async_request(late)
    assert [each["owner"] for each in (await other.query("jobs", Query())).items] == ["one"]
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "two"}
    assert [each["owner"] for each in (await other.query("jobs", Query())).items] == ["two"]


async def test_without_the_bus_documents_are_read_and_not_changed(
    storage: TypesenseStorage, decisions: FragileDecisions
) -> None:
    decisions.unavailable = True
    assert await storage.get("jobs", JOB) == {"id": JOB, "owner": None}
    with pytest.raises(BusUnavailable):
        await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE)
    decisions.unavailable = False
    assert await storage.patch("jobs", JOB, {"owner": "one"}, where=FREE) is not None


@pytest.mark.parametrize("earlier", [[], ["before"]])
async def test_who_knows_an_earlier_state_changes_nothing_after_all_decisions_are_lost(
    storage: TypesenseStorage, other: TypesenseStorage, decisions: FragileDecisions, earlier: list[str]
) -> None:
    """Also if the state is known from before the first decision."""
    for owner in earlier:
        await other.patch("jobs", JOB, {"owner": owner})
    await storage.get("jobs", JOB)
    for owner in ("other", "another"):
        assert await other.patch("jobs", JOB, {"owner": owner}) is not None
    decisions.lose()
    before = earlier[-1] if earlier else None
    assert await storage.patch("jobs", JOB, {"owner": "stale"}, where=[Equals("owner", before)]) is None
    for each in (storage, other):
        assert await each.get("jobs", JOB) == {"id": JOB, "owner": "another"}
    assert await storage.patch("jobs", JOB, {"owner": "next"}, where=[Equals("owner", "another")]) is not None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "next"}


async def test_who_knows_the_state_that_the_bus_has_gone_back_to_changes_nothing(
    storage: TypesenseStorage, other: TypesenseStorage, decisions: FragileDecisions
) -> None:
    await other.patch("jobs", JOB, {"owner": "early"})
    await storage.get("jobs", JOB)
    early = decisions.held()
    assert await other.patch("jobs", JOB, {"owner": "other"}) is not None
    decisions.go_back(early)
    assert await storage.patch("jobs", JOB, {"owner": "stale"}, where=[Equals("owner", "early")]) is None
    assert await storage.patch("jobs", JOB, {"owner": "next"}, where=[Equals("owner", "other")]) is not None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "next"}


async def test_decisions_that_are_lost_as_their_documents_are_written_are_no_loss(
    storage: TypesenseStorage, other: TypesenseStorage, decisions: FragileDecisions
) -> None:
    for number in range(3):
        assert await storage.patch("jobs", JOB, {"owner": f"one {number}"}) is not None
        decisions.lose()
        assert await other.patch("jobs", JOB, {"owner": f"other {number}"}) is not None
        decisions.lose()
    assert await storage.get("jobs", JOB) == {"id": JOB, "owner": "other 2"}


async def test_of_two_changes_of_one_state_the_one_that_the_bus_has_lost_is_undone(
    typesense_server: TypesenseServer, prefix: str, storage: TypesenseStorage, wire: Wire
) -> None:
    """The first one writes its document after the second one has, and finds that it does not stand."""
    decisions = FragileDecisions()
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(opened(typesense_server, prefix, decisions, each))
            for each in (wire, None)
        ]
        await one.patch("jobs", JOB, {"note": "a decision before, so the next is written at once"})
        decided = decisions.decide

        async def lose(document: str, value: str, after: int) -> int | None:
            decisions.decide = decided  # type: ignore[method-assign]
            number = await decided(document, value, after)
            decisions.lose()
            assert await other.patch("jobs", JOB, {"owner": "other"}, where=FREE) is not None
            return number

        decisions.decide = lose  # type: ignore[method-assign]
        with pytest.raises(BusUnavailable):
            await one.patch("jobs", JOB, {"owner": "lost"}, where=FREE)
        for each in (one, other):
            found = await each.get("jobs", JOB)
            assert found is not None
            assert found["owner"] == "other"


async def test_a_document_that_is_put_is_not_set_back_to_an_earlier_decision(
    storage: TypesenseStorage, other: TypesenseStorage
) -> None:
    assert await storage.patch("jobs", JOB, {"owner": "one"}) is not None
    await other.put("jobs", [{"id": JOB, "owner": "put"}])
    assert await storage.get("jobs", JOB) == {"id": JOB, "owner": "put"}
    assert await storage.patch("jobs", JOB, {"owner": "two"}, where=[Equals("owner", "put")]) is not None
    assert await other.get("jobs", JOB) == {"id": JOB, "owner": "two"}


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


async def test_a_change_decided_after_its_document_was_deleted_leaves_no_word(
    storage: TypesenseStorage, other: TypesenseStorage, decisions: FragileDecisions
) -> None:
    """Nothing was decided before, so the deletion had nothing to erase, and the decision is made."""
    await other.get("jobs", JOB)
    await storage.delete("jobs", [Equals("id", JOB)])
    assert await other.patch("jobs", JOB, {"owner": "the words"}, where=FREE) is None
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
