"""A KAI of two APIs and two workers, for the tests that do not break it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

import nats
import pytest

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.support.cluster import Cluster, cache, running_cluster, shared
from tests.support.redis_server import RedisServer
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, client_of


@pytest.fixture(scope="module")
def cluster(
    typesense_server: TypesenseServer,
    nats_server: NatsServer,
    redis_server: RedisServer,
    model_of_all: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    settings = shared(typesense_server, nats_server) | cache(redis_server) | model_settings(model_of_all)
    settings["KAI_TUNING__WORKER__LEASE_SECONDS"] = "60"  # a busy machine makes no worker seem dead
    with running_cluster(tmp_path_factory.mktemp("cluster"), settings) as running:
        yield running


@pytest.fixture
def log_writes(nats_server: NatsServer) -> Callable[[], Awaitable[int]]:
    """Counts the messages in the logs of all runs."""

    async def count() -> int:
        client = await nats.connect(nats_server.url)
        try:
            streams = await client.jetstream().streams_info()
            logs = [each for each in streams if (each.config.name or "").endswith("token-streams")]
            return sum(each.state.messages for each in logs)
        finally:
            await client.close()

    return count


@pytest.fixture
async def first(cluster: Cluster) -> AsyncGenerator[Client]:
    async with client_of(cluster.apis[0]) as client:
        yield client


@pytest.fixture
async def second(cluster: Cluster) -> AsyncGenerator[Client]:
    async with client_of(cluster.apis[1]) as client:
        yield client
