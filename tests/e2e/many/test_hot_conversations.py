"""The instance that answered stores the conversation where every instance finds it."""

import re

from redis.asyncio import Redis

from tests.support.redis_server import RedisServer
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client


async def test_a_conversation_answered_by_a_worker_is_in_redis_before_anybody_reads_it(
    first: Client, second: Client, model: ScriptedModel, shop: str, redis_server: RedisServer
) -> None:
    session = await first.open_session(await first.connect(shop))
    model.say("CHAT: hello")
    await first.ask(session, "hi")
    async with Redis.from_url(redis_server.url) as redis:
        assert [key async for key in redis.scan_iter(f"*session:{session}")]
    before = await hits(second)
    assert len((await second.session(session))["messages"]["items"]) == 2
    assert await hits(second) == before + 1


async def hits(client: Client) -> float:
    text = (await client.http.get("/../../metrics")).text
    found = re.search(r'^kai_shared_conversation_reads_total\{outcome="hit"\} (\S+)$', text, re.MULTILINE)
    assert found, text
    return float(found[1])
