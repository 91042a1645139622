"""A server that is asked to stop."""

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import model_settings
from tests.e2e.test_approval import PLAN_TO_ACT, agent_session, card_of, decide, follow
from tests.e2e.test_investigations import calls, finish, named
from tests.support import booking_tool
from tests.support.scripted_model import ScriptedModel
from tests.support.server import client_of, running_server
from tests.support.waiting import until


async def test_it_says_that_it_drains_and_serves_on_until_a_second_signal(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", {"KAI_DRAIN_SECONDS": "300"}) as server:
        async with client_of(server) as client:

            async def drains() -> bool:
                answer = await client.http.get(f"{server.address}/readyz")
                return bool((answer.status_code, answer.json()["status"]) == (503, "draining"))

            server.tell(signal.SIGTERM)
            await until(drains)
            assert (await client.http.get("/sessions")).status_code == 200
            server.tell(signal.SIGTERM)
            assert await asyncio.to_thread(server.wait) == 0


@pytest.mark.parametrize("seconds", ["0", "0.2"])
async def test_after_the_time_to_drain_it_stops_by_itself(tmp_path: Path, seconds: str) -> None:
    with running_server(tmp_path / "data", {"KAI_DRAIN_SECONDS": seconds}) as server:
        server.tell(signal.SIGTERM)
        assert await asyncio.to_thread(server.wait) == 0


async def test_an_action_under_way_ends_before_the_server_stops_and_its_turn_goes_on_at_the_next_start(
    model: ScriptedModel, shop: str, tmp_path: Path
) -> None:
    booking_tool.install(tmp_path / "site")
    bookings = tmp_path / "bookings"
    settings = {
        **model_settings(model),
        "PYTHONPATH": str(tmp_path / "site"),
        booking_tool.VARIABLE: str(bookings),
        "KAI_TOOLS__EXTENSIONS": "true",
    }
    with running_server(tmp_path / "data", settings) as server:
        async with client_of(server) as kai:
            session = await agent_session(kai, shop)
            may_end = tmp_path / "may end"
            model.say(PLAN_TO_ACT, calls(("book", {"n": 7, "waits_for": str(may_end)})))
            await kai.ask(session, "Book seven.")
            decided = await decide(kai, session, await card_of(kai, session))

            async def is_booked() -> bool:
                return bookings.exists()

            async def is_closed() -> bool:
                try:
                    await kai.http.get(f"{server.address}/readyz")
                except httpx.TransportError:
                    return True
                return False

            await until(is_booked)
            server.tell(signal.SIGTERM)
            await until(is_closed)
        longer_than_it_drains = 1.5
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(server.wait, longer_than_it_drains)
        may_end.touch()
        assert await asyncio.to_thread(server.wait) == 0
        server.stop()
        assert len(model.requests) == 2
        model.say(finish("It is booked."))
        server.start()
        async with client_of(server) as kai:
            events = await follow(kai, session, decided.json()["run_id"])
            assert events[-1].data["status"] == "complete"
            (returned,) = named(events, "tool_result")
            assert (returned["status"], returned["content"]) == ("done", "booked 7")
    assert bookings.read_text().split() == ["7"]
