"""Memories of conversations on every store: replaced, searched by words and by meaning, forgotten."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from app.core.ids import new_id
from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.storage.port import Storage
from app.modules.memory.model import Memory
from app.modules.memory.service import ConversationMemories
from migrations.runner import migrate
from tests.integration.test_language_models import PATIENT
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.stores import Open


@pytest.fixture
async def storage(reopen: Open) -> AsyncIterator[Storage]:
    async with reopen() as opened:
        await migrate(opened)
        yield opened


@pytest.fixture
async def service() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def memories(storage: Storage, service: ScriptedModel) -> AsyncIterator[ConversationMemories]:
    settings = replace(PATIENT, model="trigrams-64", base_url=service.base_url, max_retries=0)
    embedding = EmbeddingModel(settings, ModelCalls(CollectorRegistry()))
    yield ConversationMemories(storage, embedding)
    await embedding.close()


def memory(summary: str, owner: str = "ann") -> Memory:
    session = new_id()
    return Memory(
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
    assert [each.id for each in found] == [zebras.id, horses.id]
    assert await memories.search("ann", "?!", 10) == []


async def test_memories_are_found_by_meaning_where_no_word_is_shared(
    memories: ConversationMemories,
) -> None:
    meant = memory("Procurement was looked into.")
    for each in (memory("Weather."), meant, memory("Procurement was looked into.", owner="bob")):
        await memories.keep(each, None)
    assert (await memories.search("ann", "procure", 1))[0].id == meant.id
    assert (await memories.search("ann", "xprocurementx", 1))[0].id == meant.id


async def test_while_the_embedding_model_is_unavailable_words_do(
    memories: ConversationMemories, service: ScriptedModel
) -> None:
    service.embedding = Scripted(status=503)
    kept = memory("Procurement was looked into.")
    assert await memories.keep(kept, None)
    assert [each.id for each in await memories.search("ann", "procurement", 5)] == [kept.id]


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
