"""Redis-backed run queue: one sorted set of waiting runs, and one of leased runs.

Not a stream with a consumer group, for two reasons: a worker must find its lease again after Redis has lost
its data, and a run that is added twice must be delivered once. The scripts are in `lua/`. All times are
those of the Redis server, so the clocks of the processes do not matter.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Sequence

from app.core.bus.port import LeasedRun, RenewedLease, RunRef
from app.core.bus.redis_client import (
    BLOCKS_SECONDS,
    REDIS_FAILURES,
    RedisClients,
    script,
    translated_errors,
)
from app.core.bus.redis_keys import RedisKeys
from app.core.bus.redis_logs import KEPT_SECONDS

_AGAIN_SECONDS = 0.5
_CANCELLED_SECONDS = 3_600
_BEFORE_ALL = "0"


class RedisQueue:
    def __init__(self, clients: RedisClients, keys: RedisKeys, lease_seconds: float) -> None:
        redis = self._redis = clients.quick
        self._patient = clients.patient
        self._keys = keys
        self._lease_ms = round(lease_seconds * 1_000)
        self._put_script = redis.register_script(script("put"))
        self._take_script = redis.register_script(script("take"))
        self._renew_script = redis.register_script(script("renew"))

    async def put(self, ref: RunRef, *, first: bool) -> None:
        await self._put(_text(ref), "1" if first else "0")

    async def take(self, patience_seconds: float) -> LeasedRun | None:
        keys, until = self._keys, time.monotonic() + patience_seconds
        with translated_errors():
            while True:
                where = [keys.waiting, keys.leased, keys.first]
                if (taken := await self._take_script(where, [self._lease_ms])) is not None:
                    return LeasedRun(_ref(taken[0]), first=bool(taken[1]))
                left = min(until - time.monotonic(), BLOCKS_SECONDS)
                if left <= 0:
                    return None
                await self._patient.blpop([keys.wake], timeout=left)

    async def renew(self, attempts: Sequence[tuple[RunRef, int]]) -> Sequence[RenewedLease]:
        where, arguments = [self._keys.leased], [str(self._lease_ms), str(KEPT_SECONDS)]
        for ref, attempt in attempts:
            where += [self._keys.log(ref.run_id), self._keys.cancelled(ref.run_id)]
            arguments += [_text(ref), str(attempt)]
        with translated_errors():
            renewed = await self._renew_script(where, arguments)
        return [
            RenewedLease(ref, lost=bool(lost), cancelled=bool(cancelled))
            for (ref, _), (lost, cancelled) in zip(attempts, renewed, strict=True)
        ]

    async def ack(self, ref: RunRef) -> None:
        keys, text = self._keys, _text(ref)
        with translated_errors():
            async with self._redis.pipeline() as together:
                together.zrem(keys.leased, text)
                together.zrem(keys.waiting, text)
                together.srem(keys.first, text)
                together.delete(keys.cancelled(ref.run_id))
                await together.execute()

    async def requeue(self, leased: LeasedRun) -> None:
        text = _text(leased.ref)
        with translated_errors():
            await self._redis.zrem(self._keys.leased, text)
        await self._put(text, "1" if leased.first else "0", _BEFORE_ALL)

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        if not refs:
            return []
        texts = [_text(each) for each in refs]
        with translated_errors():
            waiting = await self._redis.zmscore(self._keys.waiting, texts)
            leased = await self._redis.zmscore(self._keys.leased, texts)
        found = zip(refs, waiting, leased, strict=True)
        return [ref for ref, waits, held in found if waits is None and held is None]

    async def waiting(self) -> int:
        with translated_errors():
            return int(await self._redis.zcard(self._keys.waiting))

    async def cancel(self, run_id: str) -> None:
        with translated_errors():
            await self._redis.set(self._keys.cancelled(run_id), 1, ex=_CANCELLED_SECONDS)
            await self._redis.publish(self._keys.cancellations, run_id)

    async def cancellations(self) -> AsyncIterator[str]:
        while True:
            try:
                async with self._patient.pubsub() as channel:
                    await channel.subscribe(self._keys.cancellations)
                    while True:
                        message = await channel.get_message(True, BLOCKS_SECONDS)
                        if message is not None:
                            yield message["data"].decode()
            except REDIS_FAILURES:
                await asyncio.sleep(_AGAIN_SECONDS)

    async def ping(self) -> None:
        with translated_errors():
            await self._redis.ping()

    async def _put(self, *arguments: str) -> None:
        keys = self._keys
        with translated_errors():
            await self._put_script([keys.waiting, keys.leased, keys.first, keys.wake], arguments)


def _text(ref: RunRef) -> str:
    return f"{ref.session_id}:{ref.run_id}"


def _ref(text: bytes) -> RunRef:
    session_id, run_id = text.decode().split(":")
    return RunRef(session_id, run_id)
