"""Many clients of few sessions, some of them rude, while the process is killed and stopped."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from tests.support.server import Event, Server, client_of, running_server
from tests.support.waiting import until

SESSIONS, CLIENTS, CYCLES = 4, 8, 3
PER_CYCLE = 3 * CLIENTS
"""Acknowledged questions, after which the process ends."""
QUESTIONS = ["How many customers?", "customers per country", "hello", "Why?", "only Brazil"]


async def use_rudely(
    server: Server, sessions: list[str], acknowledged: dict[str, str], chance: random.Random
) -> None:
    """Ask, leave early, cancel, interrupt: until the process is gone."""
    async with httpx.AsyncClient(base_url=f"{server.address}/api/v1", timeout=60) as http:
        while True:
            session = chance.choice(sessions)
            body = {
                "query": chance.choice(QUESTIONS),
                "multitask_strategy": chance.choice(["reject", "enqueue", "interrupt"]),
            }
            url = f"/sessions/{session}/query/stream"
            async with http.stream("POST", url, json=body) as answer:
                assert answer.status_code < 500
                if answer.status_code != 200:
                    continue
                run_id = answer.headers["X-Run-Id"]
                acknowledged[run_id] = session
                if chance.random() < 0.2:
                    await http.post(f"/sessions/{session}/runs/{run_id}/cancel")
                async for _ in answer.aiter_lines():
                    if chance.random() < 0.05:
                        break


def enough(acknowledged: dict[str, str], number: int) -> Callable[[], Awaitable[bool]]:
    async def is_reached() -> bool:
        return len(acknowledged) >= number

    return is_reached


async def stream_of(server: Server, session: str, run_id: str) -> list[Event]:
    async with client_of(server) as kai, kai.following(session, run_id) as stream:
        return await stream.rest()


async def test_every_acknowledged_question_ends_exactly_once(shop: str, tmp_path: Path) -> None:
    chance, acknowledged = random.Random(7), dict[str, str]()
    with running_server(tmp_path) as server:
        async with client_of(server) as kai:
            connection = await kai.connect(shop)
            sessions = [await kai.open_session(connection) for _ in range(SESSIONS)]
        for cycle in range(CYCLES):
            users = [
                asyncio.create_task(use_rudely(server, sessions, acknowledged, chance))
                for _ in range(CLIENTS)
            ]
            await until(enough(acknowledged, len(acknowledged) + PER_CYCLE))
            await asyncio.to_thread(server.kill if cycle % 2 == 0 else server.stop)
            for outcome in await asyncio.gather(*users, return_exceptions=True):
                assert isinstance(outcome, httpx.HTTPError), outcome
            server.start()
        for run_id, session in acknowledged.items():
            events = await stream_of(server, session, run_id)
            assert [event.name for event in events].count("done") == 1
            assert events[-1].name == "done"
            assert [event.id for event in events] == sorted({event.id for event in events})
        async with client_of(server) as kai:
            for session in sessions:
                assert (await kai.session(session))["status"] in ("idle", "error")
