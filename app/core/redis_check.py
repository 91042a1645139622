"""Check of a Redis at start. What KAI keeps in one is a best effort, so an unavailable one passes."""

import asyncio
import logging

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from app.core.errors import CannotRun

_PATIENCE_SECONDS = 1.0

_CURE = "Give KAI_REDIS__URL one server, or a name or proxy that follows the primary; or leave it out."

logger = logging.getLogger(__name__)


class RedisRefused(CannotRun):
    """KAI cannot work with this Redis or with its URL."""


async def check_redis(url: str) -> None:
    """Raises `RedisRefused` for a URL with a wrong parameter, a Sentinel or a node of a cluster."""
    redis = _client(url)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            mode = (await redis.info("server")).get("redis_mode")
    except (RedisError, OSError, TimeoutError) as error:
        logger.warning(
            "Redis is unavailable (%s): nothing is cached, rates are not counted", type(error).__name__
        )
        return
    finally:
        await redis.aclose()
    if mode == "cluster":
        raise RedisRefused(f"KAI does not speak to a Redis Cluster. {_CURE}")
    if mode == "sentinel":
        raise RedisRefused(f"This is a Sentinel, not the Redis that it watches. {_CURE}")


def _client(url: str) -> Redis:
    try:
        pool = BlockingConnectionPool.from_url(url, max_connections=1)
        pool.connection_class(**pool.connection_kwargs)  # not connected yet, but it takes the parameters
    except (TypeError, ValueError, RedisError):
        raise RedisRefused(
            "KAI_REDIS__URL brings a parameter that is unknown or has no such value. Leave it out."
        ) from None
    return Redis.from_pool(pool)
