"""Chat completions and AG-UI behind the login: owners, scopes, rates, and protocols that are switched off."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.bootstrap import open_services
from app.core.settings import PROTOCOLS, AuthSettings, Protocol, QuotaSettings, Settings
from app.main import create_app
from tests.e2e.conftest import SHOP
from tests.support.keys import made_key

MESSAGES = [{"role": "user", "content": "How many customers?"}]
ASKED = {"model": "kai/shop", "messages": MESSAGES}
RUN = {"threadId": "t", "runId": "r", "messages": [{"id": "m", **MESSAGES[0]}]}
COMPLETIONS = "/openai/v1/chat/completions"


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Headers of Ann, of Bob, and of a key of Ann's that only reads."""
    made = {owner: made_key(tmp_path, owner, "--role", "admin") for owner in ("ann", "bob")}
    made["reader"] = made_key(tmp_path, "ann", "--scope", "read")
    return {name: {"Authorization": f"Bearer {key}"} for name, key in made.items()}


@asynccontextmanager
async def serving(
    data: Path, *, protocols: tuple[Protocol, ...] = PROTOCOLS, questions_per_minute: int = 0
) -> AsyncGenerator[httpx.AsyncClient]:
    settings = Settings(
        data_dir=data,
        auth=AuthSettings(required=True),
        protocols=protocols,
        quotas=QuotaSettings(questions_per_minute=questions_per_minute),
    )
    async with open_services(settings) as services:
        transport = httpx.ASGITransport(create_app(services, settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            yield client


async def add_shop(http: httpx.AsyncClient, data: Path, headers: dict[str, str]) -> str:
    path = data / "shop.db"
    if not path.exists():
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SHOP)
    body = {"url": f"sqlite:///{path}", "name": "Shop"}
    made = await http.post("/api/v1/database-connections", json=body, headers=headers)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def error_of(answer: httpx.Response) -> tuple[int, str, str]:
    error: dict[str, Any] = answer.json()["error"]
    return answer.status_code, error["type"], error["code"]


async def test_owners_and_scopes_count(tmp_path: Path, keys: dict[str, dict[str, str]]) -> None:
    async with serving(tmp_path) as http:
        shop = await add_shop(http, tmp_path, keys["ann"])
        unsigned = await http.get("/openai/v1/models")
        assert error_of(unsigned) == (401, "authentication_error", "invalid_api_key")
        assert (await http.post(f"/ag-ui/{shop}", json=RUN)).status_code == 401
        listed = await http.get("/openai/v1/models", headers=keys["reader"])
        assert [each["id"] for each in listed.json()["data"]] == ["kai/shop"]
        refused = await http.post(COMPLETIONS, json=ASKED, headers=keys["reader"])
        assert error_of(refused)[:2] == (403, "permission_error")
        assert (await http.post(f"/ag-ui/{shop}", json=RUN, headers=keys["reader"])).status_code == 403
        assert (await http.get("/openai/v1/models", headers=keys["bob"])).json()["data"] == []
        for model in ("kai/shop", shop):
            hidden = await http.post(COMPLETIONS, json={**ASKED, "model": model}, headers=keys["bob"])
            assert error_of(hidden) == (404, "invalid_request_error", "model_not_found")
        assert (await http.post(f"/ag-ui/{shop}", json=RUN, headers=keys["bob"])).status_code == 404
        asked = await http.post(COMPLETIONS, json=ASKED, headers=keys["ann"])
        session = asked.headers["X-Kai-Session"]
        own = await add_shop(http, tmp_path, keys["bob"])
        named = {**keys["bob"], "X-Kai-Session": session}
        other = await http.post(COMPLETIONS, json=ASKED, headers=named)
        assert other.status_code == 200, other.text
        assert other.headers["X-Kai-Session"] != session
        run = await http.post(f"/ag-ui/{own}", json={**RUN, "threadId": session}, headers=keys["bob"])
        assert run.status_code == 200
        history = await http.get(f"/api/v1/sessions/{session}", headers=keys["ann"])
        assert len(history.json()["messages"]["items"]) == 2


async def test_questions_count_against_the_rate(tmp_path: Path, keys: dict[str, dict[str, str]]) -> None:
    async with serving(tmp_path, questions_per_minute=2) as http:
        shop = await add_shop(http, tmp_path, keys["ann"])
        assert (await http.post(COMPLETIONS, json=ASKED, headers=keys["ann"])).status_code == 200
        assert (await http.post(f"/ag-ui/{shop}", json=RUN, headers=keys["ann"])).status_code == 200
        refused = await http.post(COMPLETIONS, json=ASKED, headers=keys["ann"])
        assert error_of(refused) == (429, "rate_limit_error", "rate_limit_exceeded")
        assert int(refused.headers["Retry-After"]) > 0
        assert (await http.post(f"/ag-ui/{shop}", json=RUN, headers=keys["ann"])).status_code == 429


async def test_a_protocol_that_is_switched_off_does_not_exist(
    tmp_path: Path, keys: dict[str, dict[str, str]]
) -> None:
    async with serving(tmp_path, protocols=("mcp",)) as http:
        shop = await add_shop(http, tmp_path, keys["ann"])
        for method, path in (("GET", "/openai/v1/models"), ("POST", COMPLETIONS), ("POST", f"/ag-ui/{shop}")):
            body = None if method == "GET" else ASKED
            answer = await http.request(method, path, json=body, headers=keys["ann"])
            assert answer.status_code == 404, path
