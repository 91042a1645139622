"""Lines in which runs wait in JetStream, so that owners take turns.

A line has a durable consumer. Owners are spread over the lines by their names, so a line may have several
owners; its runs are delivered oldest first. A worker asks lines in turn. It learns by a signal, which may be
lost, that a line has a run; expired leases come without one, so all lines are asked once in each wait.
"""

import asyncio
import time
from collections.abc import Collection, Iterable
from contextlib import suppress

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import ConsumerInfo, Header

from app.core.bus.nats_connection import NATS_FAILURES, TIMEOUT_SECONDS, NatsConnection
from app.core.bus.nats_streams import LINES, run_consumer

_ALL_SECONDS = 1.0
"""Interval of asking all lines."""

_AGAIN_SECONDS = 0.25
_ONE_NOW = b'{"batch":1,"no_wait":true}'


class RunLines:
    """The lines as one process takes from them. Methods raise what NATS raises."""

    def __init__(self, connection: NatsConnection) -> None:
        self._client = connection.client
        self._streams = connection.streams
        self._names = connection.names
        self._turns = [*range(LINES)]
        """Those whose last turn is the longest ago come first."""
        self._ready = set(self._turns)
        """Lines that may have a run."""
        self._news = asyncio.Event()
        self._all_at = 0.0
        """When all lines are asked next."""
        self._signals: Subscription | None = None

    async def signal(self, line: int) -> None:
        """Wake the workers that wait."""
        with suppress(*NATS_FAILURES):
            await self._client.publish(self._names.ready, str(line).encode())

    async def take(self, patience_seconds: float, except_lines: Collection[int]) -> Msg | None:
        if self._signals is None:
            self._signals = await self._client.subscribe(self._names.ready, cb=self._hear)
        lines = set(range(LINES)) - set(except_lines)
        until = time.monotonic() + patience_seconds
        while True:
            try:
                message = await self._first_of(self._ready & lines)
                if message is None and not await self._wait(lines, min(until, self._all_at)):
                    self._all_at = time.monotonic() + _ALL_SECONDS
                    message = await self._first_of(lines)
            except NATS_FAILURES:  # one line may have no leader now
                if time.monotonic() >= until:
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                if message is not None or time.monotonic() >= until:
                    return message

    async def _wait(self, lines: Collection[int], until: float) -> bool:
        """Whether one of these lines may have a run before then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(until - time.monotonic()):
                while self._ready.isdisjoint(lines):
                    self._news.clear()
                    await self._news.wait()
        return not self._ready.isdisjoint(lines)

    async def waiting(self) -> int:
        """The number of runs that are not delivered, without lines that have no leader now."""
        stream = self._names.user_messages
        infos = await asyncio.gather(
            *(
                self._streams.consumer_info(stream, run_consumer(line), timeout=TIMEOUT_SECONDS)
                for line in range(LINES)
            ),
            return_exceptions=True,
        )
        failures = [each for each in infos if isinstance(each, BaseException)]
        if len(failures) == LINES:
            raise failures[0]
        return sum(info.num_pending or 0 for info in infos if isinstance(info, ConsumerInfo))

    async def _hear(self, message: Msg) -> None:
        self._ready.add(int(message.data))
        self._news.set()

    async def _first_of(self, lines: Collection[int]) -> Msg | None:
        for line in self._in_turn(lines):
            self._ready.discard(line)  # a signal from now on counts
            try:
                message = await self._next(line)
            except NATS_FAILURES:
                self._end_turn(line)  # another line may have a leader
                raise
            if message is not None:
                self._ready.add(line)
                self._end_turn(line)
                return message
        return None

    def _end_turn(self, line: int) -> None:
        self._turns.remove(line)
        self._turns.append(line)

    def _in_turn(self, lines: Collection[int]) -> Iterable[int]:
        return [line for line in self._turns if line in lines]

    async def _next(self, line: int) -> Msg | None:
        """The next run of a line, if there is one now. If it is too late for it, another worker gets it."""
        asking = asyncio.create_task(self._ask(line), name="nats: next run of a line")
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            with suppress(*NATS_FAILURES):
                if (message := await asking) is not None:
                    await message.nak()
            raise

    async def _ask(self, line: int) -> Msg | None:
        consumer = f"{self._names.user_messages}.{run_consumer(line)}"
        answer = await self._client.request(
            f"$JS.API.CONSUMER.MSG.NEXT.{consumer}", _ONE_NOW, timeout=TIMEOUT_SECONDS, old_style=True
        )
        is_status = Header.STATUS in (answer.headers or {})
        return None if is_status else answer
