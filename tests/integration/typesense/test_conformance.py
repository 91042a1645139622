"""LangGraph's own conformance suite, all eight capabilities, on a real server."""

import pytest
from langgraph.checkpoint.conformance import validate
from langgraph.checkpoint.conformance.capabilities import Capability

from app.core.storage.typesense_server import TypesenseServer
from tests.integration.typesense.conformance import registered


@pytest.mark.parametrize("capability", [each.value for each in Capability])
async def test_the_checkpointer_conforms(typesense_server: TypesenseServer, capability: str) -> None:
    report = await validate(registered(typesense_server), capabilities={capability})
    result = report.results[capability]
    assert result.failures == []
    assert result.passed is True
