"""The bus over a NATS that dies, freezes, loses its data or refuses, and over workers that freeze."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from nats.js.api import RetentionPolicy, StreamConfig
from pydantic import SecretStr, ValidationError

from app.core.bus.event_log import EventLog, first_id
from app.core.bus.nats_connection import NatsConnection, NatsRefused, nats_connection
from app.core.bus.nats_jobs import NatsJobs
from app.core.bus.nats_streams import StreamNames
from app.core.bus.port import FOLLOW_UPS, BusUnavailable, LeasedJob
from app.core.settings import NatsSettings
from tests.support.buses import LEASE_SECONDS, Bus, heard, nats_bus, new_prefix, ref
from tests.support.nats_server import FragileNats, running_nats
from tests.support.waiting import until

NOW, SOON = 0.05, 60.0


@pytest.fixture
def prefix() -> str:
    return new_prefix()


@pytest.fixture
async def one(fragile_nats: FragileNats, prefix: str) -> AsyncGenerator[Bus]:
    async with nats_bus(fragile_nats, prefix) as opened:
        yield opened


@pytest.fixture
async def other(fragile_nats: FragileNats, prefix: str) -> AsyncGenerator[Bus]:
    async with nats_bus(fragile_nats, prefix) as opened:
        yield opened


async def taken(bus: Bus, seconds: float = SOON) -> LeasedJob:
    leased = await bus.queue.take("run", seconds)
    assert leased is not None
    return leased


async def is_available(bus: Bus) -> bool:
    try:
        await bus.queue.check()
    except BusUnavailable:
        return False
    return True


async def test_the_lease_of_a_dead_process_expires(fragile_nats: FragileNats, prefix: str) -> None:
    lease_seconds = 3  # of which a busy machine may take the most
    async with nats_bus(fragile_nats, prefix, lease_seconds) as other:
        async with nats_bus(fragile_nats, prefix, lease_seconds) as dead:
            await dead.queue.put(ref(), first=True)
            await taken(dead)
            assert await other.queue.take("run", NOW) is None
        again = await taken(other)
    assert (again.ref, again.first, again.tries) == (ref(), False, 2)


async def test_a_job_that_follows_and_is_done_does_not_come_again_when_its_lease_would_end(one: Bus) -> None:
    await one.queue.publish_completed(ref())
    for kind in FOLLOW_UPS:
        leased = await one.queue.take(kind, SOON)
        assert leased is not None
        await one.queue.ack(leased)
        assert await one.queue.take(kind, 2 * LEASE_SECONDS) is None


async def test_a_lease_that_is_renewed_does_not_expire(fragile_nats: FragileNats, prefix: str) -> None:
    lease_seconds = 3  # of which a busy machine may take the most
    async with (
        nats_bus(fragile_nats, prefix, lease_seconds) as one,
        nats_bus(fragile_nats, prefix, lease_seconds) as other,
    ):
        await one.queue.put(ref(), first=True)
        leased = await taken(one)
        for _ in range(5):
            await one.queue.renew([leased])
            assert await other.queue.take("run", lease_seconds / 4) is None


async def test_a_job_whose_worker_was_late_to_renew_is_left_to_it(one: Bus, other: Bus) -> None:
    await one.queue.put(ref(), first=True)
    leased = await taken(one)
    again = await taken(other)
    assert await other.queue.is_under_way(again)
    await one.queue.ack(leased)
    assert await other.queue.take("run", 2 * LEASE_SECONDS) is None
    assert await other.queue.missing([ref()]) == [ref()]


async def test_of_many_takers_one_gets_a_job(fragile_nats: FragileNats, prefix: str) -> None:
    async with nats_bus(fragile_nats, prefix, 60) as one, nats_bus(fragile_nats, prefix, 60) as other:
        taking = [asyncio.create_task(bus.queue.take("run", SOON)) for bus in (one, other)]
        for number in range(2):
            await one.queue.put(ref(number), first=True)
        jobs = [leased.ref.run_id for leased in await asyncio.gather(*taking) if leased]
    assert sorted(jobs) == ["run-0", "run-1"]


async def test_jobs_outlive_a_server_that_is_killed(one: Bus, fragile_nats: FragileNats) -> None:
    await one.queue.put(ref(0), first=True)
    await one.queue.publish_completed(ref(1))
    fragile_nats.kill()
    with pytest.raises(BusUnavailable, match="KAI_NATS__URL"):
        await one.queue.put(ref(2), first=True)
    fragile_nats.start()
    await until(lambda: is_available(one))
    assert (await taken(one)).ref == ref(0)
    follow_up = await one.queue.take("memory", SOON)
    assert follow_up is not None
    assert follow_up.ref == ref(1)


async def test_a_server_that_has_lost_its_data_gets_its_streams_and_its_runs_again(
    fragile_nats: FragileNats, prefix: str
) -> None:
    async with nats_bus(fragile_nats, prefix, 60) as one, nats_bus(fragile_nats, prefix, 60) as other:
        await one.queue.put(ref(0), first=True)
        await one.queue.put(ref(1), first=True)
        held = await taken(one)
        fragile_nats.kill()
        fragile_nats.lose_data()
        fragile_nats.start()
        await until(lambda: is_available(one))
        await until(lambda: is_available(other))
        assert await other.queue.missing([ref(0), ref(1)]) == [ref(0), ref(1)]
        for number in range(2):  # as a sweep does
            await other.queue.put(ref(number), first=False)
        assert await other.queue.is_under_way(await taken(other))
        assert not await other.queue.is_under_way(await taken(other))
        await one.queue.ack(held)
        assert await other.queue.missing([ref(0), ref(1)]) == [ref(0)]


async def test_a_log_that_the_server_has_lost_is_written_again(
    one: Bus, other: Bus, fragile_nats: FragileNats
) -> None:
    writer = one.logs.writer("run-0", 1)
    async with other.logs.follow("run-0") as early:
        reading = asyncio.create_task(heard(early))
        for number in range(50):
            writer.append("chunk", str(number))
            if number in (20, 40):
                await until(lambda: has_read(early, 1))
                fragile_nats.kill()
                fragile_nats.lose_data()
                fragile_nats.start()
                await until(lambda: is_available(one))
        await writer.end("done", "50")
        whole = [(first_id(1) + number, str(number)) for number in range(51)]
        assert await asyncio.wait_for(reading, SOON) == whole
    async with one.logs.follow("run-0") as late:
        assert await heard(late) == whole


async def has_read(log: EventLog, entry_id: int) -> bool:
    return log.last_id >= entry_id


async def test_followers_and_writers_outlive_a_server_that_is_killed(
    one: Bus, other: Bus, fragile_nats: FragileNats
) -> None:
    writer = one.logs.writer("run-0", 1)
    async with other.logs.follow("run-0") as log:
        reading = asyncio.create_task(heard(log))
        writer.append("chunk", "before")
        await until(lambda: has_read(log, 1))
        fragile_nats.kill()
        writer.append("chunk", "meanwhile")
        fragile_nats.start()
        await until(lambda: is_available(one))
        await writer.end("done", "after")
        assert [data for _, data in await asyncio.wait_for(reading, SOON)] == ["before", "meanwhile", "after"]


async def test_a_log_left_without_an_end_is_published_and_keeps_no_process_from_stopping(
    one: Bus, fragile_nats: FragileNats, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.bus.nats_logs._FAREWELL_SECONDS", 600)
    async with one.logs.follow("run-0") as log, nats_bus(fragile_nats, prefix) as stopping:
        writer = stopping.logs.writer("run-0", 1)
        writer.append("chunk", "text")
        writer.leave()
        await asyncio.wait_for(stopping.logs.aclose(), SOON)
        entry = await asyncio.wait_for(anext(log.read(0, stop=lambda: False)), SOON)
        assert (entry.id, entry.data) == (first_id(1), "text")


async def count_for_ever(bus: Bus) -> None:
    while True:  # a signal to freeze takes its time
        await bus.queue.waiting()


async def test_a_frozen_server_is_unavailable_in_seconds(one: Bus, fragile_nats: FragileNats) -> None:
    await one.queue.check()
    fragile_nats.freeze()
    try:
        with pytest.raises(BusUnavailable, match="KAI_NATS__URL"):
            await asyncio.wait_for(count_for_ever(one), SOON)
        with pytest.raises(BusUnavailable, match="KAI_NATS__URL"):
            await asyncio.wait_for(one.queue.check(), SOON)
    finally:
        fragile_nats.thaw()


async def test_a_cancellation_is_signalled_again_after_the_server_was_killed(
    one: Bus, other: Bus, fragile_nats: FragileNats
) -> None:
    listening = asyncio.ensure_future(anext(aiter(other.queue.cancellations())))
    await asyncio.sleep(0)
    fragile_nats.kill()
    fragile_nats.start()
    await until(lambda: is_available(one))
    async with asyncio.timeout(60):
        while not listening.done():
            await one.queue.cancel("run-0")
            await asyncio.sleep(0.05)
    assert listening.result() == "run-0"


async def test_a_connection_that_the_server_ends_with_an_error_is_opened_again(
    fragile_nats: FragileNats, prefix: str
) -> None:
    chosen = NatsSettings(url=SecretStr(fragile_nats.url), prefix=prefix)
    async with nats_connection(chosen, LEASE_SECONDS) as connection:
        jobs = NatsJobs(connection)
        await connection.client._send_command(b"NONSENSE\r\n")
        await until(lambda: has_reconnected(connection))
        await jobs.put(ref(), first=True)
        leased = await jobs.take("run", SOON)
        assert leased is not None
        assert leased.ref == ref()


async def has_reconnected(connection: NatsConnection) -> bool:
    return bool(connection.client.stats["reconnects"] > 0 and connection.client.is_connected)


def settings(server: FragileNats, **more: object) -> NatsSettings:
    return NatsSettings.model_validate({"url": server.url, "prefix": new_prefix(), **more})


async def refusal(chosen: NatsSettings) -> str:
    with pytest.raises(NatsRefused) as refused:
        async with nats_connection(chosen, LEASE_SECONDS):
            """Not reached."""
    return str(refused.value)


async def test_a_wrong_password_is_one_clear_line_that_does_not_show_it(fragile_nats: FragileNats) -> None:
    wrong = NatsSettings(url=SecretStr(f"nats://kai:s3cr3t@127.0.0.1:{fragile_nats.port}"))
    shown = await refusal(wrong)
    assert "KAI_NATS__URL" in shown
    assert "s3cr3t" not in shown + repr(wrong)


async def test_jetstream_switched_off_is_one_clear_line(tmp_path: Path) -> None:
    class Plain(FragileNats):
        def configuration(self) -> list[str]:
            return [line for line in super().configuration() if not line.startswith("jetstream")]

    server = Plain(tmp_path)
    server.start()
    try:
        assert "JetStream is switched off" in await refusal(settings(server))
    finally:
        server.kill()


async def test_a_missing_permission_is_one_clear_line_that_names_it(tmp_path: Path) -> None:
    class Restricted(FragileNats):
        def configuration(self) -> list[str]:
            *lines, _ = super().configuration()
            allowed = 'permissions: { publish: { deny: ["$JS.API.STREAM.CREATE.>"] } }'
            user = f'{{ user: "kai", password: "{self._password}", {allowed} }}'
            return [*lines, f"authorization {{ users: [{user}] }}"]

    server = Restricted(tmp_path)
    server.start()
    try:
        assert "$js.api.stream.create" in (await refusal(settings(server))).lower()
    finally:
        server.kill()


async def test_more_replicas_than_servers_are_refused(fragile_nats: FragileNats) -> None:
    assert "KAI_NATS__REPLICAS" in await refusal(settings(fragile_nats, replicas=3))


async def test_a_stream_of_another_program_is_not_taken(fragile_nats: FragileNats) -> None:
    chosen = settings(fragile_nats)
    async with nats_connection(settings(fragile_nats), LEASE_SECONDS) as connection:
        await connection.streams.add_stream(
            name=StreamNames(chosen.prefix).token_streams, subjects=["theirs"]
        )
    assert "KAI_NATS__PREFIX" in await refusal(chosen)


async def test_the_stream_of_decisions_of_an_earlier_version_is_made_again(fragile_nats: FragileNats) -> None:
    chosen = settings(fragile_nats)
    name = StreamNames(chosen.prefix).decisions
    async with nats_connection(chosen, LEASE_SECONDS) as connection:
        await connection.streams.delete_stream(name)
        earlier = StreamConfig(name=name, subjects=[f"{name}.>"], retention=RetentionPolicy.WORK_QUEUE)
        await connection.streams.add_stream(earlier)
    async with nats_bus(fragile_nats, chosen.prefix) as later:
        assert await later.decisions.decide("sessions.one", "value", 0) is not None


async def test_processes_that_start_at_once_share_the_streams_that_they_make(
    fragile_nats: FragileNats, prefix: str
) -> None:
    async def started() -> None:
        async with nats_bus(fragile_nats, prefix) as bus:
            await bus.queue.check()

    await asyncio.gather(*(started() for _ in range(8)))


async def test_a_server_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    with running_nats(tmp_path) as server:
        gone = settings(server)
    with pytest.raises(BusUnavailable, match="KAI_NATS__URL"):
        async with nats_connection(gone, LEASE_SECONDS):
            """Not reached."""


@pytest.mark.parametrize(
    "wrong",
    [
        {"credentials_file": "/x", "nkey": "SU"},
        {"certificate_file": "/x"},
        {"url": "http://:s3cr3t@127.0.0.1"},
        {"url": "nats://a:4222,redis://:s3cr3t@b"},
        {"url": "nats://:s3cr3t/signs@127.0.0.1"},
    ],
)
def test_settings_that_do_not_fit_together_are_refused_without_their_secrets(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        NatsSettings.model_validate(wrong)
    (error,) = refused.value.errors()
    assert re.search("KAI_NATS|nats://|URL-encoded", error["msg"])
    assert "s3cr3t" not in error["msg"]
