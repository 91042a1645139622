"""Looks for a word in everything that KAI keeps: files, collections, keys and streams."""

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import nats
from nats.js.errors import NotFoundError
from redis.asyncio import Redis

from app.core.bus.nats_server import NatsServer
from app.core.storage.typesense_server import TypesenseServer
from tests.support.redis_server import RedisServer
from tests.support.typesense import client_of

Traces = Counter[str]
"""How often a word occurs, by the place."""


def traces_in_files(folder: Path, word: str) -> Traces:
    """In the bytes of all files, whatever the case: indexes of words fold it."""
    sought = word.casefold().encode()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return Counter({path.name: path.read_bytes().lower().count(sought) for path in files}) + Counter()


def checkpoints_in_file(path: Path, thread_id: str) -> int:
    """Number of rows of a thread in all tables of LangGraph's saver."""
    with closing(sqlite3.connect(path)) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {table} WHERE thread_id = ?", [thread_id]).fetchone()[0]
            for table in ("checkpoints", "writes")
        ]
    return sum(counts)


async def count_in_typesense(server: TypesenseServer, collection: str, filter_by: str) -> int:
    async with client_of(server) as client:
        exported = await client.collections[collection].documents.export({"filter_by": filter_by})
    return len(exported.splitlines())


async def traces_in_typesense(server: TypesenseServer, prefix: str, word: str) -> Traces:
    """In the exports of all collections, also of the internal ones."""
    found: Traces = Counter()
    async with client_of(server) as client:
        for collection in await client.collections.retrieve():
            if (name := collection["name"]).startswith(prefix):
                exported = await client.collections[name].documents.export()
                found[name.removeprefix(prefix)] = exported.casefold().count(word.casefold())
    return found + Counter()


async def traces_in_nats(server: NatsServer, prefix: str, word: str) -> Traces:
    """In subjects, headers and data of the messages of all streams."""
    found: Traces = Counter()
    client = await nats.connect(server.url)
    try:
        streams = client.jetstream()
        for stream in await streams.streams_info():
            name = stream.config.name or ""
            if not name.startswith(prefix):
                continue
            for sequence in range(max(1, stream.state.first_seq), stream.state.last_seq + 1):
                try:
                    message = await streams.get_msg(name, sequence)
                except NotFoundError:
                    continue
                said = [
                    (message.data or b"").decode(errors="replace"),
                    str(message.subject),
                    str(message.headers),
                ]
                found[name.removeprefix(prefix)] += " ".join(said).casefold().count(word.casefold())
    finally:
        await client.close()
    return found + Counter()


async def traces_in_redis(server: RedisServer, prefix: str, word: str) -> Traces:
    """In keys and values, of any type."""
    found: Traces = Counter()
    async with Redis.from_url(server.url) as redis:
        async for key, value in _values(redis, prefix):
            found[key] += (key + value).casefold().count(word.casefold())
    return found + Counter()


async def _values(redis: Redis, prefix: str) -> AsyncGenerator[tuple[str, str]]:
    async for key in redis.scan_iter(f"{prefix}*"):
        kept = await redis.dump(key)
        plain = await redis.get(key) if await redis.type(key) == b"string" else None
        yield (
            str(key),
            json.dumps([repr(kept), str(plain)], ensure_ascii=False),
        )
