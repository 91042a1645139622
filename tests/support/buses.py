"""The buses that runs go over, each as one process opens it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from app.core.bus.event_log import EventLog
from app.core.bus.local import LocalLogs, LocalQueue
from app.core.bus.port import EventLogs, RunQueue, RunRef
from app.core.bus.redis_client import redis_clients
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import RedisLogs
from app.core.bus.redis_queue import RedisQueue
from tests.support.redis_server import RedisServer

LEASE_SECONDS = 0.3


@dataclass(frozen=True)
class Bus:
    """One process's end of a bus."""

    queue: RunQueue
    logs: EventLogs


def local_bus() -> Bus:
    return Bus(LocalQueue(), LocalLogs())


def new_prefix() -> str:
    return f"t{uuid4().hex}:"


@asynccontextmanager
async def redis_bus(
    server: RedisServer, prefix: str, lease_seconds: float = LEASE_SECONDS
) -> AsyncGenerator[Bus]:
    keys = RedisKeys(prefix)
    async with redis_clients(server.url) as clients:
        logs = RedisLogs(clients, keys)
        try:
            yield Bus(RedisQueue(clients, keys, lease_seconds), logs)
        finally:
            await logs.aclose()


def ref(number: int = 0) -> RunRef:
    return RunRef("session", f"run-{number}")


async def heard(log: EventLog, after: int = 0) -> list[tuple[int, str]]:
    """All of a log, to its end: ids and data."""
    return [(entry.id, entry.data) async for entry in log.read(after, stop=lambda: False)]
