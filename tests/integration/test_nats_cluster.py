"""The bus over three NATS servers, of which any one may be lost."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.core.bus.event_log import first_id
from app.core.bus.nats_connection import NatsConnection, NatsRefused, nats_connection
from app.core.bus.nats_jobs import NatsJobs
from app.core.bus.nats_logs import NatsLogs
from app.core.bus.nats_server import NatsNotInstalled
from app.core.bus.port import BusUnavailable
from app.core.settings import NatsSettings
from tests.support.buses import heard, ref
from tests.support.nats_server import FragileNats, running_nats_cluster
from tests.support.waiting import until

LEASE_SECONDS = 3.0
ELECTED_SECONDS = 120.0


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[FragileNats]]:
    try:
        with running_nats_cluster(tmp_path) as running:
            yield running
    except NatsNotInstalled as missing:
        pytest.skip(str(missing))


@asynccontextmanager
async def connected(servers: list[FragileNats]) -> AsyncGenerator[NatsConnection]:
    """Waits for the cluster to have elected its leaders."""
    url = ",".join(server.url for server in servers)
    connection = NatsConnection(NatsSettings(url=SecretStr(url), replicas=3), LEASE_SECONDS)

    async def opened() -> bool:
        try:
            await connection.open()
        except BusUnavailable:
            await connection.close()
            return False
        return True

    await until(opened, ELECTED_SECONDS)
    try:
        yield connection
    finally:
        await connection.close()


async def test_jobs_and_logs_outlive_the_leader_of_each_stream(servers: list[FragileNats]) -> None:
    async with connected(servers) as connection, nats_connection(connection.settings, LEASE_SECONDS) as other:
        jobs, logs, followers = NatsJobs(connection), NatsLogs(connection), NatsLogs(other)

        async def is_available() -> bool:
            try:
                await jobs.check()
            except BusUnavailable:
                return False
            return True

        for number in range(3):
            await jobs.put(ref(number), first=True)
        writer = logs.writer("run-0", 1)
        async with followers.follow("run-0") as log:
            reading = asyncio.create_task(heard(log))
            for number, stream in enumerate((connection.names.user_messages, connection.names.token_streams)):
                writer.append("chunk", str(number))
                leader = await leader_of(connection, stream)
                servers[leader].kill()
                await until(is_available, ELECTED_SECONDS)
                servers[leader].start()
                await until(is_available, ELECTED_SECONDS)
            await writer.end("done", "2")
            assert await asyncio.wait_for(reading, ELECTED_SECONDS) == [
                (first_id(1) + number, str(number)) for number in range(3)
            ]
        taken = [await jobs.take("run", ELECTED_SECONDS) for _ in range(3)]
        assert sorted(each.ref.run_id for each in taken if each) == ["run-0", "run-1", "run-2"]
        await logs.aclose()
        await followers.aclose()


@pytest.mark.parametrize("named", [1, 3])
async def test_fewer_replicas_than_servers_are_refused_with_the_number_to_set(
    servers: list[FragileNats], named: int
) -> None:
    """Whether the URL names all servers or one of them."""
    async with connected(servers):  # so that the servers know each other
        url = SecretStr(",".join(server.url for server in servers[:named]))
        with pytest.raises(NatsRefused, match="set KAI_NATS__REPLICAS=3"):
            async with nats_connection(NatsSettings(url=url, replicas=1), LEASE_SECONDS):
                """Not reached."""


async def leader_of(connection: NatsConnection, stream: str) -> int:
    """The number of the server that leads the stream."""
    cluster = (await connection.streams.stream_info(stream)).cluster
    assert cluster is not None
    assert cluster.leader is not None
    return int(cluster.leader.removeprefix("n"))
