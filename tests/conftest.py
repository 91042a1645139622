"""One Typesense, one NATS and one Redis server for all tests that do not break them, and the stores to be
held to one contract."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from app.core.bus.nats_server import NatsNotInstalled, NatsServer
from app.core.settings import TypesenseSettings
from app.core.storage.typesense_server import TypesenseNotInstalled, TypesenseServer
from tests.support import redis_server as redis_program
from tests.support.nats_server import FragileNats, running_nats
from tests.support.patience import PATIENT_MEMORY
from tests.support.redis_server import RedisServer, running_redis
from tests.support.stores import ADAPTERS, Open
from tests.support.typesense import ReadyStores

# The same examples in every run, however slow the machine is: a run that fails can be repeated.
settings.register_profile(
    "kai", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kai")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: no garbage collection needs to look at it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _memory_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PATIENT_MEMORY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def typesense_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypesenseServer]:
    server = TypesenseServer(tmp_path_factory.mktemp("typesense"))
    try:
        server.start()
    except TypesenseNotInstalled as missing:
        pytest.skip(str(missing))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def ready_stores(typesense_server: TypesenseServer) -> Iterator[ReadyStores]:
    stores = ReadyStores(typesense_server)
    yield stores
    stores.close()


@pytest.fixture
def ready_typesense(ready_stores: ReadyStores) -> Iterator[TypesenseSettings]:
    """Of a store that is up to date and empty. The test has closed it at its end."""
    with ready_stores.lent() as settings:
        yield settings


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    try:
        with running_nats(tmp_path_factory.mktemp("nats")) as server:
            yield server
    except NatsNotInstalled as missing:
        pytest.skip(str(missing))


@pytest.fixture
def fragile_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FragileNats]:
    """A NATS of the test's own, to break."""
    try:
        with running_nats(tmp_path_factory.mktemp("nats")) as server:
            yield server
    except NatsNotInstalled as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if not redis_program.installed():
        pytest.skip("Redis is not installed: apt-get install redis-server")
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def fragile_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis of the test's own, to break."""
    if not redis_program.installed():
        pytest.skip("Redis is not installed: apt-get install redis-server")
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=ADAPTERS)
def reopen(request: pytest.FixtureRequest) -> Open:
    """Opens the same store, again and again: each test runs with every kind."""
    return ADAPTERS[request.param](request)
