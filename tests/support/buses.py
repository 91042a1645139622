"""The buses that jobs go over, each as one process opens it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from pydantic import SecretStr

from app.core.bus.event_log import EventLog
from app.core.bus.local import LocalDecisions, LocalJobs, LocalLogs
from app.core.bus.nats_connection import nats_connection
from app.core.bus.nats_decisions import NatsDecisions
from app.core.bus.nats_jobs import NatsJobs
from app.core.bus.nats_logs import NatsLogs
from app.core.bus.nats_server import NatsServer
from app.core.bus.port import Decisions, EventLogs, RunQueue, RunRef
from app.core.settings import NatsSettings

LEASE_SECONDS = 0.3


@dataclass(frozen=True)
class Bus:
    """One process's end of a bus."""

    queue: RunQueue
    logs: EventLogs
    decisions: Decisions = field(default_factory=LocalDecisions)


def local_bus() -> Bus:
    return Bus(LocalJobs(), LocalLogs())


def new_prefix() -> str:
    return f"t{uuid4().hex}_"


@asynccontextmanager
async def nats_bus(
    server: NatsServer, prefix: str, lease_seconds: float = LEASE_SECONDS
) -> AsyncGenerator[Bus]:
    settings = NatsSettings(url=SecretStr(server.url), prefix=prefix)
    async with nats_connection(settings, lease_seconds) as connection:
        jobs, logs, decisions = NatsJobs(connection), NatsLogs(connection), NatsDecisions(connection)
        try:
            yield Bus(jobs, logs, decisions)
        finally:
            await logs.aclose()
            await jobs.aclose()


def ref(number: int = 0, owner: str = "ann") -> RunRef:
    return RunRef(owner, "session", f"run-{number}")


async def heard(log: EventLog, after: int = 0) -> list[tuple[int, str]]:
    """All of a log, to its end: ids and data."""
    return [(entry.id, entry.data) async for entry in log.read(after, stop=lambda: False)]
