"""A KAI of two APIs and two workers, for the tests that do not break it."""

from collections.abc import AsyncGenerator, Callable, Iterator

import pytest
from redis import Redis

from app.core.storage.typesense_server import TypesenseServer
from tests.e2e.conftest import model_settings
from tests.support.cluster import Cluster, running_cluster, shared
from tests.support.redis_server import RedisServer
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, client_of


@pytest.fixture(scope="module")
def cluster(
    typesense_server: TypesenseServer,
    redis_server: RedisServer,
    model_of_all: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    settings = shared(typesense_server, redis_server) | model_settings(model_of_all)
    with running_cluster(tmp_path_factory.mktemp("cluster"), settings) as running:
        yield running


@pytest.fixture
def log_writes(redis_server: RedisServer) -> Callable[[], int]:
    """How many entries were added to streams so far."""

    def count() -> int:
        with Redis.from_url(redis_server.url) as redis:
            calls = redis.info("commandstats").get("cmdstat_xadd", {"calls": 0})["calls"]
        return int(calls)

    return count


@pytest.fixture
async def first(cluster: Cluster) -> AsyncGenerator[Client]:
    async with client_of(cluster.apis[0]) as client:
        yield client


@pytest.fixture
async def second(cluster: Cluster) -> AsyncGenerator[Client]:
    async with client_of(cluster.apis[1]) as client:
        yield client
