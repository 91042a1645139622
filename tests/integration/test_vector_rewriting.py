"""Another embedding model on every store: words meanwhile, then vectors of the new model, some a minute."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.llm.calls import ModelCalls, uncharged
from app.core.llm.embedding import EmbeddingModel
from app.core.storage.port import Storage
from app.modules.memory.facts import Facts
from app.modules.memory.model import ConversationMemory, NewFact, StoredFact
from app.modules.memory.service import ConversationMemories
from app.modules.memory.vector_rewriting import MOST_A_MINUTE, VectorRewriting
from tests.integration.test_language_models import PATIENT
from tests.support.facts import facts_over, source
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.trigrams import vector_of

TEXT = "Procurement is looked into on Fridays"
MINUTE_MS = 60_000


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


Embedding = Callable[[int], EmbeddingModel]


@pytest.fixture
async def embedding(service: ScriptedModel) -> AsyncIterator[Embedding]:
    """Makes an embedding model whose vectors have that length."""
    made: list[EmbeddingModel] = []

    def make(dimensions: int) -> EmbeddingModel:
        settings = replace(PATIENT, model=f"trigrams-{dimensions}", base_url=service.base_url, max_retries=0)
        made.append(EmbeddingModel(settings, ModelCalls(CollectorRegistry())))
        return made[-1]

    yield make
    for each in made:
        await each.close()


class Clock:
    """The time at which shares are due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.minutes = 0
        monkeypatch.setattr("app.modules.memory.vector_rewriting.now_ms", self.now)

    def now(self) -> int:
        return now_ms() + self.minutes * MINUTE_MS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr("app.modules.memory.facts._EMBEDDING_SECONDS", 300.0)
    monkeypatch.setattr("app.modules.memory.service.EMBEDDING_SECONDS", 300.0)
    return Clock(monkeypatch)


def facts_of(storage: Storage, embedding: EmbeddingModel | None) -> Facts:
    return facts_over(storage, embedding=embedding)


async def keep(facts: Facts, text: str = TEXT, owner: str = "ann") -> StoredFact:
    new = NewFact(owner=owner, scope="user", kind="procedure", text=text, source=source())
    return (await facts.keep(new)).fact


def rewriting_of(storage: Storage, embedding: EmbeddingModel) -> VectorRewriting:
    return VectorRewriting(storage, embedding, uncharged, metrics=CollectorRegistry())


def memory(summary: str) -> ConversationMemory:
    session = new_id()
    return ConversationMemory(
        id=session, owner="ann", session_id=session, summary=summary, themes=[], covers=new_id(), updated_at=1
    )


async def vectors_in(storage: Storage, prefix: str) -> dict[str, int]:
    counts = {name: await storage.count(name, []) for name in storage.collections()}
    return {name: number for name, number in counts.items() if name.startswith(prefix) and number}


async def test_facts_are_found_by_words_until_their_vectors_are_of_the_new_model(
    storage: Storage, embedding: Embedding, clock: Clock
) -> None:
    kept = await keep(facts_of(storage, embedding(64)))
    new = embedding(32)
    facts = facts_of(storage, new)
    groups = [facts.user_group("ann")]
    near = vector_of("procure", 32)
    assert await facts.by_meaning(groups, new.name, near, limit=5) == []
    assert await facts.by_words(groups, ["procurement"], limit=5) == [kept.id]
    rewriting = rewriting_of(storage, new)
    await rewriting.work()
    assert await facts.by_meaning(groups, new.name, near, limit=5) == [kept.id]
    assert await vectors_in(storage, "fact_vectors") == {"fact_vectors_dc": 1}
    progress = await rewriting.progress("facts")
    assert (progress.total, progress.rewritten, progress.left) == (1, 1, 0)
    await facts.forget("ann", kept.id)
    assert await vectors_in(storage, "fact_vectors") == {}


