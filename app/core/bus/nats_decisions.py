"""Decisions in JetStream: messages whose subject is the key, published only if there is none."""

import asyncio
from collections.abc import Sequence

from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from app.core.bus.nats_connection import NatsConnection
from app.core.bus.nats_streams import OLD_DECISIONS
from app.core.bus.port import ERASED, BusUnavailable

_TRIES = 3
_FETCH_SECONDS = 0.1
_ERASED_AT_ONCE = 32
"""Documents."""
_NOT_THE_LAST = 10071
_NO_MESSAGE = (None, 10037)
"""Codes of a key without a value, in a direct read and in one by the leader. Others mean a lost stream."""


class NatsDecisions:
    """Implements `Decisions` over a connection that is open."""

    def __init__(self, connection: NatsConnection) -> None:
        self._connection = connection
        self._streams = connection.streams
        self._names = connection.names
        self._is_direct = connection.settings.replicas == 1
        self._pull: JetStreamContext.PullSubscription | None = None
        self._receipts: dict[str, str] = {}
        """Of old decisions, by key."""

    @property
    def epoch(self) -> int:
        return self._connection.client.stats["reconnects"]

    async def decide(self, key: str, value: str) -> bool:
        """Tried again if the answer is lost, but not over another connection: the decision that came first
        may be lost there.
        """
        epoch, tries = self.epoch, 1
        while True:
            try:
                return await self._create(key, value) or await self.find(key) == value
            except BusUnavailable as error:
                is_late = isinstance(error.__cause__, TimeoutError)
                if not is_late or tries == _TRIES or self.epoch != epoch:
                    raise
            tries += 1

    async def _create(self, key: str, value: str) -> bool:
        """Returns False if the key has a value."""
        async with self._connection.translated_errors():
            try:
                await self._streams.publish(
                    self._names.decision(key),
                    value.encode(),
                    headers={Header.EXPECTED_LAST_SUBJECT_SEQUENCE: "0"},
                )
            except APIError as error:
                if error.err_code != _NOT_THE_LAST:
                    raise
                return False
        return True

    async def find(self, key: str) -> str | None:
        async with self._connection.translated_errors():
            try:
                found = await self._streams.get_last_msg(
                    self._names.decisions, self._names.decision(key), direct=self._is_direct
                )
            except NotFoundError as error:
                if error.err_code not in _NO_MESSAGE:
                    raise
                return None
        return (found.data or b"").decode()

    async def old(self, limit: int) -> Sequence[str]:
        """The server delivers a decision when it is made, and again when no process has acknowledged it
        for long enough. So the age is by the server's clock.
        """
        begin = len(self._names.decision(""))
        async with self._connection.translated_errors():
            if self._pull is None:
                self._pull = await self._streams.pull_subscribe_bind(OLD_DECISIONS, self._names.decisions)
            try:
                messages = await self._pull.fetch(limit, timeout=_FETCH_SECONDS)
            except (NatsTimeoutError, TimeoutError):
                return []
        old = {each.subject[begin:]: each.reply for each in messages if each.metadata.num_delivered > 1}
        self._receipts.update(old)
        return [*old]

    async def drop(self, keys: Sequence[str]) -> None:
        async with self._connection.translated_errors():
            for key in keys:
                if (receipt := self._receipts.pop(key, None)) is not None:
                    await self._connection.client.publish(receipt)

    async def erase(self, documents: Sequence[str]) -> None:
        """Replaces each message by another one, so the subjects stay used."""
        async with self._connection.translated_errors():
            is_empty = (await self._streams.stream_info(self._names.decisions)).state.messages == 0
        if is_empty:
            return
        for start in range(0, len(documents), _ERASED_AT_ONCE):
            batch = documents[start : start + _ERASED_AT_ONCE]
            await asyncio.gather(*(self._erase(document) for document in batch))

    async def _erase(self, document: str) -> None:
        begin = len(self._names.decision(""))
        async with self._connection.translated_errors():
            found = await self._streams.stream_info(
                self._names.decisions, subjects_filter=self._names.decision(f"{document}.*")
            )
        for subject in found.state.subjects or {}:
            key = subject[begin:]
            while await self.find(key) not in (None, ERASED):
                async with self._connection.translated_errors():
                    await self._streams.purge_stream(self._names.decisions, subject=subject)
                await self._create(key, ERASED)

    async def aclose(self) -> None:
        if self._pull is not None:
            async with self._connection.translated_errors():
                await self._pull.unsubscribe()
