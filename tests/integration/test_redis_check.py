"""A Redis that KAI cannot work with is refused at start with the cure; one that is unavailable is not."""

import logging
from pathlib import Path

import pytest

from app.core.redis_check import RedisRefused, check_redis
from app.core.servers import free_port
from tests.support import redis_server as program
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.skipif(
    not program.installed(), reason="Redis is not installed: apt-get install redis-server"
)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no Redis seem unavailable."""
    monkeypatch.setattr("app.core.redis_check._PATIENCE_SECONDS", 60.0)


class OfCluster(RedisServer):
    def _options(self) -> list[str]:
        return [*super()._options(), "--cluster-enabled", "yes", "--cluster-port", str(free_port())]


class Sentinel(RedisServer):
    def _options(self) -> list[str]:
        configuration = self.folder / "sentinel.conf"
        configuration.touch()
        return [str(configuration), "--sentinel", "--bind", "127.0.0.1", "--port", str(self.port)]


async def test_a_single_redis_passes(redis_server: RedisServer) -> None:
    await check_redis(redis_server.url)


@pytest.mark.parametrize("kind", [OfCluster, Sentinel])
async def test_a_cluster_and_a_sentinel_are_refused_with_the_cure(
    kind: type[RedisServer], tmp_path: Path
) -> None:
    server = kind(tmp_path)
    server.start()
    try:
        with pytest.raises(RedisRefused, match="follows the primary"):
            await check_redis(server.url)
    finally:
        server.kill()


async def test_an_unavailable_redis_passes_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await check_redis("redis://:s3cr3t@127.0.0.1:1/0")
    assert ["Redis is unavailable" in record.message for record in caplog.records] == [True]
    assert "s3cr3t" not in caplog.text


@pytest.mark.parametrize("parameter", ["socket_timeout=abc", "unheard_of=1", "db=shop", "protocol=9"])
async def test_a_parameter_that_redis_does_not_have_is_refused_and_not_shown(parameter: str) -> None:
    with pytest.raises(RedisRefused, match="KAI_REDIS__URL") as refused:
        await check_redis(f"redis://:s3cr3t@127.0.0.1/0?{parameter}")
    assert "s3cr3t" not in str(refused.value)
