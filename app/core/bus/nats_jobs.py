"""Jobs in JetStream: a work queue of runs, and completed messages with a durable consumer a kind.

The lease is the consumer's `ack_wait`. A job that is delivered again, or that was put in again because the
server had lost it, may still be under way: its worker is asked first, and takes the new lease over.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TypeAlias

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError

from app.core.bus.nats_connection import NATS_FAILURES, TIMEOUT_SECONDS, NatsConnection
from app.core.bus.nats_lines import RunLines
from app.core.bus.nats_streams import line_of
from app.core.bus.port import BusUnavailable, FollowUp, Kind, LeasedJob, RunRef
from app.core.ids import new_id

_TRIES = 3
_HOLDER_SECONDS = 2.0
"""How long the worker of a job may take to answer that it is still at it."""

_FIRST = "Kai-First"
_THERE_ALREADY = "maximum messages per subject exceeded"
_NAK, _PROGRESS = b"-NAK", b"+WPI"

_Key: TypeAlias = tuple[Kind, RunRef]


@dataclass
class _Held:
    """A job of this process. `receipt` is the subject that its acknowledgements go to."""

    receipt: str
    asked: Subscription | None = None
    """To the subject by which other workers ask for the holder of the run."""


class NatsJobs:
    """Implements `JobQueue` over a connection that is open."""

    def __init__(self, connection: NatsConnection) -> None:
        self._connection = connection
        self._client = connection.client
        self._streams = connection.streams
        self._names = connection.names
        self._lines = RunLines(connection)
        self._pulls: dict[FollowUp, JetStreamContext.PullSubscription] = {}
        self._held: dict[_Key, _Held] = {}

    async def put(self, ref: RunRef, *, first: bool) -> None:
        try:
            await self._publish(self._names.run(ref), ref, {_FIRST: str(int(first))})
        except BusUnavailable as error:
            cause = error.__cause__
            if not (isinstance(cause, APIError) and cause.description == _THERE_ALREADY):
                raise
        await self._lines.signal(line_of(ref.owner))

    @asynccontextmanager
    async def runs_of(self, session_id: str) -> AsyncGenerator[asyncio.Queue[str]]:
        """What is published to the queue's stream also goes to plain subscribers of its subject."""
        started: asyncio.Queue[str] = asyncio.Queue()

        async def add(message: Msg) -> None:
            started.put_nowait(message.subject.rpartition(".")[2])

        async with self._connection.translated_errors():
            listening = await self._client.subscribe(self._names.runs_of(session_id), cb=add)
            await self._client.flush(round(TIMEOUT_SECONDS))
        try:
            yield started
        finally:
            with suppress(*NATS_FAILURES):
                await listening.unsubscribe()

    async def publish_completed(self, ref: RunRef) -> None:
        await self._publish(self._names.completed(ref.session_id), ref, {Header.MSG_ID: ref.run_id})

    async def take(
        self, kind: Kind, patience_seconds: float, *, except_owners: Collection[str] = ()
    ) -> LeasedJob | None:
        async with self._connection.translated_errors():
            if kind == "run":
                message = await self._lines.take(patience_seconds, {line_of(each) for each in except_owners})
            else:
                message = await self._take_following(kind, patience_seconds)
        if message is None:
            return None
        leased = _leased(kind, message)
        if (held := self._held.get(_key(leased))) is not None:  # this process was late to renew
            held.receipt = message.reply
            return None
        self._held[_key(leased)] = _Held(message.reply)
        if leased.first:
            await self._hold(leased)
        return leased

    async def is_under_way(self, leased: LeasedJob) -> bool:
        held = self._held.get(_key(leased))
        if held is None or leased.kind != "run":
            return False
        async with self._connection.translated_errors():
            try:
                subject = self._names.holder(leased.ref.run_id)
                await self._client.request(subject, held.receipt.encode(), timeout=_HOLDER_SECONDS)
            except (NoRespondersError, NatsTimeoutError, TimeoutError):
                pass
            else:
                self._held.pop(_key(leased), None)
                return True
        await self._hold(leased)
        return False

    async def renew(self, leased: Collection[LeasedJob]) -> None:
        async with self._connection.translated_errors():
            for each in leased:
                if (held := self._held.get(_key(each))) is not None:
                    await self._client.publish(held.receipt, _PROGRESS)

    async def ack(self, leased: LeasedJob) -> None:
        await self._answer(leased, b"")

    async def requeue(self, leased: LeasedJob, *, delay_seconds: float = 0) -> None:
        delay = json.dumps({"delay": round(delay_seconds * 1e9)}).encode() if delay_seconds > 0 else b""
        await self._answer(leased, _NAK + (b" " + delay if delay else b""))

        if leased.kind == "run" and not delay:
            await self._lines.signal(line_of(leased.ref.owner))

    async def drop(self, leased: LeasedJob) -> None:
        await self._release(leased)

    async def missing(self, refs: Collection[RunRef]) -> Sequence[RunRef]:
        if not refs:
            return []
        async with self._connection.translated_errors():
            info = await self._streams.stream_info(
                self._names.user_messages, subjects_filter=self._names.runs
            )
        there = info.state.subjects or {}
        return [each for each in refs if self._names.run(each) not in there]

    async def waiting(self) -> int:
        async with self._connection.translated_errors():
            return await self._lines.waiting()

    async def emptied_at(self) -> int:
        async with self._connection.translated_errors():
            info = await self._streams.stream_info(self._names.message_completed)
        return 0 if info.created is None else round(info.created.timestamp() * 1_000)

    async def cancel(self, run_id: str) -> None:
        async with self._connection.translated_errors():
            await self._client.publish(self._names.cancel, run_id.encode())

    async def cancellations(self) -> AsyncIterator[str]:
        """Outlives reconnections. Raises `BusUnavailable` when the connection is closed."""
        async with self._connection.translated_errors():
            signals = await self._client.subscribe(self._names.cancel)
        try:
            async for message in signals.messages:
                yield message.data.decode()
        finally:
            with suppress(*NATS_FAILURES):
                await signals.unsubscribe()
        raise BusUnavailable("NATS has closed the connection (KAI_NATS__URL).")

    async def check(self) -> None:
        """Publishes to the queue's stream and makes a conditional write to that of the logs."""
        names, streams, probe_id = self._names, self._streams, new_id()
        async with self._connection.translated_errors():
            await streams.publish(names.queue_probe(probe_id))
            await streams.purge_stream(names.user_messages, subject=names.queue_probes)
            await streams.publish(
                names.log_probe(probe_id), headers={Header.EXPECTED_LAST_SUBJECT_SEQUENCE: "0"}
            )

    async def aclose(self) -> None:
        for kind in [*self._pulls]:
            await self._abandon(kind)

    async def _take_following(self, kind: FollowUp, patience_seconds: float) -> Msg | None:
        pull = await self._pull(kind)
        try:
            (message,) = await pull.fetch(1, timeout=max(patience_seconds, 0.01))
        except (NatsTimeoutError, TimeoutError):
            return None
        except asyncio.CancelledError:
            await self._abandon(kind)
            raise
        return message

    async def _abandon(self, kind: FollowUp) -> None:
        """Withdraw the present request for a job: the next job goes to a process that waits for it."""
        with suppress(*NATS_FAILURES):
            await self._pulls.pop(kind).unsubscribe()

    async def _publish(self, subject: str, ref: RunRef, headers: dict[str, str]) -> None:
        """Published again after a timeout: the message is one all the same."""
        data = json.dumps(asdict(ref)).encode()
        for tries_left in reversed(range(_TRIES)):
            try:
                async with self._connection.translated_errors():
                    await self._streams.publish(subject, data, headers=dict(headers))
                    return
            except BusUnavailable as error:
                if tries_left == 0 or not isinstance(error.__cause__, TimeoutError):
                    raise

    async def _pull(self, kind: FollowUp) -> JetStreamContext.PullSubscription:
        if kind not in self._pulls:
            stream = self._names.message_completed
            self._pulls[kind] = await self._streams.pull_subscribe_bind(kind, stream)
        return self._pulls[kind]

    async def _answer(self, leased: LeasedJob, answer: bytes) -> None:
        """Returns once the server has got the acknowledgement."""
        receipt = await self._release(leased)
        if receipt is not None:
            async with self._connection.translated_errors():
                await self._client.request(receipt, answer, timeout=TIMEOUT_SECONDS)

    # Who is at a job

    async def _hold(self, leased: LeasedJob) -> None:
        """Answer for the job from now on. A job that is not held in the end is not this process's."""
        try:
            async with self._connection.translated_errors():
                await self._answer_for(leased)
        except BaseException:
            self._held.pop(_key(leased), None)
            raise

    async def _answer_for(self, leased: LeasedJob) -> None:
        """Answer those who ask for the holder of the run; their lease is renewed from then on."""
        key = _key(leased)

        async def answer(message: Msg) -> None:
            if (held := self._held.get(key)) is not None:
                held.receipt = message.data.decode()
                await message.respond(b"")

        if leased.kind == "run" and (held := self._held.get(key)) is not None:
            held.asked = await self._client.subscribe(self._names.holder(leased.ref.run_id), cb=answer)

    async def _release(self, leased: LeasedJob) -> str | None:
        held = self._held.pop(_key(leased), None)
        if held is None:
            return None
        if held.asked is not None:
            with suppress(*NATS_FAILURES):
                await held.asked.unsubscribe()
        return held.receipt


def _key(leased: LeasedJob) -> _Key:
    return leased.kind, leased.ref


def _leased(kind: Kind, message: Msg) -> LeasedJob:
    tries = message.metadata.num_delivered
    first = (message.headers or {}).get(_FIRST) == "1" and tries == 1
    added_at = round(message.metadata.timestamp.timestamp() * 1_000)
    return LeasedJob(kind, RunRef(**json.loads(message.data)), first, tries, added_at=added_at)
