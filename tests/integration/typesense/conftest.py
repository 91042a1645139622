from collections.abc import AsyncGenerator

import pytest

from app.core.storage.typesense_server import TypesenseServer
from tests.support.typesense import Wire, checkpointer_of
from typesense_checkpoint import TypesenseCheckpointer


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
async def saver(typesense_server: TypesenseServer, wire: Wire) -> AsyncGenerator[TypesenseCheckpointer]:
    async with checkpointer_of(typesense_server, wire) as checkpointer:
        yield checkpointer
