"""Keys of encryption: a server with another key says so, and a rotation loses nothing."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.test_on_typesense import on_typesense
from tests.support.command_line import kai
from tests.support.server import Client, chunks, client_of, running_server
from tests.support.waiting import until

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
QUESTION = "How many customers per country?"
ROWS = [["Brazil", 2], ["Norway", 1]]
FACT = "Amounts are in euros."


@pytest.fixture(params=["sqlite", "typesense"])
def store(request: pytest.FixtureRequest) -> Mapping[str, str]:
    encrypted = {"KAI_ENCRYPT_CHECKPOINTS": "true"}
    if request.param == "sqlite":
        return encrypted
    server: TypesenseServer = request.getfixturevalue("typesense_server")
    return {**encrypted, **on_typesense(server, server.url)}


async def fill(client: Client, shop: str) -> str:
    session = await client.open_session(await client.connect(shop))
    await client.ask(session, QUESTION)
    fact = {"text": FACT, "kind": "preference", "scope": "user"}
    answer = await client.http.post("/memory/facts", json=fact)
    assert answer.status_code in (200, 201), answer.text
    return session


async def readiness(client: Client) -> httpx.Response:
    """The first answer of /readyz in which nothing was too slow to be judged."""
    answers: list[httpx.Response] = []

    async def is_judged() -> bool:
        answers.append(await client.http.get(str(client.http.base_url).split("/api")[0] + "/readyz"))
        return "does not answer within" not in answers[-1].text

    await until(is_judged)
    return answers[-1]


async def check(client: Client, session: str) -> None:
    ready = await readiness(client)
    assert ready.status_code == 200, ready.text
    events = await client.ask(session, QUESTION)
    assert chunks(events, "results")[0]["rows"] == ROWS
    kept = (await client.http.get("/memory/facts")).json()["items"]
    assert [each["text"] for each in kept] == [FACT]
    checkpoints = (await client.http.get(f"/sessions/{session}/checkpoints")).json()["items"]
    assert len(checkpoints) > 1


async def test_a_server_with_another_key_says_so_and_a_rotation_loses_nothing(
    store: Mapping[str, str], shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, {**store, "KAI_ENCRYPTION_KEY": OLD}) as server:
        async with client_of(server) as client:
            session = await fill(client, shop)

    log = tmp_path / "log"
    with running_server(tmp_path, {**store, "KAI_ENCRYPTION_KEY": NEW}, log=log) as server:
        async with client_of(server) as client:
            unready = await readiness(client)
            assert unready.status_code == 503
            assert "another key" in unready.json()["dependencies"]["secrets"]["error"]
            (connection,) = (await client.http.get("/database-connections")).json()["items"]
            other = await client.open_session(connection["id"])
            events = await client.ask(other, QUESTION)
            errors = [each.data for each in events if each.name == "error"]
            assert [(each["retryable"], each["type"]) for each in errors] == [
                (False, "urn:kai:secret-unreadable")
            ]
    assert (
        "stored secrets (database URLs, webhooks, chats) were encrypted with another key" in log.read_text()
    )

    with running_server(tmp_path, {**store, "KAI_ENCRYPTION_KEY": f"{NEW},{OLD}"}) as server:
        async with client_of(server) as client:
            await check(client, session)

    alone = await rotate(tmp_path, {**store, "KAI_ENCRYPTION_KEY": NEW})
    assert alone[0] == 1
    assert "KAI_ENCRYPTION_KEY has one key" in alone[1]
    assert (await rotate(tmp_path, {**store, "KAI_ENCRYPTION_KEY": f"{NEW},{OLD}"}))[0] == 0
    with running_server(tmp_path, {**store, "KAI_ENCRYPTION_KEY": NEW}) as server:
        async with client_of(server) as client:
            await check(client, session)


async def test_a_rotation_gives_the_data_folder_a_new_key(
    store: Mapping[str, str], shop: str, tmp_path: Path
) -> None:
    with running_server(tmp_path, dict(store)) as server:
        async with client_of(server) as client:
            session = await fill(client, shop)
            code, said = await rotate(tmp_path, store)
            assert code == 1
            assert "Another KAI uses" in said
    before = (tmp_path / "secret.key").read_text()
    assert (await rotate(tmp_path, store))[0] == 0
    after = (tmp_path / "secret.key").read_text()
    assert before not in after
    assert len(after.split()) == 1
    with running_server(tmp_path, dict(store)) as server:
        async with client_of(server) as client:
            await check(client, session)


async def rotate(folder: Path, settings: Mapping[str, str]) -> tuple[int, str]:
    done = await asyncio.to_thread(lambda: kai("keys", "rotate-encryption", data=folder, **settings))
    return done.returncode, done.stderr
