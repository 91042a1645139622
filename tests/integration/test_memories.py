"""Memories of conversations on every store: replaced, searched by words and by meaning, forgotten."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.storage.port import Storage
from app.core.storage.sqlite import open_sqlite
from app.modules.memory.model import ConversationMemory, FoundMemory
from app.modules.memory.service import EMBEDDING_SECONDS, ConversationMemories
from migrations.runner import migrate
from tests.integration.test_language_models import PATIENT
from tests.support.loop_time import LoopTime
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model


@pytest.fixture
def storage(storage_of_each_kind: Storage) -> Storage:
    return storage_of_each_kind


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def memories(
    storage: Storage, service: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ConversationMemories]:
    """Memories with vectors, however slow the machine is."""
    monkeypatch.setattr("app.modules.memory.service.EMBEDDING_SECONDS", 300.0)
    settings = replace(PATIENT, model="trigrams-64", base_url=service.base_url, max_retries=0)
    embedding = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    yield ConversationMemories(storage, embedding)
    await embedding.close()


def memory(summary: str, owner: str = "ann") -> ConversationMemory:
    session = new_id()
    return ConversationMemory(
        id=session,
        owner=owner,
        session_id=session,
        summary=summary,
        themes=["sales"],
        covers=new_id(),
        updated_at=1,
    )


async def test_memories_are_found_by_rare_words_first_and_only_their_owners(storage: Storage) -> None:
    memories = ConversationMemories(storage, None)
    zebras, horses = memory("They counted zebras."), memory("They counted horses.")
    for each in (zebras, horses, memory("They counted zebras.", owner="bob")):
        assert await memories.keep(each, None)
    found = await memories.search("ann", "who counted the zebras", 10)
    assert [each.memory.id for each in found] == [zebras.id, horses.id]
    assert await memories.search("ann", "?!", 10) == []


async def test_memories_are_found_by_meaning_where_no_word_is_shared(
    memories: ConversationMemories,
) -> None:
    meant = memory("Procurement was looked into.")
    for each in (memory("Weather."), meant, memory("Procurement was looked into.", owner="bob")):
        await memories.keep(each, None)
    assert (await memories.search("ann", "procure", 1))[0].memory.id == meant.id
    assert (await memories.search("ann", "xprocurementx", 1))[0].memory.id == meant.id


async def test_while_the_embedding_model_is_unavailable_words_do(
    memories: ConversationMemories, service: ScriptedModel
) -> None:
    service.embedding = Scripted(status=503)
    kept = memory("Procurement was looked into.")
    assert await memories.keep(kept, None)
    assert await memories.search("ann", "procurement", 5) == [FoundMemory(kept, 1.0)]


async def test_a_slow_embedding_model_costs_a_search_its_limit_and_no_more(
    tmp_path: Path, service: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EMBEDDING_SECONDS <= 0.75
    settings = replace(PATIENT, model="trigrams-64", base_url=service.base_url, max_retries=0)
    embedding = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    async with open_sqlite(tmp_path / "local.db") as local:
        await migrate(local)
        kept = memory("Procurement was looked into.")
        assert await ConversationMemories(local, None).keep(kept, None)
        await embedding.embed(["Its client is imported with the first request, which takes a while."])
        loop_time = LoopTime(monkeypatch)
        service.embedding = Scripted(delay_seconds=60)
        asked = len(service.embedded)
        memories = ConversationMemories(local, embedding)
        searching = asyncio.create_task(memories.search("ann", "procurement", 5))
        await loop_time.reach(lambda: len(service.embedded) > asked)
        await loop_time.pass_limit(searching, EMBEDDING_SECONDS)
        assert await searching == [FoundMemory(kept, 1.0)]
    await embedding.close()


async def test_relevance_is_the_place_by_words_and_by_meaning_together(
    memories: ConversationMemories,
) -> None:
    both = memory("Procurement was looked into.")
    meant = memory("Procuring.")
    for each in (meant, both):
        await memories.keep(each, None)
    first, second = await memories.search("ann", "procurement", 5)
    assert (first.memory.id, first.relevance) == (both.id, 1.0)
    assert 0 < second.relevance < 1
    assert await memories.search("ann", "procurement", 5, but=both.id) == [FoundMemory(second.memory, 0.5)]


async def test_persons_and_places_are_kept_and_found(storage: Storage) -> None:
    memories = ConversationMemories(storage, None)
    named = replace(memory("Stock."), persons=["Ada Lovelace"], places=["Turin"], user_sentiment="negative")
    for each in (named, memory("Stock.")):
        assert await memories.keep(each, None)
    for words in ("lovelace", "turin"):
        ((found),) = await memories.search("ann", words, 5)
        assert found.memory == named


async def test_vectors_of_another_model_are_never_compared(
    storage: Storage, memories: ConversationMemories, service: ScriptedModel
) -> None:
    assert await memories.keep(memory("Procurement was looked into."), None)
    settings = replace(PATIENT, model="scripted-64", base_url=service.base_url, max_retries=0)
    other = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    try:
        later = ConversationMemories(storage, other)
        assert await later.search("ann", "xprocurementx", 5) == []
        assert len(await later.search("ann", "procurement", 5)) == 1
    finally:
        await other.close()


async def test_owners_whose_names_differ_by_case_or_accent_never_meet(
    memories: ConversationMemories,
) -> None:
    owners = ["ann", "Ann", "ánn", "ann.", "an-n"]
    for owner in owners:
        await memories.keep(memory("Procurement was looked into.", owner=owner), None)
    for owner in owners:
        found = await memories.search(owner, "procurement", 10)
        assert [each.memory.owner for each in found] == [owner]


async def test_a_memory_is_replaced_only_by_who_knows_what_is_there(
    memories: ConversationMemories,
) -> None:
    first = memory("First.")
    second, third = replace(first, summary="Second.", covers=new_id()), replace(first, summary="Third.")
    assert await memories.keep(first, None)
    assert not await memories.keep(second, None)
    assert await memories.keep(second, first)
    assert not await memories.keep(third, first)
    found = await memories.repository.find(first.id)
    assert found is not None
    assert found.summary == "Second."


async def test_what_is_forgotten_leaves_no_vector_either(
    storage: Storage, memories: ConversationMemories
) -> None:
    mine, mine_too, other = memory("One."), memory("Two."), memory("Three.", owner="bob")
    for each in (mine, mine_too, other):
        await memories.keep(each, None)
    (vectors,) = [name for name in storage.collections() if name.startswith("memory_vectors")]
    await memories.forget_conversation(mine.id)
    assert await storage.count(vectors, []) == 2
    await memories.forget_all("ann")
    assert await storage.count(vectors, []) == await storage.count("conversation_memories", []) == 1
    assert await memories.repository.find(other.id) is not None
