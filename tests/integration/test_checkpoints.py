"""Checkpoints that are asked for wrongly, or whose store is unavailable."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from app.bootstrap import open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import Settings
from app.main import create_app
from graph.errors import CheckpointUnreadable
from tests.support.shop import make_shop


@pytest.fixture
async def session(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A client whose paths begin at a session."""
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        url = f"sqlite:///{make_shop(tmp_path / 'shop.db')}"
        shop = await services.database_connections.register(LOCAL_OWNER, url, "shop", description="")
        made = await services.sessions.create(LOCAL_OWNER, shop.id, None, mode="ask", metadata={})
        transport = httpx.ASGITransport(create_app(services, settings))
        base = f"http://127.0.0.1/api/v1/sessions/{made.id}"
        async with httpx.AsyncClient(transport=transport, base_url=base, follow_redirects=True) as client:
            yield client


async def ask(session: httpx.AsyncClient) -> str:
    """The events of a turn, as they came."""
    answer = await session.post("/query/stream", json={"query": "mine", "sql": "SELECT 1 AS one"})
    assert answer.status_code == 200, answer.text
    return answer.text


def change_checkpoints(folder: Path, changes: str) -> None:
    with closing(sqlite3.connect(folder / "checkpoints.db")) as connection, connection:
        connection.execute(f"UPDATE checkpoints SET {changes}")


async def assert_unreadable(session: httpx.AsyncClient, cure: str) -> None:
    """On every route that reads checkpoints, and in the stream of a question."""
    for method, path in [
        ("GET", "/checkpoints"),
        ("POST", "/checkpoints/019ab1c2-0000-7000-8000-000000000000/fork"),
    ]:
        answer = await session.request(method, path)
        if answer.status_code != 404:  # there is no such checkpoint
            problem = answer.json()
            assert (problem["status"], problem["type"]) == (409, "urn:kai:checkpoint-unreadable"), problem
            assert cure in problem["detail"]
    events = await ask(session)
    assert events.count('"urn:kai:checkpoint-unreadable"') == 1, events
    assert cure in events
    assert '"status":"failed"' in events.replace(" ", "")
    assert (await session.get("")).json()["messages"]["items"][0]["query"] == "mine"


@pytest.mark.parametrize(
    "changes",
    [
        "checkpoint = x'c1ff00'",
        "checkpoint = x''",
        "checkpoint = NULL",
        "checkpoint = x'2a'",
        "metadata = '{'",
        "type = 'pickle'",
        "type = 7",
    ],
)
async def test_a_damaged_checkpoint_is_a_clear_error_everywhere(
    session: httpx.AsyncClient, tmp_path: Path, changes: str
) -> None:
    await ask(session)
    change_checkpoints(tmp_path, changes)
    await assert_unreadable(session, "Restore a backup")


async def test_checkpoints_under_another_key_are_a_clear_error(
    session: httpx.AsyncClient, tmp_path: Path
) -> None:
    await ask(session)
    other = Fernet(Fernet.generate_key()).encrypt(b"state").decode()
    change_checkpoints(tmp_path, f"type = 'msgpack+fernet', checkpoint = CAST('{other}' AS BLOB)")
    await assert_unreadable(session, "KAI_ENCRYPTION_KEY")


async def test_a_file_of_checkpoints_that_is_none_is_named_at_start(tmp_path: Path) -> None:
    (tmp_path / "checkpoints.db").write_bytes(b"This is no database. " * 100)
    with pytest.raises(CheckpointUnreadable, match=r"checkpoints\.db is damaged"):
        async with open_services(Settings(data_dir=tmp_path)):
            pytest.fail("it started")


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
