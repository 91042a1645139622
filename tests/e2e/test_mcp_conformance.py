"""MCP's own conformance suite, in front of a KAI, and of a server of KAI's factory with the suite's tools."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from app.bootstrap import open_services
from app.core.auth.caller import LOCAL_CALLER
from app.core.servers import free_port
from app.core.settings import Settings
from app.modules.protocols.mcp.server import mcp_server
from tests.support.conformance_fixtures import add_fixtures
from tests.support.node import run_conformance
from tests.support.server import Server
from tests.support.waiting import until

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
        "input-required-result-unsupported-methods",
        "http-header-validation",
    },
}


@pytest.mark.timeout(400)  # the suite may have to be downloaded
@pytest.mark.parametrize("revision", sorted(PASSING))
def test_kai_conforms_to_the_protocol(plain_server: Server, revision: str) -> None:
    ran = run_conformance(f"{plain_server.address}/mcp", revision)
    assert {name for name in PASSING[revision] if not ran[name]} == set()
    assert {*ran} == PASSING[revision] | WITH_FIXTURES[revision] | set(NOT_APPLICABLE[revision])


_CONTENT = {
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-with-progress",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
}
WITH_FIXTURES = {
    "2025-11-25": _CONTENT,
    "2026-07-28": _CONTENT
    | {
        "server-stateless",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-missing-input-response",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    },
}
_NO_SESSIONS = "the server asks clients nothing on its own: without sessions, no answer could find its way"
_NOT_OFFERED = {
    "completion-complete": "KAI completes no arguments, and does not say that it does",
    "json-schema-2020-12": "the suite wants a tool with a schema of its own; KAI's schemas come from types",
}
NOT_APPLICABLE: dict[str, dict[str, str]] = {
    "2025-11-25": _NOT_OFFERED
    | {
        "logging-set-level": "KAI sends no log messages, and does not say that it does",
        "tools-call-with-logging": "KAI sends no log messages, and does not say that it does",
        "tools-call-sampling": _NO_SESSIONS,
        "tools-call-elicitation": _NO_SESSIONS,
        "elicitation-sep1034-defaults": _NO_SESSIONS,
        "elicitation-sep1330-enums": _NO_SESSIONS,
        "server-session-lifecycle": "there are no sessions: every process answers every request",
        "server-sse-polling": "a cut stream is not continued: there are no sessions",
        "server-sse-multiple-streams": "the suite skips it for a server without sessions",
        "resources-subscribe": "KAI's resources change by asking only, and cannot be subscribed to",
        "resources-unsubscribe": "KAI's resources change by asking only, and cannot be subscribed to",
    },
    "2026-07-28": _NOT_OFFERED
    | {
        "http-custom-header-server-validation": "no tool of KAI's wants arguments as headers, too",
    }
    | dict.fromkeys(
        [
            "tasks-lifecycle",
            "tasks-capability-negotiation",
            "tasks-wire-fields",
            "tasks-request-state-removal",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-dispatch-and-envelope",
            "tasks-status-notifications",
            "tasks-required-task-error",
            "tasks-mrtr-composition",
        ],
        "the extension for tasks is not offered: a question is one call, with progress",
    ),
}
"""Scenarios that KAI does not pass, with the reason."""


def as_local_caller(served: ASGIApp) -> ASGIApp:
    """What KAI's login does before a request reaches the server."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {**scope.get("state", {}), "caller": LOCAL_CALLER}
        await served(scope, receive, send)

    return answer


@asynccontextmanager
async def server_with_fixtures(folder: Path) -> AsyncGenerator[str]:
    async with open_services(Settings(data_dir=folder)) as services:
        server = mcp_server(services.mcp)
        add_fixtures(server)
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        served = server.streamable_http_app(stateless_http=True, transport_security=security)
        port = free_port()
        http = uvicorn.Server(uvicorn.Config(as_local_caller(served), port=port, log_level="warning"))
        serving = asyncio.create_task(http.serve())

        async def is_ready() -> bool:
            return http.started

        await until(is_ready)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            http.should_exit = True
            await serving


@pytest.mark.timeout(400)
@pytest.mark.parametrize("revision", sorted(PASSING))
async def test_a_server_of_kais_factory_carries_every_content(tmp_path: Path, revision: str) -> None:
    async with server_with_fixtures(tmp_path) as address:
        ran = await asyncio.to_thread(run_conformance, address, revision)
    assert {name for name in WITH_FIXTURES[revision] if not ran[name]} == set()
