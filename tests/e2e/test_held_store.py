"""Two servers on one Typesense prefix without a bus: one serves, and the other waits until it has gone."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from app.core.servers import free_port
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.test_on_typesense import on_typesense
from tests.support.server import Server, chunks, client_of, running_server
from tests.support.waiting import until

KEY = Fernet.generate_key().decode()
ROWS = [["Brazil", 2], ["Norway", 1]]


@contextmanager
def started(server: Server) -> Iterator[asyncio.Task[None]]:
    """A server that is starting: the task ends when it is ready."""
    starting = asyncio.create_task(asyncio.to_thread(server.start))
    try:
        yield starting
    finally:
        server.kill()


async def answer_of(port: int, path: str) -> httpx.Response | None:
    async with httpx.AsyncClient() as http:
        try:
            return await http.get(f"http://127.0.0.1:{port}{path}")
        except httpx.TransportError:
            return None


@pytest.mark.parametrize("end", [Server.stop, Server.kill], ids=["stopped", "killed"])
async def test_a_second_server_of_a_prefix_waits_for_the_first_and_takes_over(
    typesense_server: TypesenseServer, shop: str, tmp_path: Path, end: object
) -> None:
    settings = on_typesense(typesense_server, typesense_server.url)
    assert callable(end)
    port = free_port()
    folders = tmp_path / "first", tmp_path / "second"
    settings["KAI_ENCRYPTION_KEY"] = KEY
    with running_server(folders[0], settings) as first:
        async with client_of(first) as client:
            session = await client.open_session(await client.connect(shop))
            await client.ask(session, "How many customers per country?")
        second = Server(folders[1], {**settings, "KAI_PORT": str(port)})
        with started(second) as starting:

            async def waits() -> bool:
                answer = await answer_of(port, "/healthz")
                return answer is not None and answer.status_code == 200

            await until(waits)
            answer = await answer_of(port, "/readyz")
            assert answer is not None
            assert answer.status_code == 503
            assert f"process {first.process_id} on" in answer.json()["dependencies"]["store"]["error"]
            assert not starting.done()
            await asyncio.to_thread(end, first)
            await starting
            assert second.has_waited
            async with client_of(second) as client:
                events = await client.ask(session, "How many customers per country?")
                assert chunks(events, "results")[0]["rows"] == ROWS


async def test_a_server_that_was_killed_starts_again_in_its_folder_without_a_wait(
    typesense_server: TypesenseServer, tmp_path: Path
) -> None:
    settings = on_typesense(typesense_server, typesense_server.url)
    with running_server(tmp_path, settings) as server:
        server.kill()
        server.start()
        assert not server.has_waited


async def test_a_server_whose_lease_was_taken_while_it_did_not_run_ends(
    typesense_server: TypesenseServer, tmp_path: Path
) -> None:
    settings = on_typesense(typesense_server, typesense_server.url)
    with running_server(tmp_path / "first", settings, log=tmp_path / "log") as first:
        second = Server(tmp_path / "second", settings)
        first.freeze()
        with started(second) as starting:
            await starting
            first.thaw()
            assert await asyncio.to_thread(first.wait) == 1
            assert f"process {second.process_id} on" in (tmp_path / "log").read_text()
