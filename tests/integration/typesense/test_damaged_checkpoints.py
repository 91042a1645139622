"""Damaged checkpoints, and checkpoints under another key, in Typesense."""

from collections.abc import AsyncGenerator

import pytest
from cryptography.fernet import Fernet
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from typesense import AsyncClient

from app.core.ids import new_id
from app.core.secrets import CheckpointCipher
from app.core.storage.typesense_server import TypesenseServer
from graph.errors import CheckpointUnreadable
from graph.typesense_checkpoints import typesense_checkpointer
from tests.support.typesense import client_of

KEY = Fernet.generate_key()
THREAD: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}


@pytest.fixture
async def client(typesense_server: TypesenseServer) -> AsyncGenerator[AsyncClient]:
    async with client_of(typesense_server) as opened:
        yield opened


@pytest.fixture
async def collection(client: AsyncClient) -> AsyncGenerator[str]:
    """A collection with one encrypted checkpoint of the thread 1."""
    name = f"checkpoints_{new_id()}"
    saver = await typesense_checkpointer(client, name, CheckpointCipher(KEY))
    made = empty_checkpoint()
    made["channel_values"] = {"messages": ["Hello"]}
    made["channel_versions"] = {"messages": "1"}
    await saver.aput(THREAD, made, {"source": "loop", "step": 0}, made["channel_versions"])
    yield name
    await client.collections[name].delete()


async def read(client: AsyncClient, collection: str, key: bytes) -> None:
    saver = await typesense_checkpointer(client, collection, CheckpointCipher(key))
    found = await saver.aget_tuple(THREAD)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"messages": ["Hello"]}


async def test_another_key_is_named_with_its_cure(client: AsyncClient, collection: str) -> None:
    await read(client, collection, KEY)
    with pytest.raises(CheckpointUnreadable, match="KAI_ENCRYPTION_KEY"):
        await read(client, collection, Fernet.generate_key())


async def test_a_damaged_document_is_named_with_its_cure(client: AsyncClient, collection: str) -> None:
    documents = client.collections[collection].documents
    found = await documents.search({"q": "*", "query_by": "kind"})
    for hit in found["hits"]:
        await documents[str(hit["document"]["id"])].update({"data": "AAAA"})
    with pytest.raises(CheckpointUnreadable, match=r"Restore a backup|KAI_ENCRYPTION_KEY"):
        await read(client, collection, KEY)
