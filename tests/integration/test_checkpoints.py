"""Checkpoints that are asked for wrongly, or whose store is unavailable."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from app.bootstrap import open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import Settings
from app.main import create_app
from tests.support.shop import make_shop


@pytest.fixture
async def session(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client whose paths begin at a session."""
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        url = f"sqlite:///{make_shop(tmp_path / 'shop.db')}"
        shop = await services.database_connections.register(LOCAL_OWNER, url, "shop", "")
        made = await services.sessions.create(LOCAL_OWNER, shop.id, None, "ask", {})
        transport = httpx.ASGITransport(create_app(services, settings))
        base = f"http://127.0.0.1/api/v1/sessions/{made.id}"
        async with httpx.AsyncClient(transport=transport, base_url=base, follow_redirects=True) as client:
            yield client


def lose_checkpoints(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "checkpoints.db")) as connection:
        connection.executescript("DROP TABLE checkpoints")


@pytest.mark.parametrize("cursor", ["made up", "0", "019ab1c2-0000-7000-8000-00000000000G"])
async def test_a_cursor_that_names_no_checkpoint_is_refused(session: httpx.AsyncClient, cursor: str) -> None:
    answer = await session.get("/checkpoints", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:kai:invalid-cursor")


async def test_an_unavailable_store_of_checkpoints_is_reported_on_every_route(
    session: httpx.AsyncClient, tmp_path: Path
) -> None:
    lose_checkpoints(tmp_path)
    for method, path in [
        ("GET", "/checkpoints"),
        ("POST", "/checkpoints/019ab1c2-0000-7000-8000-000000000000/fork"),
        ("DELETE", ""),
    ]:
        answer = await session.request(method, path)
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:kai:storage-unavailable")
