"""Decisions in JetStream: the last message of each document's subject.

The server publishes one only if the subject's last sequence is the expected one.
"""

import asyncio
from collections.abc import Sequence

from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from app.core.bus.nats_connection import NatsConnection
from app.core.bus.port import ERASED, BusUnavailable, Decision

_TRIES = 3
_ERASED_AT_ONCE = 32
"""Documents."""
_NOT_THE_LAST = 10071
_NO_MESSAGE = (None, 10037)
"""Codes of a subject without a message, in a direct read and in one by the leader. Others mean a lost stream.
"""


class NatsDecisions:
    """Implements `Decisions` over a connection that is open."""

    may_lose = True

    def __init__(self, connection: NatsConnection) -> None:
        self._connection = connection
        self._streams = connection.streams
        self._names = connection.names
        self._is_direct = connection.settings.replicas == 1

    @property
    def connections(self) -> int:
        return self._connection.client.stats["reconnects"]

    async def decide(self, document: str, value: str, after: int) -> int | None:
        """Tried again if the answer is lost."""
        tries = 1
        while True:
            try:
                made = await self._publish(document, value, after)
                if made is None and (latest := await self.find(document)) and latest.value == value:
                    return latest.number
            except BusUnavailable as error:
                if not isinstance(error.__cause__, TimeoutError) or tries == _TRIES:
                    raise
                tries += 1
            else:
                if made is None and tries > 1:
                    raise BusUnavailable("It is not known what was decided: NATS has answered late.")
                return made

    async def _publish(self, document: str, value: str, after: int) -> int | None:
        """Returns None if the latest decision is another."""
        async with self._connection.translated_errors():
            try:
                acknowledged = await self._streams.publish(
                    self._names.decision(document),
                    value.encode(),
                    headers={Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(after)},
                )
            except APIError as error:
                if error.err_code != _NOT_THE_LAST:
                    raise
                return None
        return acknowledged.seq

    async def find(self, document: str) -> Decision | None:
        async with self._connection.translated_errors():
            try:
                found = await self._streams.get_last_msg(
                    self._names.decisions, self._names.decision(document), direct=self._is_direct
                )
            except NotFoundError as error:
                if error.err_code not in _NO_MESSAGE:
                    raise
                return None
        return Decision(found.seq or 0, (found.data or b"").decode())

    async def erase(self, documents: Sequence[str]) -> None:
        for start in range(0, len(documents), _ERASED_AT_ONCE):
            batch = documents[start : start + _ERASED_AT_ONCE]
            await asyncio.gather(*(self._erase(document) for document in batch))

    async def _erase(self, document: str) -> None:
        while (latest := await self.find(document)) is not None and latest.value != ERASED:
            await self._publish(document, ERASED, latest.number)
