"""Schedules over a store under test: pins that are scheduled, runs at a chosen time, and receivers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from app.core.auth.api_keys import ApiKeys
from app.core.clock import as_datetime, now_ms
from app.core.storage.port import Storage
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.running import Runs
from app.modules.schedules.times import next_time
from tests.support.boards import BoardKai, Json
from tests.support.webhooks import events_of

COUNT = "SELECT count(*) AS customers FROM customers"
FAR_DAY = (as_datetime(now_ms()).day + 13) % 28 + 1
MONTHLY = f"0 12 {FAR_DAY} * *"
"""Days away from now, so that the worker of the process under test leaves it to the test's own clock."""
MINUTE = 60_000


@dataclass
class Hook:
    """A receiver of webhooks that answers with each status in turn, and then with 204."""

    port: int = 0
    statuses: list[int] = field(default_factory=list)
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in?token=hidden-token"

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = [line.split(": ", 1) for line in head[1:] if line]
        headers = {name.lower(): value for name, value in fields}
        self.requests.append((headers, await reader.readexactly(int(headers["content-length"]))))
        status = self.statuses.pop(0) if self.statuses else 204
        more = f"Location: http://127.0.0.1:{self.port}/\r\nContent-Length: 0\r\nConnection: close\r\n"
        writer.write(f"HTTP/1.1 {status} X\r\n{more}\r\n".encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def receiver(*statuses: int) -> AsyncIterator[Hook]:
    hook = Hook(statuses=[*statuses])
    async with await asyncio.start_server(hook.receive, "127.0.0.1", 0) as server:
        hook.port = server.sockets[0].getsockname()[1]
        yield hook


async def scheduled(kai: BoardKai, sql: str = COUNT, **fields: object) -> Json:
    """Pin an answer and schedule the pin."""
    board = await kai.board()
    pin = await kai.pinned(board, await kai.answer(sql, "How many customers?"))
    given: dict[str, object] = {"board_id": board, "pin_id": pin["id"], "cron": MONTHLY, **fields}
    return await kai.call("POST", "/schedules", 201, **given)


def time_of(schedule: Json) -> int:
    """Its next time."""
    return next_time(schedule["cron"], schedule["time_zone"], now_ms())


def runs(
    kai: BoardKai, at: int, metrics: CollectorRegistry | None = None, *, storage: Storage | None = None
) -> Runs:
    """A worker whose clock stands."""
    storage = storage or kai.services.storage
    boards = BoardRepository(storage)
    refreshing = Refreshing(boards, kai.services.database_connections, CollectorRegistry())
    metrics = metrics or CollectorRegistry()
    return Runs(
        ScheduleRepository(storage),
        boards,
        refreshing,
        events=events_of(storage),
        connections=kai.services.database_connections.repository,
        keys=ApiKeys(storage),
        metrics=metrics,
        now=lambda: at,
    )


async def run_due(kai: BoardKai, at: int, metrics: CollectorRegistry | None = None) -> int:
    """Run what is due. Returns the number of runs."""
    worker = runs(kai, at, metrics)
    claimed = await worker.claim(10)
    for each in claimed:
        await worker.run(each)
    return len(claimed)


async def notices(kai: BoardKai) -> list[Json]:
    found: list[Json] = (await kai.call("GET", "/notices"))["items"]
    return found
