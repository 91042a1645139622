"""KAI in the shapes that are compared, over one Typesense, one NATS and one Redis."""

import os
import sqlite3
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.storage.typesense_server import TypesenseServer
from tests.support.cluster import Cluster, shared
from tests.support.nats_server import FragileNats
from tests.support.redis_server import RedisServer
from tests.support.server import Client, Server, client_of


@dataclass(frozen=True)
class Ground:
    """What all shapes stand on."""

    folder: Path
    typesense: TypesenseServer
    nats: FragileNats
    redis: RedisServer
    model: dict[str, str]
    model_process_id: int

    @property
    def log(self) -> Path:
        """Where the processes write their logs, which would stand between the figures."""
        return self.folder / "log"

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder / 'shop.db'}"

    def processes(self, cluster: Cluster) -> dict[str, list[int]]:
        """Their ids, by their descriptions."""
        assert self.typesense.process_id is not None
        assert self.nats.process_id is not None
        return {
            "APIs": [each.process_id for each in cluster.apis],
            "workers": [each.process_id for each in cluster.workers],
            "NATS": [self.nats.process_id],
            "Typesense": [self.typesense.process_id],
            "model": [self.model_process_id],
            "client": [os.getpid()],
        }

    def build_database(self) -> None:
        with closing(sqlite3.connect(self.folder / "shop.db")) as connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
            connection.executemany("INSERT INTO customers (name) VALUES (?)", [("Ada",)] * 100)
            connection.commit()

    def over_nats(self, **more: str) -> dict[str, str]:
        """Settings of a new KAI of several processes; a machine this busy gets leases as by default."""
        leases = {"KAI_TUNING__WORKER__LEASE_SECONDS": "15"}
        return shared(self.typesense, self.nats) | self.model | leases | more

    def on_typesense(self) -> dict[str, str]:
        """Settings of a new KAI in one process."""
        return {
            name: value
            for name, value in self.over_nats().items()
            if not name.startswith(("KAI_NATS", "KAI_WORKER"))
        }


@asynccontextmanager
async def asked_of(server: Server, database: str) -> AsyncGenerator[tuple[Client, str]]:
    """A client, and the id of the database it may ask about."""
    async with client_of(server) as client:
        yield client, await client.connect(database)


@dataclass
class Use:
    """What processes have used within a block: processor seconds, and the time that went by."""

    cpu: dict[str, float]
    seconds: float = 0

    def share(self, name: str) -> str:
        return f"{100 * self.cpu[name] / self.seconds:.0f} % of a core"


@contextmanager
def used(processes: dict[str, list[int]]) -> Iterator[Use]:
    """`processes` are process ids by name."""
    before, start = _cpu(processes), time.perf_counter()
    use = Use({})
    yield use
    after, use.seconds = _cpu(processes), time.perf_counter() - start
    use.cpu = {name: after[name] - before[name] for name in processes}


def resident_mib(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1_024


def _cpu(processes: dict[str, list[int]]) -> dict[str, float]:
    return {name: sum(map(_cpu_seconds, ids)) for name, ids in processes.items()}


def _cpu_seconds(process_id: int) -> float:
    """Of all its threads so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