async def test_a_model_with_vectors_of_the_same_length_replaces_them(
    storage: Storage, embedding: Embedding, clock: Clock
) -> None:
    old, new = embedding(64), embedding(64)
    new.name = "trigrams-of-another-64"
    kept = await keep(facts_of(storage, old))
    await rewriting_of(storage, new).work()
    facts = facts_of(storage, new)
    groups = [facts.user_group("ann")]
    assert await facts.by_meaning(groups, new.name, vector_of("procure", 64), limit=5) == [kept.id]
    assert await facts.by_meaning(groups, old.name, vector_of("procure", 64), limit=5) == []


async def test_at_most_a_hundred_are_rewritten_a_minute_by_all_processes_together(
    storage: Storage, embedding: Embedding, clock: Clock, service: ScriptedModel
) -> None:
    kept = await keep(facts_of(storage, None))
    facts = facts_of(storage, None)
    for number in range(MOST_A_MINUTE + 20):
        await facts.repository.create(replace(kept, id=new_id(), text=f"Note {number}"))
    new = embedding(64)
    processes = [rewriting_of(storage, new), rewriting_of(storage, new)]
    for _ in range(2):
        for each in processes:
            await each.work()
    assert len(service.embedded) == MOST_A_MINUTE
    begun = await processes[1].progress("facts")
    assert (begun.total, begun.rewritten, begun.left) == (121, 100, 21)
    clock.minutes = 1
    for each in processes:
        await each.work()
    done = await processes[0].progress("facts")
    assert (done.rewritten, done.left) == (121, 0)
    assert len(set(service.embedded)) == len(service.embedded) == 121
    clock.minutes = 2
    await processes[0].work()
    assert len(service.embedded) == 121


async def test_an_unavailable_model_is_asked_again_a_minute_later(
    storage: Storage, embedding: Embedding, clock: Clock, service: ScriptedModel
) -> None:
    await keep(facts_of(storage, None))
    service.embedding = Scripted(status=503)
    rewriting = rewriting_of(storage, embedding(64))
    await rewriting.work()
    assert (await rewriting.progress("facts")).left == 1
    service.embedding = Scripted()
    clock.minutes = 1
    await rewriting.work()
    assert (await rewriting.progress("facts")).left == 0
    assert await vectors_in(storage, "fact_vectors") == {"fact_vectors_ge": 1}


async def test_a_fact_that_is_forgotten_meanwhile_leaves_no_vector(
    storage: Storage, embedding: Embedding, clock: Clock
) -> None:
    kept = await keep(facts_of(storage, embedding(64)))
    new = embedding(32)
    facts = facts_of(storage, new)

    class _Forgets(VectorRewriting):
        async def _embed(self, owner: str, some: object) -> list[list[float]]:
            await facts.forget("ann", kept.id)
            return [vector_of(TEXT, 32)]

    await _Forgets(storage, new, uncharged, metrics=CollectorRegistry()).work()
    assert await vectors_in(storage, "fact_vectors") == {}


async def test_past_conversations_get_vectors_of_the_new_model_too(
    storage: Storage, embedding: Embedding, clock: Clock
) -> None:
    kept = memory("Procurement was looked into.")
    assert await ConversationMemories(storage, embedding(64)).keep(kept, None)
    new = embedding(32)
    memories = ConversationMemories(storage, new)
    assert await memories.search("ann", "xprocurementx", 1) == []
    assert [each.memory.id for each in await memories.search("ann", "procurement", 1)] == [kept.id]
    await rewriting_of(storage, new).work()
    assert [each.memory.id for each in await memories.search("ann", "xprocurementx", 1)] == [kept.id]
    assert await vectors_in(storage, "memory_vectors") == {"memory_vectors_dc": 1}
    known = await memories.repository.find(kept.id)
    assert await memories.keep(replace(kept, covers=new_id(), summary="Weather."), known)
    assert await vectors_in(storage, "memory_vectors") == {"memory_vectors_dc": 1}
    await memories.forget_conversation(kept.id)
    assert await vectors_in(storage, "memory_vectors") == {}
