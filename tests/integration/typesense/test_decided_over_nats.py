"""Documents in Typesense whose changes are decided over NATS, which loses what was decided."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import pytest
from pydantic import JsonValue, SecretStr

from app.core.bus.nats_connection import NatsConnection, nats_connection
from app.core.bus.nats_decisions import NatsDecisions
from app.core.bus.port import BusUnavailable
from app.core.settings import NatsSettings
from app.core.storage.port import Collection, Equals, Field
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_server import TypesenseServer
from tests.support.buses import LEASE_SECONDS, new_prefix
from tests.support.nats_server import FragileNats
from tests.support.typesense import client_of
from tests.support.waiting import until

SESSIONS = Collection("sessions", [Field("holder", "keyword"), Field("fence", "integer")])
SESSION = str(UUID(int=1))

Lose = Callable[[FragileNats, NatsConnection], Awaitable[None]]


async def purge(server: FragileNats, connection: NatsConnection) -> None:
    await connection.streams.purge_stream(connection.names.decisions)


async def delete(server: FragileNats, connection: NatsConnection) -> None:
    await connection.streams.delete_stream(connection.names.decisions)


async def lose_disk(server: FragileNats, connection: NatsConnection) -> None:
    server.kill()
    server.lose_data()
    server.start()


@pytest.fixture
async def connections(fragile_nats: FragileNats) -> AsyncGenerator[list[NatsConnection]]:
    settings = NatsSettings(url=SecretStr(fragile_nats.url), prefix=new_prefix())
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(nats_connection(settings, LEASE_SECONDS)) for _ in range(2)]


@pytest.fixture
async def both(
    typesense_server: TypesenseServer, connections: list[NatsConnection]
) -> AsyncGenerator[list[TypesenseStorage]]:
    """The store as two processes have it."""
    prefix = f"t{uuid4().hex}_"
    async with client_of(typesense_server) as client:
        opened = [
            TypesenseStorage(client, prefix, NatsDecisions(each), decided=["sessions"])
            for each in connections
        ]
        for each in opened:
            await each.open()
            await each.create_collection(SESSIONS)
        await opened[0].create("sessions", {"id": SESSION, "holder": None, "fence": 0})
        yield opened


async def claim(storage: TypesenseStorage, holder: str, fence: int) -> bool:
    """As a process does that knows this fence."""
    changes: dict[str, JsonValue] = {"holder": holder, "fence": fence + 1}
    return await storage.patch("sessions", SESSION, changes, where=[Equals("fence", fence)]) is not None


@pytest.mark.parametrize("lose", [purge, delete, lose_disk])
@pytest.mark.parametrize("known", [0, 1])
async def test_no_fence_goes_back_whatever_nats_has_lost(
    both: list[TypesenseStorage],
    connections: list[NatsConnection],
    fragile_nats: FragileNats,
    lose: Lose,
    known: int,
) -> None:
    """A process knows a state, from before any decision or after one, that is two changes old."""
    stale, other = both
    for fence in range(known):
        assert await claim(other, "early", fence)
    await stale.get("sessions", SESSION)
    for fence in (known, known + 1):
        assert await claim(other, "holder", fence)
    await lose(fragile_nats, connections[1])

    async def is_refused() -> bool:
        try:
            assert not await claim(stale, "stale", known)
        except BusUnavailable:  # until the stream is made again
            return False
        return True

    await until(is_refused)
    for each in both:
        assert await each.get("sessions", SESSION) == {"id": SESSION, "holder": "holder", "fence": known + 2}
    assert await claim(stale, "next", known + 2)
    assert not await claim(other, "late", known + 2)
    assert await other.get("sessions", SESSION) == {"id": SESSION, "holder": "next", "fence": known + 3}


async def test_a_stream_that_is_made_again_gives_no_number_twice(
    both: list[TypesenseStorage], connections: list[NatsConnection]
) -> None:
    numbers: list[int] = []
    for fence in range(2):
        assert await claim(both[0], "holder", fence)
        decision = await NatsDecisions(connections[0]).find(f"sessions.{SESSION}")
        assert decision is not None
        numbers.append(decision.number)
        await connections[0].streams.delete_stream(connections[0].names.decisions)
        await connections[0]._make_streams()
    assert numbers[1] > numbers[0] + 1
