"""KAI as several processes: APIs and workers over one Typesense and one NATS."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from cryptography.fernet import Fernet

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.support.redis_server import RedisServer
from tests.support.server import Server


@dataclass(frozen=True)
class Cluster:
    apis: Sequence[Server]
    workers: Sequence[Server]
    afterwards: Sequence[Server] = ()
    """The workers on what is answered."""

    @property
    def processes(self) -> list[Server]:
        return [*self.apis, *self.workers, *self.afterwards]


def cache(redis: RedisServer) -> dict[str, str]:
    """The settings by which processes share hot conversations and the counts of rates."""
    return {"KAI_REDIS__URL": redis.url, "KAI_REDIS__PREFIX": f"t{uuid4().hex}_"}


def shared(typesense: TypesenseServer, nats: NatsServer) -> dict[str, str]:
    """The settings by which processes are one KAI; each call makes another."""
    name = f"t{uuid4().hex}_"
    return {
        "KAI_STORE": "typesense",
        "KAI_TYPESENSE__NODES": f'["{typesense.url}"]',
        "KAI_TYPESENSE__API_KEY": typesense.api_key,
        "KAI_TYPESENSE__PREFIX": name,
        "KAI_NATS__URL": nats.url,
        "KAI_NATS__PREFIX": name,
        "KAI_ENCRYPTION_KEY": Fernet.generate_key().decode(),
        "KAI_TUNING__WORKER__LEASE_SECONDS": "3",
    }


@contextmanager
def running_cluster(
    folder: Path,
    settings: dict[str, str],
    *,
    apis: int = 2,
    parts: Sequence[str] = (),
    workers: int = 2,
    kinds: Sequence[str] = (),
    clock_ahead_seconds: int = 0,
    log: Path | None = None,
) -> Iterator[Cluster]:
    """On one machine, each with a data folder of its own. `log` is where all logs go; see `Server`.

    `parts`: what further APIs serve, one part each.
    """
    serving = ["api"] * apis + [f"api --serve {part}" for part in parts]
    roles = serving + ["worker"] * workers + [f"worker --kind {kind}" for kind in kinds]
    processes = [
        Server(folder / f"{role.split()[0]}{n}", settings, role, clock_ahead_seconds, log=log)
        for n, role in enumerate(roles)
    ]
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(Server.start, processes))
        apis = len(serving)
        yield Cluster(processes[:apis], processes[apis : apis + workers], processes[apis + workers :])
    finally:
        for process in processes:
            process.kill()
