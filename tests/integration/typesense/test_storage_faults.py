"""The store on Typesense when the server, or the way to it, fails."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from pydantic import SecretStr

from app.core.storage.port import (
    Collection,
    Document,
    DocumentExists,
    Equals,
    Field,
    StorageRefused,
    StorageUnavailable,
)
from app.core.storage.typesense import TypesenseStorage
from app.core.storage.typesense_client import TypesenseAddress
from app.core.storage.typesense_server import TypesenseServer
from tests.support.fault_proxy import FaultProxy, fault_proxy
from tests.support.typesense import ConfiguredServer, Wire, address_of, client_of, cluster, open_typesense
from tests.support.waiting import until

JOBS = Collection("jobs", [Field("owner", "keyword")])


def uid(number: int) -> str:
    return str(UUID(int=number))


def tried(server: TypesenseServer, url: str, seconds: float = 10) -> TypesenseAddress:
    """Gives up when it has not answered three times within these seconds."""
    return TypesenseAddress(
        nodes=[url], api_key=SecretStr(server.api_key), timeout_seconds=seconds, max_retries=2
    )


@pytest.fixture
async def proxy(typesense_server: TypesenseServer) -> AsyncGenerator[FaultProxy]:
    async with fault_proxy(typesense_server.port) as opened:
        yield opened


@pytest.fixture
def prefix() -> str:
    return f"t{uuid4().hex}_"


@pytest.fixture
async def storage(
    typesense_server: TypesenseServer, proxy: FaultProxy, prefix: str
) -> AsyncGenerator[TypesenseStorage]:
    """Behind the proxy, with an empty collection."""
    async with open_typesense(tried(typesense_server, proxy.url), prefix) as opened:
        await opened.create_collection(JOBS)
        yield opened


async def test_a_server_that_is_unavailable_is_an_unavailable_store(
    typesense_server: TypesenseServer,
) -> None:
    started = time.monotonic()
    with pytest.raises(StorageUnavailable, match="does not answer as it should: ConnectError"):
        async with open_typesense(tried(typesense_server, "http://127.0.0.1:1"), "t_"):
            pass
    assert time.monotonic() - started < 60


async def test_a_wrong_key_is_said_at_once(typesense_server: TypesenseServer) -> None:
    address = TypesenseAddress([typesense_server.url], SecretStr("wrong"), timeout_seconds=5, max_retries=2)
    with pytest.raises(StorageRefused, match="KAI_TYPESENSE__API_KEY") as refused:
        async with open_typesense(address, "t_"):
            pass
    assert typesense_server.api_key not in str(refused.value)


async def test_connections_that_are_cut_are_made_again_unnoticed(
    storage: TypesenseStorage, proxy: FaultProxy
) -> None:
    for number in range(1, 11):
        proxy.reset_all()
        await storage.create("jobs", {"id": uid(number)})
        proxy.reset_all()
        assert await storage.patch("jobs", uid(number), {"owner": "o"}, where=[Equals("owner", None)])
    assert await storage.count("jobs", [Equals("owner", "o")]) == 10


@pytest.mark.parametrize("fault", ["refusing", "swallowing"])
async def test_a_store_that_was_unavailable_works_again_without_being_reopened(
    typesense_server: TypesenseServer, storage: TypesenseStorage, proxy: FaultProxy, prefix: str, fault: str
) -> None:
    await storage.create("jobs", {"id": uid(1)})
    async with AsyncExitStack() as stack:
        opened: list[TypesenseStorage] = []

        async def opens() -> bool:
            with suppress(StorageUnavailable):  # a busy machine is late
                address = tried(typesense_server, proxy.url, seconds=0.5)
                opened.append(await stack.enter_async_context(open_typesense(address, prefix)))
            return bool(opened)

        await until(opens)
        (hasty,) = opened
        setattr(proxy, fault, True)
        for attempt in (
            hasty.get("jobs", uid(1)),
            hasty.create("jobs", {"id": uid(2)}),
            hasty.patch("jobs", uid(1), {"owner": "o"}),
            hasty.delete("jobs", [Equals("id", uid(1))]),
        ):
            with pytest.raises(StorageUnavailable):
                await attempt
        setattr(proxy, fault, False)
        proxy.reset_all()

        async def works() -> bool:
            with suppress(StorageUnavailable):  # a busy machine is late, too
                return await hasty.get("jobs", uid(1)) == {"id": uid(1)}
            return False

        await until(works)


async def test_a_slow_server_is_waited_for(storage: TypesenseStorage, proxy: FaultProxy) -> None:
    proxy.delay_seconds = 0.1
    await storage.create("jobs", {"id": uid(1)})
    assert await storage.get("jobs", uid(1)) is not None


async def test_a_document_is_not_called_another_ones_when_only_the_answer_was_lost(
    storage: TypesenseStorage, proxy: FaultProxy
) -> None:
    async def lose_an_answer() -> None:
        proxy.delay_seconds = 0.05
        await asyncio.sleep(0.08)  # the request has arrived, its answer is on the way
        proxy.reset_all()
        proxy.delay_seconds = 0

    for number in range(1, 6):
        await asyncio.gather(storage.create("jobs", {"id": uid(number)}), lose_an_answer())
    with pytest.raises(DocumentExists):
        await storage.create("jobs", {"id": uid(1)})


# A change whose maker died between claiming and writing it


async def test_a_change_that_was_claimed_and_not_written_is_finished_by_the_next(
    typesense_server: TypesenseServer, wire: Wire
) -> None:
    async with client_of(typesense_server, wire) as client:
        storage = TypesenseStorage(client, f"t{uuid4().hex}_")
        await storage.open()
        await storage.create_collection(JOBS)
        await storage.create("jobs", {"id": uid(1), "owner": None})
        wire.refuses = "action=update"
        with pytest.raises(StorageUnavailable):
            await storage.patch("jobs", uid(1), {"owner": "the dead"}, where=[Equals("owner", None)])
        wire.refuses = None
        assert await storage.patch("jobs", uid(1), {"owner": "late"}, where=[Equals("owner", None)]) is None
        changed = await storage.patch("jobs", uid(1), {"done": True})
        assert changed == {"id": uid(1), "owner": "the dead", "done": True}
        assert await storage.get("jobs", uid(1)) == changed


async def test_nothing_is_left_of_the_earlier_states_of_a_deleted_document(
    typesense_server: TypesenseServer, wire: Wire
) -> None:
    async with client_of(typesense_server, wire) as client:
        prefix = f"t{uuid4().hex}_"
        storage = TypesenseStorage(client, prefix)
        await storage.open()
        await storage.create_collection(JOBS)
        for number in (1, 2):
            await storage.create("jobs", {"id": uid(number)})
            await storage.patch("jobs", uid(number), {"title": "A secret title"})
        await storage.delete("jobs", [Equals("id", uid(1))])
        assert (await client.collections[f"{prefix}patches0"].retrieve())["num_documents"] == 1


# States that a process knows


async def test_a_known_document_is_changed_without_another_read(
    typesense_server: TypesenseServer, wire: Wire
) -> None:
    async with client_of(typesense_server, wire) as client:
        storage = TypesenseStorage(client, f"t{uuid4().hex}_")
        await storage.open()
        await storage.create_collection(JOBS)
        await storage.create("jobs", {"id": uid(1), "owner": None})
        await storage.get("jobs", uid(1))
        for owner in ("one", "two"):
            wire.requests.clear()
            assert await storage.patch("jobs", uid(1), {"owner": owner}) == {"id": uid(1), "owner": owner}
            assert len(wire.requests) == 2


async def test_a_change_by_another_process_is_noticed_although_an_earlier_state_is_known(
    typesense_server: TypesenseServer,
) -> None:
    prefix = f"t{uuid4().hex}_"
    async with client_of(typesense_server) as one_client, client_of(typesense_server) as other_client:
        one = TypesenseStorage(one_client, prefix)
        other = TypesenseStorage(other_client, prefix)
        await one.open()
        await one.create_collection(JOBS)
        free = [Equals("owner", None)]
        for number in (1, 2, 3):
            await one.create("jobs", {"id": uid(number), "owner": None})
            await one.get("jobs", uid(number))
        assert await other.patch("jobs", uid(1), {"owner": "other"}, where=free) is not None
        assert await one.patch("jobs", uid(1), {"owner": "one"}, where=free) is None
        assert await one.patch("jobs", uid(1), {"done": True}) == {
            "id": uid(1),
            "owner": "other",
            "done": True,
        }
        await other.delete("jobs", [Equals("id", uid(2))])
        assert await one.patch("jobs", uid(2), {"owner": "one"}) is None
        assert await one.get("jobs", uid(2)) is None
        await one.put("jobs", [{"id": uid(3), "owner": "put"}])
        assert await one.patch("jobs", uid(3), {"owner": "one"}, where=free) is None


# Servers that stop and start


async def test_after_a_kill_all_that_was_acknowledged_is_there_at_once(tmp_path: Path) -> None:
    server = TypesenseServer(tmp_path)
    server.start()
    try:
        async with open_typesense(address_of(server), "t_") as storage:
            await storage.create_collection(JOBS)
            for batch in range(150):  # a log that takes a while to be applied again
                jobs: list[Document] = [
                    {"id": uid(100 * batch + each), "owner": "o", "filling": "x" * 500} for each in range(100)
                ]
                await storage.put("jobs", jobs)
            for _ in range(2):
                server.kill()
                server.start()
                assert await storage.count("jobs", [Equals("owner", "o")]) == 15_000
                assert await storage.get("jobs", uid(14_999)) is not None
    finally:
        server.kill()


async def fill(server: TypesenseServer) -> None:
    async with open_typesense(address_of(server), "t_") as storage:
        await storage.create_collection(JOBS)
        await storage.create("jobs", {"id": uid(1)})


async def test_a_full_disk_is_an_unavailable_store(tmp_path: Path) -> None:
    server = ConfiguredServer(tmp_path, disk_used_max_percentage="1")
    server.start()
    try:
        with pytest.raises(StorageUnavailable, match="its disk is full"):
            await fill(server)
    finally:
        server.kill()


async def become(storage: TypesenseStorage, jobs: int) -> None:
    """None answers until one of those that are left leads."""
    counted = -1
    async with asyncio.timeout(60):
        while counted == -1:
            with suppress(StorageUnavailable):
                counted = await storage.count("jobs", [Equals("owner", "o")])
    assert counted == jobs


async def leads(node: TypesenseServer) -> bool:
    async with httpx.AsyncClient(headers={"X-TYPESENSE-API-KEY": node.api_key}, timeout=60) as client:
        status = await client.get(f"{node.url}/status")
        return bool(status.json()["state"] == "LEADER")


async def test_of_three_nodes_one_may_be_lost(tmp_path: Path) -> None:
    with cluster(tmp_path) as nodes:
        address = TypesenseAddress(
            [node.url for node in nodes], SecretStr(nodes[0].api_key), timeout_seconds=3, max_retries=3
        )
        async with AsyncExitStack() as opened:
            storage = await opened.enter_async_context(open_typesense(address, "t_"))
            await storage.create_collection(JOBS)
            for number in range(1, 21):
                await storage.create("jobs", {"id": uid(number), "owner": "o"})
            (leader,) = [node for node in nodes if await leads(node)]
            leader.kill()
            await become(storage, 20)
            for number in range(21, 41):
                await storage.create("jobs", {"id": uid(number), "owner": "o"})
            assert await storage.patch("jobs", uid(1), {"owner": "p"}, where=[Equals("owner", "o")])
            assert await storage.count("jobs", [Equals("owner", "o")]) == 39
