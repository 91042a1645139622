"""Recall of facts on every store: what is found, for whom, and what a failing part costs."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.settings import MemorySettings
from app.core.storage.port import Document, Storage
from app.core.storage.sqlite import open_sqlite
from app.modules.database_connection.model import Connection
from app.modules.memory.fact_choice import FactLimits
from app.modules.memory.facts import Facts
from app.modules.memory.model import FactKind, NewFact, StoredFact
from app.modules.memory.recall import FactRecall, FactsQuestion, OutsideRecall, _Found
from app.modules.memory.scope_choice import AUTO, ScopeSetting
from app.modules.memory.scopes import GroupId, Scope
from tests.integration.test_language_models import PATIENT
from tests.support.facts import connection_of, connections_over, facts_over, source
from tests.support.faulty_storage import Fault, FaultyStorage
from tests.support.loop_time import LoopTime
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model

LIMIT = MemorySettings().recall_ms / 1_000
"""Seconds that an answer waits for facts."""
LATE = 40
"""Seconds after which a test has certainly waited for more than the limit."""
SESSION = new_id()


@dataclass(frozen=True)
class Names:
    """A catalogue with a table and a column."""

    is_named: bool = True
    tables_before: Sequence[str] = ()

    def has_name(self, name: str) -> bool:
        return name in ("orders", "orders.total")


class WatchedRecall(FactRecall):
    """Shows which parts it waits for."""

    found = _Found()

    async def _collect(self, asked: FactsQuestion, found: _Found) -> None:
        self.found = found
        await super()._collect(asked, found)

    def waits_for(self, parts: Collection[str]) -> bool:
        return set(self.found.under_way) == set(parts)


@dataclass
class Shop:
    """Facts about one connection, and what recalls them."""

    storage: Storage
    connection: Connection
    embedding: EmbeddingModel | None = None

    def facts(self, storage: Storage | None = None) -> Facts:
        async def find(owner: str, session_id: str) -> str | None:
            return self.connection.id

        store = storage or self.storage
        return facts_over(store, find_session=find, embedding=self.embedding)

    async def keep(
        self,
        text: str,
        owner: str = "ann",
        *,
        scope: Scope = "workspace",
        kind: FactKind = "terminology",
        about: Sequence[str] = (),
    ) -> StoredFact:
        new = NewFact(
            owner=owner,
            scope=scope,
            kind=kind,
            text=text,
            source=source(session_id=SESSION),
            about=tuple(about),
            connection_id=None if scope == "user" else self.connection.id,
        )
        return (await self.facts().keep(new)).fact

    def recall(
        self,
        storage: Storage | None = None,
        *,
        seconds: float = LATE,
        scopes: ScopeSetting = AUTO,
        metrics: CollectorRegistry | None = None,
        outside: OutsideRecall | None = None,
    ) -> WatchedRecall:
        return WatchedRecall(
            self.facts(storage),
            self.embedding,
            scopes=scopes,
            limits=FactLimits(),
            seconds=seconds,
            metrics=metrics or CollectorRegistry(),
            outside=outside,
        )

    async def texts(
        self,
        question: str,
        owner: str = "ann",
        *,
        recall: FactRecall | None = None,
        earlier: Sequence[str] = (),
        names: Names = Names(),
        connection_id: str | None = None,
    ) -> list[str]:
        recall = recall or self.recall()

        async def read_catalogue() -> Names:
            return names

        asked = FactsQuestion(
            reach=recall.reach_of(owner, SESSION, connection_id or self.connection.id),
            question=question,
            earlier=earlier,
            read_catalogue=read_catalogue,
        )
        return [fact.text for fact in await in_time(recall.recall(asked))]


async def in_time(recalled: Awaitable[list[StoredFact]]) -> list[StoredFact]:
    async with asyncio.timeout(LATE / 2):
        return await recalled


@pytest.fixture
async def shop(storage_of_each_kind: Storage) -> Shop:
    return await shop_in(storage_of_each_kind)


@pytest.fixture
async def local_shop(ready_file: Path, tmp_path: Path) -> AsyncIterator[Shop]:
    """A shop whose store fails as a test says: it does not matter which store that is."""
    async with open_sqlite(Path(shutil.copy(ready_file, tmp_path / "local.db"))) as storage:
        yield await shop_in(storage)


async def shop_in(storage: Storage) -> Shop:
    connection = connection_of("ann", shared=True)
    await connections_over(storage).repository.save(connection)
    return Shop(storage, connection)


@pytest.fixture
async def loop_time(monkeypatch: pytest.MonkeyPatch) -> LoopTime:
    return LoopTime(monkeypatch)


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def embedding(service: ScriptedModel) -> AsyncIterator[EmbeddingModel]:
    settings = replace(PATIENT, model="trigrams-64", base_url=service.base_url, max_retries=0)
    made = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    await made.embed(["Its client is imported with the first request, which takes a while."])
    yield made
    await made.close()


async def test_facts_of_a_word_are_found_in_the_order_of_scopes(shop: Shop) -> None:
    await shop.keep("Churn counts from the last order", scope="user", kind="preference")
    await shop.keep("churn means no order for 90 days")
    await shop.keep("Churn leaves out test accounts", scope="shared", kind="decision")
    await shop.keep("Today churn is by month", scope="session", kind="procedure")
    await shop.keep("revenue is net of refunds", kind="lesson_learned")
    assert await shop.texts("How many customers churned, as I like it?") == [
        "Today churn is by month",
        "churn means no order for 90 days",
        "Churn leaves out test accounts",
        "Churn counts from the last order",
    ]


async def test_a_follow_up_finds_facts_by_the_questions_and_tables_before_it(shop: Shop) -> None:
    await shop.keep("churn means no order for 90 days")
    await shop.keep("In invoices, zero is a draft", kind="lesson_learned")
    assert await shop.texts("And in Norway?") == []
    assert await shop.texts("And in Norway?", earlier=["Who churned?", "And in Spain?"]) == [
        "churn means no order for 90 days"
    ]
    assert await shop.texts("And in Norway?", names=Names(tables_before=["invoices"])) == [
        "In invoices, zero is a draft"
    ]


async def test_owners_whose_names_differ_a_little_never_read_each_others_facts(shop: Shop) -> None:
    owners = ["ann", "Ann", "ànn", "a.nn", "ann ", "ann@example.com", "ANN@EXAMPLE.COM"]
    scopes: tuple[Scope, ...] = ("session", "workspace", "user")
    for owner in owners:
        for scope in scopes:
            await shop.keep(f"churn of {owner!r} in {scope}", owner, scope=scope, kind="decision")
    for owner in owners:
        own = [f"churn of {owner!r} in {scope}" for scope in scopes]
        assert await shop.texts("Our churn, as I like it", owner) == own


async def test_facts_of_another_connection_and_session_are_not_found(shop: Shop) -> None:
    await shop.keep("churn means no order for 90 days")
    await shop.keep("Churn is shared", scope="shared", kind="decision")
    assert await shop.texts("Our churn", connection_id=new_id()) == []


async def test_a_fact_about_a_name_that_is_gone_is_left_out_until_it_is_back(shop: Shop) -> None:
    await shop.keep("churn needs the discount", kind="decision", about=["orders.discount"])
    await shop.keep("churn needs the total", kind="decision", about=["orders", "orders.total"])
    assert await shop.texts("Our churn") == ["churn needs the total"]

    class More(Names):
        def has_name(self, name: str) -> bool:
            return name.startswith("orders")

    assert len(await shop.texts("Our churn", names=More())) == 2


async def test_a_superseded_and_a_forgotten_fact_are_not_found(shop: Shop) -> None:
    fact = await shop.keep("churn means no order for 90 days")
    await shop.facts().supersede("ann", fact.id, "churn means no order for 60 days", source=source())
    assert await shop.texts("Who churned?") == ["churn means no order for 60 days"]
    gone = await shop.keep("Churn is bad", kind="decision")
    await shop.facts().forget("ann", gone.id)
    assert await shop.texts("Who churned?") == ["churn means no order for 60 days"]


async def test_how_a_session_wants_its_answers_is_found_without_a_shared_word(shop: Shop) -> None:
    await shop.keep("Amounts in thousands", scope="session", kind="preference")
    await shop.keep("net means after refunds", scope="session")
    assert await shop.texts("Best sellers?") == ["Amounts in thousands"]


async def test_a_question_that_speaks_of_the_person_finds_what_the_person_wants(shop: Shop) -> None:
    await shop.keep("Percentages without decimals", scope="user", kind="preference")
    assert await shop.texts("Best sellers") == []
    assert await shop.texts("Best sellers as I like it") == ["Percentages without decimals"]


async def test_a_defined_term_names_the_data_and_nothing_else_does(shop: Shop) -> None:
    await shop.keep("Active users are those of May")
    await shop.keep("Veterans count twice", kind="procedure")
    unnamed = Names(is_named=False)
    assert await shop.texts("Active users?", names=unnamed) == ["Active users are those of May"]
    assert await shop.texts("Users in May", names=unnamed) == []
    assert await shop.texts("Veterans?", names=unnamed) == []


async def test_a_list_of_scopes_counts_instead_of_words(shop: Shop) -> None:
    await shop.keep("Percentages without decimals", scope="user", kind="preference")
    await shop.keep("churn means no order for 90 days")
    recall = shop.recall(scopes=["user"])
    assert await shop.texts("Our churn", recall=recall) == ["Percentages without decimals"]


async def test_a_fact_is_found_by_meaning_beside_words(shop: Shop, embedding: EmbeddingModel) -> None:
    shop.embedding = embedding
    await shop.keep("Procurement excludes tests", kind="decision")
    await shop.keep("Weather matters", kind="decision")
    found = await shop.texts("xprocurementx")
    assert found[0] == "Procurement excludes tests"
    assert len(found) == 2


@pytest.mark.parametrize("fault", ["never ends", "cannot be cancelled", "fails"])
@pytest.mark.parametrize(
    ("operation", "stuck", "texts"),
    [
        ("query", ["groups"], []),
        ("search_ids", ["words"], ["churn means no order for 90 days"]),
        ("nearest", ["vectors"], ["churn means no order for 90 days"]),
    ],
)
async def test_a_failing_part_costs_its_facts_and_no_more_time_than_the_limit(
    local_shop: Shop,
    embedding: EmbeddingModel,
    loop_time: LoopTime,
    *,
    operation: str,
    stuck: Sequence[str],
    texts: Sequence[str],
    fault: Fault,
) -> None:
    local_shop.embedding = embedding
    await local_shop.keep("churn means no order for 90 days")
    faulty = FaultyStorage(local_shop.storage, fault, operation)
    metrics = CollectorRegistry()
    recall = local_shop.recall(faulty, seconds=LIMIT, metrics=metrics)
    recalling = asyncio.create_task(local_shop.texts("Who churned?", recall=recall))
    if fault != "fails":
        await loop_time.reach(lambda: recall.waits_for(stuck))
        await loop_time.pass_limit(recalling, LIMIT)
    assert await recalling == texts
    samples = [each for metric in metrics.collect() for each in metric.samples]
    reasons = {each.labels["reason"] for each in samples if each.name.endswith("left_out_total")}
    assert ("failed" if fault == "fails" else "late") in reasons
    faulty.released.set()


def test_an_answer_waits_for_facts_for_less_than_800_milliseconds() -> None:
    assert LIMIT <= 0.75


async def test_a_store_that_lies_shows_nothing_of_others(local_shop: Shop) -> None:
    other = await local_shop.keep("churn of bob", "bob", kind="decision")
    await local_shop.keep("churn means no order for 90 days")
    lie: list[Document] = [{**asdict(other), "about": []}, {"id": new_id(), "text": 7}]
    for lies in (lie[:1], lie):
        faulty = FaultyStorage(local_shop.storage, "lies", "query", "search_ids", lie=lies)
        assert await local_shop.texts("Our churn, as I like it", recall=local_shop.recall(faulty)) == []


@pytest.mark.parametrize(
    "reply",
    [
        Scripted(delay_seconds=LATE),
        Scripted(status=503),
        Scripted(text='{"data": [{"index": 0, "embedding": ["a"]}]}'),
        Scripted(text='{"object": "list", "data": [{"index": 0, "embedding": [0.1, 0.2, 0.3]}]}'),
    ],
    ids=["slow", "dead", "of words", "too short"],
)
async def test_without_the_embedding_model_words_do(
    local_shop: Shop,
    embedding: EmbeddingModel,
    service: ScriptedModel,
    *,
    loop_time: LoopTime,
    reply: Scripted,
) -> None:
    local_shop.embedding = embedding
    await local_shop.keep("churn means no order for 90 days")
    service.embedding = reply
    recall = local_shop.recall(seconds=LIMIT)
    recalling = asyncio.create_task(local_shop.texts("Who churned?", recall=recall))
    if reply.delay_seconds:
        await loop_time.reach(lambda: recall.waits_for(["embedding"]))
        await loop_time.pass_limit(recalling, LIMIT)
    assert await recalling == ["churn means no order for 90 days"]


async def test_a_catalogue_that_is_slow_costs_the_facts_and_no_more_time_than_the_limit(
    local_shop: Shop, loop_time: LoopTime
) -> None:
    await local_shop.keep("churn means no order for 90 days")
    recall = local_shop.recall(seconds=LIMIT)

    async def never() -> Names:
        await asyncio.Event().wait()
        raise AssertionError

    reach = recall.reach_of("ann", SESSION, local_shop.connection.id)
    asked = FactsQuestion(reach=reach, question="Our churn", read_catalogue=never)
    recalling = asyncio.create_task(recall.recall(asked))
    await loop_time.reach(lambda: recall.waits_for(["catalogue"]))
    await loop_time.pass_limit(recalling, LIMIT)
    assert await recalling == []


async def test_a_catalogue_that_fails_costs_the_facts_alone(local_shop: Shop) -> None:
    await local_shop.keep("churn means no order for 90 days")
    recall = local_shop.recall()

    async def fail() -> Names:
        raise ValueError("scripted")

    reach = recall.reach_of("ann", SESSION, local_shop.connection.id)
    assert await recall.recall(FactsQuestion(reach=reach, question="Our churn", read_catalogue=fail)) == []


async def test_facts_are_read_again_by_their_ids_unless_they_are_forgotten(
    local_shop: Shop, loop_time: LoopTime
) -> None:
    kept = await local_shop.keep("churn means no order for 90 days")
    others = await local_shop.keep("churn of bob", "bob")
    gone = await local_shop.keep("Churn is bad", kind="decision")
    await local_shop.facts().forget("ann", gone.id)
    recall = local_shop.recall()
    reach = recall.reach_of("ann", SESSION, local_shop.connection.id)
    assert await recall.read(reach, [kept.id, others.id, gone.id]) == [kept]
    faulty = FaultyStorage(local_shop.storage, "never ends", "query")
    reading = asyncio.create_task(local_shop.recall(faulty, seconds=LIMIT).read(reach, [kept.id]))
    await faulty.reached.wait()
    await loop_time.pass_limit(reading, LIMIT)
    assert await reading == []


@dataclass
class Outside:
    """A memory outside, which may never answer."""

    texts: Sequence[str] = ()
    is_stuck: bool = False

    async def search(
        self, owner: str, connection_id: str, groups: Sequence[GroupId], *, query: str, max_facts: int
    ) -> Sequence[tuple[GroupId, str]]:
        if self.is_stuck:
            await asyncio.Event().wait()
        return [(group, text) for group in groups for text in self.texts][:max_facts]


async def test_what_a_memory_outside_knows_comes_after_facts_of_the_same_scope(shop: Shop) -> None:
    await shop.keep("ARR is twelve times MRR.")
    recall = shop.recall(scopes=["workspace"], outside=Outside(["ARR was discussed in May."]))
    found = await shop.texts("What is the ARR?", recall=recall)
    assert found == ["ARR is twelve times MRR.", "ARR was discussed in May."]
    alone = shop.recall(scopes=["workspace"], outside=Outside(["Bob knows."]))
    assert await shop.texts("What is the ARR?", "bob", recall=alone) == ["Bob knows."]


async def test_a_memory_outside_that_never_answers_takes_no_fact_away(
    local_shop: Shop, loop_time: LoopTime
) -> None:
    await local_shop.keep("ARR is twelve times MRR.")
    recall = local_shop.recall(seconds=LIMIT, scopes=["workspace"], outside=Outside(is_stuck=True))
    recalling = asyncio.create_task(local_shop.texts("What is the ARR?", recall=recall))
    await loop_time.reach(lambda: recall.waits_for(["outside"]))
    await loop_time.pass_limit(recalling, LIMIT)
    assert await recalling == ["ARR is twelve times MRR."]
