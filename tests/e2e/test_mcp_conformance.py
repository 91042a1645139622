"""MCP's own conformance suite, in front of a KAI: the scenarios that need no tools of the suite's own."""

import pytest

from tests.support.node import run_conformance
from tests.support.server import Server

PASSING = {
    "2025-11-25": {
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    },
    "2026-07-28": {
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "http-header-validation",
    },
}


@pytest.mark.timeout(400)  # the suite may have to be downloaded
@pytest.mark.parametrize("revision", sorted(PASSING))
def test_kai_conforms_to_the_protocol(plain_server: Server, revision: str) -> None:
    assert PASSING[revision] - run_conformance(f"{plain_server.address}/mcp", revision) == set()
