"""Schedules: pins and boards that run once at their times, whatever happens to workers, and tell of it."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry

from app.core.clock import as_datetime, epoch_ms, now_ms
from app.core.ids import id_of, new_id
from app.core.secrets import SecretBox
from app.core.storage.port import Query, StorageUnavailable
from app.core.storage.sqlite import open_sqlite
from app.modules.boards.model import Board, Pin
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.service import DatabaseConnections
from app.modules.schedules.model import Schedule
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.running import LEASE_MS, MOST_TRIES
from app.modules.schedules.times import next_time
from app.modules.schedules.webhooks import ScheduleWebhooks
from app.modules.webhooks.retries import RETRY_SECONDS
from app.modules.webhooks.sending import WebhookSender
from migrations.runner import migrate
from tests.support.boards import BoardKai, Json, kai_with_boards, store_settings
from tests.support.dying_schedules import Order, dying_schedules, work
from tests.support.faulty_storage import FaultyStorage
from tests.support.records import no_records
from tests.support.scheduling import (
    COUNT,
    MINUTE,
    MONTHLY,
    notices,
    receiver,
    run_due,
    runs,
    scheduled,
    time_of,
)
from tests.support.shop import make_shop


@pytest.fixture(params=["sqlite", "typesense"])
async def kai(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BoardKai]:
    async with kai_with_boards(store_settings(request), tmp_path) as opened:
        yield opened


async def test_a_time_runs_once_although_several_workers_see_it(kai: BoardKai) -> None:
    made = await scheduled(kai)
    slot = time_of(made)
    assert made["next_at"] == as_datetime(slot).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert await run_due(kai, slot - 1) == 0
    kai.change_shop("insert into customers values (4, 'Kai', 'Norway', null, '2024-03-01', 0)")
    workers = [runs(kai, slot + each) for each in range(4)]
    claims = await asyncio.gather(*(each.claim(10) for each in workers))
    ((worker, (claimed,)),) = [(w, c) for w, c in zip(workers, claims, strict=True) if c]
    assert (await kai.call("GET", f"/schedules/{made['id']}"))["running"] is True
    await worker.run(claimed)
    assert await run_due(kai, slot + 5) == 0
    now = await kai.call("GET", f"/schedules/{made['id']}")
    assert (now["running"], now["last_run"]["outcome"], now["last_run"]["missed"]) == (False, "ran", 0)
    assert now["next_at"] > made["next_at"]
    (notice,) = await notices(kai)
    assert (notice["kind"], notice["title"], notice["row_count"]) == ("ran", "How many customers?", 1)
    (pin,) = await kai.pins(made["board_id"])
    assert pin["rows_head"] == [[4]]
    assert kai.services.models is None


async def test_missed_times_are_reported_and_not_made_up_for(kai: BoardKai) -> None:
    made = await scheduled(kai)
    first = time_of(made)
    times = [first]
    for _ in range(3):
        times.append(next_time(MONTHLY, "UTC", times[-1]))
    assert await run_due(kai, times[3] + MINUTE) == 1
    (notice,) = await notices(kai)
    assert (notice["missed"], notice["scheduled_for"]) == (
        3,
        as_datetime(times[3]).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    assert await run_due(kai, times[3] + 2 * MINUTE) == 0


async def test_a_condition_decides_what_is_reported(kai: BoardKai) -> None:
    condition = {"kind": "changed", "column": "customers", "value": 30}
    made = await scheduled(kai, condition=condition)
    slot = time_of(made)
    outcomes = []
    for change in ("", "insert into customers values (4, 'Kai', 'Norway', null, '2024-03-01', 0)", ""):
        kai.change_shop(change)
        assert await run_due(kai, slot) == 1
        last = (await kai.call("GET", f"/schedules/{made['id']}"))["last_run"]
        outcomes.append((last["outcome"], last["value"]))
        slot = next_time(MONTHLY, "UTC", slot)
    assert outcomes == [("not_met", 3), ("met", 4), ("not_met", 4)]
    (notice,) = await notices(kai)
    assert (notice["kind"], notice["value"], notice["previous"], notice["condition"]) == (
        "met",
        4,
        3,
        condition,
    )


async def test_a_failure_is_reported_once_until_it_runs_again(kai: BoardKai) -> None:
    made = await scheduled(kai, "SELECT count(country) AS customers FROM customers")
    slot = time_of(made)
    for change in (
        "drop view spending; alter table customers rename column country to land",
        "",
        "alter table customers rename column land to country",
    ):
        kai.change_shop(change)
        assert await run_due(kai, slot) == 1
        slot = next_time(MONTHLY, "UTC", slot)
    notice = await notices(kai)
    assert [each["kind"] for each in notice] == ["ran", "failed"]
    assert "country" in notice[1]["failure"]["detail"]
    assert "Run it" in notice[1]["failure"]["cure"]


async def test_a_store_that_fails_before_the_rows_are_kept_is_no_failure_to_report(kai: BoardKai) -> None:
    slot = time_of(await scheduled(kai))
    failing = runs(kai, slot, storage=FaultyStorage(kai.services.storage, "fails", "put"))
    (claimed,) = await failing.claim(10)
    with pytest.raises(StorageUnavailable):
        await failing.run(claimed)
    assert await notices(kai) == []
    assert await run_due(kai, slot + LEASE_MS) == 1
    assert [each["kind"] for each in await notices(kai)] == ["ran"]


async def test_runs_are_counted_by_their_outcome(kai: BoardKai) -> None:
    made = await scheduled(kai, "SELECT count(country) AS customers FROM customers")
    slot = time_of(made)
    for change, outcome in (
        ("", "ran"),
        ("drop view spending; alter table customers rename column country to land", "failed"),
    ):
        kai.change_shop(change)
        metrics = CollectorRegistry()
        assert await run_due(kai, slot, metrics) == 1
        for each in ("ran", "met", "not_met", "failed"):
            counted = metrics.get_sample_value("kai_schedule_runs_total", {"outcome": each})
            assert counted == (1 if each == outcome else 0)
        slot = next_time(MONTHLY, "UTC", slot)


async def test_a_schedule_runs_with_the_rights_that_its_owner_then_has(kai: BoardKai) -> None:
    kai.become("bob")
    made = await scheduled(kai)
    repository = kai.services.database_connections.repository
    await repository.edit(await repository.own("ann", kai.connection_id), {"shared": False})
    assert await run_due(kai, time_of(made)) == 1
    (notice,) = await notices(kai)
    assert (notice["kind"], notice["failure"]["title"]) == ("failed", "The database may not be used")


async def test_a_whole_board_runs_and_names_the_pins_that_failed(kai: BoardKai) -> None:
    board = await kai.board()
    await kai.pinned(board, await kai.answer(COUNT))
    await kai.pinned(board, await kai.answer("SELECT count(country) AS land FROM customers"))
    made = await kai.call("POST", "/schedules", 201, board_id=board, cron=MONTHLY)
    kai.change_shop("drop view spending; alter table customers rename column country to land")
    assert await run_due(kai, time_of(made)) == 1
    (notice,) = await notices(kai)
    assert (notice["kind"], notice["failed_pins"], notice["title"]) == ("failed", 1, "Weekly")
    assert sorted(pin["state"] for pin in await kai.pins(board)) == ["current", "failed"]


async def test_notices_are_unread_until_they_are_marked(kai: BoardKai) -> None:
    made = await scheduled(kai)
    slot = time_of(made)
    for _ in range(2):
        assert await run_due(kai, slot) == 1
        slot = next_time(MONTHLY, "UTC", slot)
    assert (await kai.call("GET", "/notices"))["unread"] == 2
    newest, older = await notices(kai)
    await kai.call("POST", "/notices/read", 204, notice_id=older["id"])
    assert (await kai.call("GET", "/notices"))["unread"] == 1
    await kai.call("POST", "/notices/read", 204, notice_id=newest["id"])
    await kai.call("POST", "/notices/read", 204, notice_id=older["id"])
    assert (await kai.call("GET", "/notices"))["unread"] == 0
    kai.become("bob")
    assert await notices(kai) == []
    await kai.call("POST", "/notices/read", 404, notice_id=newest["id"])
    for method in ("GET", "DELETE"):
        await kai.call(method, f"/schedules/{made['id']}", 404)


async def test_a_change_pauses_goes_on_and_is_checked(kai: BoardKai) -> None:
    made = await scheduled(kai)
    path = f"/schedules/{made['id']}"
    paused = await kai.call("PATCH", path, paused=True)
    assert (paused["paused"], paused["next_at"]) == (True, None)
    assert await run_due(kai, time_of(made)) == 0
    again = await kai.call("PATCH", path, paused=False, time_zone="Asia/Tokyo")
    assert again["next_at"].endswith("T03:00:00Z")
    wrong: Sequence[tuple[dict[str, Any], str]] = [
        ({"cron": "* * * * *"}, "schedule-times"),
        ({"time_zone": "Nowhere"}, "schedule-times"),
        ({"condition": {"kind": "above", "column": "name", "value": 1}}, "schedule-condition"),
        ({"condition": {"kind": "no_rows", "column": "customers", "value": 1}}, "validation"),
        ({"webhook_url": "https://169.254.169.254/latest"}, "webhook-address"),
        ({"webhook_url": "https://metadata.google.internal/"}, "webhook-address"),
        ({"webhook_url": "ftp://127.0.0.1/"}, "webhook-address"),
        ({"webhook_url": "https://ann:secret@127.0.0.1/"}, "webhook-address"),
    ]
    for body, kind in wrong:
        problem = await kai.call("PATCH", path, 422, **body)
        assert problem["type"] == f"urn:kai:{kind}", (body, problem)
    assert (await kai.call("GET", path))["cron"] == MONTHLY
    on_board = {"board_id": made["board_id"], "cron": MONTHLY, "condition": {"kind": "no_rows"}}
    assert (await kai.call("POST", "/schedules", 422, **on_board))["type"] == "urn:kai:schedule-condition"


async def test_a_webhook_is_signed_tried_again_and_shows_no_secret(
    kai: BoardKai, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with receiver(500, 302) as hook:
        made = await scheduled(kai, webhook_url=hook.url)
        secret = made["webhook_secret"]
        assert made["webhook_host"] == "127.0.0.1"
        slot = time_of(made)
        assert await run_due(kai, slot) == 1
        repository = ScheduleRepository(kai.services.storage)
        webhooks = ScheduleWebhooks(repository, kai.services.schedules._sender)
        await webhooks.deliver_due(slot)
        await webhooks.deliver_due(slot)  # another worker, or the same too early
        assert len(hook.requests) == 1
        (waiting,) = await notices(kai)
        assert (waiting["webhook"], waiting["webhook_error"]) == ("waiting", "The receiver answers 500.")
        await webhooks.deliver_due(slot + RETRY_SECONDS[0] * 1_000)
        assert len(hook.requests) == 2  # a redirect is not followed
        (given_up,) = await notices(kai)
        assert (given_up["webhook"], given_up["webhook_error"]) == ("given_up", "The receiver answers 302.")
        slot = next_time(MONTHLY, "UTC", slot)
        assert await run_due(kai, slot) == 1
        await asyncio.gather(*(webhooks.deliver_due(slot) for _ in range(3)))
        assert len(hook.requests) == 3
        headers, body = hook.requests[2]
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    notice = (await notices(kai))[0]
    sent = json.loads(body)
    assert (notice["webhook"], sent["type"], sent["data"]["notice_id"]) == (
        "delivered",
        "schedule.ran",
        notice["id"],
    )
    shown = json.dumps([await kai.call("GET", "/schedules"), await notices(kai)])
    stored = json.dumps([[*(await kai.services.storage.query("schedules", Query())).items]])
    for text in (shown, stored, caplog.text):
        assert secret not in text
        assert "hidden-token" not in text


async def test_a_webhook_is_not_sent_to_an_address_that_is_not_allowed_any_more(kai: BoardKai) -> None:
    async with receiver() as hook:
        made = await scheduled(kai, webhook_url=hook.url)
        slot = time_of(made)
        assert await run_due(kai, slot) == 1
        repository = ScheduleRepository(kai.services.storage)
        box = kai.services.schedules._sender._box
        await ScheduleWebhooks(repository, WebhookSender(box, ())).deliver_due(slot)
        assert hook.requests == []
    (notice,) = await notices(kai)
    assert notice["webhook"] == "waiting"
    assert "private, local or reserved" in notice["webhook_error"]


async def test_schedules_go_with_their_pin_board_connection_and_owner(kai: BoardKai) -> None:
    storage = kai.services.storage

    async def left() -> list[int]:
        return [len((await storage.query(name, Query())).items) for name in ("schedules", "notices")]

    async def one_that_ran() -> Json:
        made = await scheduled(kai)
        assert await run_due(kai, time_of(made)) == 1
        assert await left() == [1, 1]
        return made

    made = await one_that_ran()
    await kai.call("DELETE", f"/boards/{made['board_id']}/pins/{made['pin_id']}", 204)
    assert await left() == [0, 0]
    made = await one_that_ran()
    await kai.call("DELETE", f"/boards/{made['board_id']}", 204)
    assert await left() == [0, 0]
    await one_that_ran()
    await kai.call("DELETE", "/me/data", 202)
    assert await left() == [0, 0]


async def test_a_deleted_connection_takes_the_schedules_of_its_pins(kai: BoardKai) -> None:
    made = await scheduled(kai)
    worker = runs(kai, time_of(made))
    (claimed,) = await worker.claim(10)
    await kai.services.database_connections.delete("ann", kai.connection_id)
    await worker.run(claimed)  # it writes late
    for name in ("schedules", "notices"):
        assert (await kai.services.storage.query(name, Query())).items == []


# A worker that dies


@pytest.mark.timeout(300)
async def test_a_time_is_run_once_wherever_a_worker_is_killed(tmp_path: Path) -> None:
    """Each worker is killed one await of the store later than the one before."""
    key = Fernet.generate_key()
    shop = make_shop(tmp_path / "shop.db")
    store = tmp_path / "kai.db"
    slot = epoch_ms(as_datetime(now_ms()).replace(minute=0, second=0, microsecond=0)) - 60 * MINUTE
    async with open_sqlite(store) as storage, dying_schedules() as dying:
        await migrate(storage)
        connections = DatabaseConnections(storage, SecretBox(key), ConnectionLimits(), records=no_records())
        connection = await connections.register("ann", f"sqlite:///{shop}", "Shop", description="")
        await connections.scan("ann", connection.id)
        boards, schedules = BoardRepository(storage), ScheduleRepository(storage)
        was_killed, awaits = True, 0
        while was_killed:
            board, pin, schedule = _of(connection.id, slot)
            await boards.add(board)
            await boards.add_pin(pin)
            await schedules.add(schedule)
            was_killed = await dying.work(Order(str(store), key.decode(), slot, awaits))
            await work(storage, key.decode(), slot + LEASE_MS)  # takes over what is not done
            left = await schedules.find(schedule.id)
            assert left is not None
            assert left.last_run is not None, awaits
            assert (left.last_run.scheduled_for, left.last_run.outcome) == (slot, "ran")
            assert (left.slot_at, left.due_at) == (None, slot + 60 * MINUTE)
            (notice,) = (await schedules.notices("ann", 10, None))[0]
            assert notice.id == id_of(schedule.id, str(slot))
            await boards.delete_all("ann")
            await schedules.delete_all("ann")
            awaits += 1
        assert awaits > 8  # it was killed before and after each of the statement's results
        await connections.close()


def _of(connection_id: str, slot: int) -> tuple[Board, Pin, Schedule]:
    board = Board(id=new_id(), owner="ann", title="Weekly", created_at=1, updated_at=1)
    pin = Pin(
        id=new_id(),
        owner="ann",
        board_id=board.id,
        db_connection_id=connection_id,
        title="Customers",
        question="How many customers?",
        sql=COUNT,
        dialect="sqlite",
        session_id=new_id(),
        message_id=new_id(),
        chart_choice=None,
        width=6,
        height=3,
        created_at=1,
        updated_at=1,
    )
    schedule = Schedule(
        id=new_id(),
        owner="ann",
        board_id=board.id,
        pin_id=pin.id,
        db_connection_id=connection_id,
        cron="0 * * * *",
        time_zone="UTC",
        condition=None,
        webhook=None,
        paused=False,
        due_at=slot,
        created_at=1,
        updated_at=1,
    )
    return board, pin, schedule


async def test_a_time_that_kills_each_worker_is_given_up_and_reported(kai: BoardKai) -> None:
    made = await scheduled(kai)
    slot = time_of(made)
    for each in range(MOST_TRIES):
        assert len(await runs(kai, slot + each * LEASE_MS).claim(10)) == 1
    assert await run_due(kai, slot + MOST_TRIES * LEASE_MS) == 1
    (notice,) = await notices(kai)
    assert (notice["kind"], notice["failure"]["title"]) == ("failed", "Not run")
    (pin,) = await kai.pins(made["board_id"])
    assert pin["state"] == "current"
