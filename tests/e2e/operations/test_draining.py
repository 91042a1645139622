"""A server that is asked to stop."""

import asyncio
import signal
from pathlib import Path

from tests.support.server import client_of, running_server


async def test_it_says_that_it_drains_and_serves_on_for_a_while_before_it_stops(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", {"KAI_DRAIN_SECONDS": "1"}) as server:
        async with client_of(server) as client:
            server.tell(signal.SIGTERM)
            answer = await client.http.get(f"{server.address}/readyz")
            assert (answer.status_code, answer.json()["status"]) == (503, "draining")
            assert (await client.http.get("/sessions")).status_code == 200
            assert await asyncio.to_thread(server.wait) == 0


async def test_without_a_time_to_drain_it_stops_at_once(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", {"KAI_DRAIN_SECONDS": "0"}) as server:
        server.tell(signal.SIGTERM)
        assert await asyncio.to_thread(server.wait) == 0
