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


WITH_FIXTURES = {
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
        passed = await asyncio.to_thread(run_conformance, address, revision)
    assert WITH_FIXTURES - passed == set()
