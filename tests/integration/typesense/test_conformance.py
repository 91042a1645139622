"""LangGraph's own conformance suite, all eight capabilities, on a real server."""

from collections.abc import AsyncGenerator

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from app.core.storage.typesense_server import TypesenseServer
from graph.checkpointer import TypesenseCheckpointer
from tests.support.typesense import checkpointer_of


@pytest.mark.parametrize("capability", [each.value for each in Capability])
async def test_the_checkpointer_conforms(typesense_server: TypesenseServer, capability: str) -> None:
    @checkpointer_test(name="TypesenseCheckpointer")
    async def registered() -> AsyncGenerator[TypesenseCheckpointer]:
        async with checkpointer_of(typesense_server) as checkpointer:
            yield checkpointer

    report = await validate(registered, capabilities={capability})
    result = report.results[capability]
    assert result.failures == []
    assert result.passed is True
