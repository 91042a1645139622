"""Events of completed messages in Redis: one stream, and a consumer group per kind.

An event is pending from when it is taken until it is acked. If its consumer does not renew for the length
of a lease, the next consumer gets it. From time to time a worker deletes events that all kinds have
processed.
"""

import time
from collections.abc import Sequence
from typing import TypeAlias, cast

from redis.exceptions import ResponseError
from redis.typing import EncodableT, FieldT

from app.core.bus.completed import KINDS, MOST_KEPT, Completed, Kind, Notice
from app.core.bus.redis_client import BLOCKS_SECONDS, RedisClients, script, translated_errors
from app.core.bus.redis_keys import RedisKeys
from app.core.ids import new_id

_TIDY_SECONDS = 30
_GONE_MS = 3_600_000

_Entries: TypeAlias = "Sequence[tuple[bytes, dict[bytes, bytes] | None]]"


class RedisCompletedEvents:
    """One consumer of each group."""

    def __init__(self, clients: RedisClients, keys: RedisKeys, lease_seconds: float) -> None:
        redis = self._redis = clients.quick
        self._patient = clients.patient
        self._stream = keys.completed
        self._lease_ms = round(lease_seconds * 1_000)
        self._consumer = new_id()
        self._tidied_at = float("-inf")
        self._renew_script = redis.register_script(script("renew_event"))
        self._tidy_script = redis.register_script(script("forget_seen"))

    async def publish(self, event: Completed) -> None:
        fields: dict[FieldT, EncodableT] = {
            "owner": event.owner,
            "session_id": event.session_id,
            "message_id": event.message_id,
            "run_id": event.run_id,
            "outcome": event.outcome,
        }
        with translated_errors():
            await self._redis.xadd(self._stream, fields, maxlen=MOST_KEPT, approximate=True)

    async def take(self, kind: Kind, patience_seconds: float) -> Notice | None:
        until = time.monotonic() + patience_seconds
        with translated_errors():
            await self._tidy()
            while True:
                try:
                    if (notice := await self._abandoned(kind) or await self._new(kind, until)) is not None:
                        return notice
                except ResponseError as error:
                    if not str(error).startswith("NOGROUP"):
                        raise
                    await self._make_group(kind)
                    continue
                if time.monotonic() >= until:
                    return None

    async def renew(self, kind: Kind, notice: Notice) -> None:
        with translated_errors():
            await self._renew_script([self._stream], [kind, self._consumer, notice.receipt])

    async def ack(self, kind: Kind, notice: Notice) -> None:
        with translated_errors():
            await self._redis.xack(self._stream, kind, notice.receipt)

    async def _abandoned(self, kind: Kind) -> Notice | None:
        """Take the first event whose lease has expired."""
        claimed = await self._redis.xautoclaim(
            self._stream, kind, self._consumer, min_idle_time=self._lease_ms, count=1
        )
        for receipt, fields in cast("_Entries", claimed[1]):
            if fields is not None:
                (pending,) = await self._redis.xpending_range(self._stream, kind, receipt, receipt, 1)
                return _notice(receipt, fields, tries=int(pending["times_delivered"]))
        return None

    async def _new(self, kind: Kind, until: float) -> Notice | None:
        left_ms = round(1_000 * min(until - time.monotonic(), BLOCKS_SECONDS, self._lease_ms / 1_000))
        block = left_ms if left_ms > 0 else None  # 0 would be for ever
        answer = await self._patient.xreadgroup(
            kind, self._consumer, {self._stream: ">"}, count=1, block=block
        )
        for _, entries in cast("Sequence[tuple[bytes, _Entries]]", answer or []):
            for receipt, fields in entries:
                if fields is not None:
                    return _notice(receipt, fields, tries=1)
        return None

    async def _make_group(self, kind: Kind) -> None:
        """Create the group at the first stored event, because earlier events are for this kind, too."""
        try:
            await self._redis.xgroup_create(self._stream, kind, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):  # another was faster
                raise

    async def _tidy(self) -> None:
        now = time.monotonic()
        if now - self._tidied_at > _TIDY_SECONDS:
            self._tidied_at = now
            await self._tidy_script([self._stream], [len(KINDS), _GONE_MS])


def _notice(receipt: bytes, fields: dict[bytes, bytes], tries: int) -> Notice:
    values = {name.decode(): value.decode() for name, value in fields.items()}
    return Notice(Completed(**values), receipt.decode(), tries)
