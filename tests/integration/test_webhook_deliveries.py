"""Deliveries to webhooks of which one receiver does not answer."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.tasks import end_tasks
from app.modules.webhooks.delivering import WebhookDeliveries
from app.modules.webhooks.model import Webhook, WebhookDelivery
from app.modules.webhooks.repository import WebhookRepository
from app.modules.webhooks.sending import WebhookSender
from tests.support.boards import kai_with_boards, store_settings
from tests.support.scheduling import notices, receiver, run_due, scheduled, time_of
from tests.support.waiting import until

OWNER = "ann"
MOST_SILENT = 300
_DAY_MS = 24 * 60 * 60 * 1000


def deliveries(webhook: Webhook, count: int, due_at: int) -> Sequence[WebhookDelivery]:
    return [
        WebhookDelivery(
            id=(delivery_id := new_id()),
            owner=OWNER,
            webhook_id=webhook.id,
            event="webhook.test",
            subject_id=delivery_id,
            at=due_at,
            created_at=due_at,
            due_at=due_at,
        )
        for _ in range(count)
    ]


@pytest.fixture(params=["sqlite", "typesense"])
def settings(request: pytest.FixtureRequest) -> dict[str, object]:
    return store_settings(request)


async def test_hundreds_that_wait_for_a_silent_receiver_hold_up_no_other(
    settings: dict[str, object], tmp_path: Path
) -> None:
    over = asyncio.Event()

    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with (
        kai_with_boards(settings, tmp_path) as kai,
        receiver() as hook,
        await asyncio.start_server(say_nothing, "127.0.0.1", 0) as silent,
    ):
        repository = WebhookRepository(kai.services.storage)
        sender, now = kai.services.schedules._sender, now_ms()
        port = silent.sockets[0].getsockname()[1]
        for url, count, due_at in (
            (f"http://127.0.0.1:{port}", MOST_SILENT, now - 60_000),
            (hook.url, 3, now),
        ):
            webhook = Webhook(
                id=new_id(),
                owner=OWNER,
                receiver=(await sender.make(url))[0],
                events=(),
                content="ids",
                created_at=now,
                updated_at=now,
            )
            await repository.add(webhook)
            await repository.add_deliveries(deliveries(webhook, count, due_at))
        sending = asyncio.create_task(WebhookDeliveries(repository, sender, {}).deliver_due(now))

        async def are_there() -> bool:
            return len(hook.requests) == 3

        try:
            await until(are_there, seconds=8)  # a receiver has 10
        finally:
            await end_tasks([sending])
            over.set()


async def test_a_receiver_that_fails_for_five_days_or_moves_to_a_forbidden_address_is_sent_no_more(
    settings: dict[str, object], tmp_path: Path
) -> None:
    async with kai_with_boards(settings, tmp_path) as kai, receiver(*[500] * 99) as hook:
        made = await kai.call("POST", "/webhooks", 201, url=hook.url, events=["run.complete"])
        path, began = f"/webhooks/{made['id']}", now_ms() + _DAY_MS
        repository = WebhookRepository(kai.services.storage)
        webhook = await repository.get(OWNER, made["id"])
        sending = WebhookDeliveries(repository, kai.services.schedules._sender, {})

        async def send_on(day: float) -> str | None:
            """Returns why the webhook is disabled after an event of this day."""
            at = began + int(day * _DAY_MS)
            await repository.add_deliveries(deliveries(webhook, 1, at))
            await sending.deliver_due(at)
            why: str | None = (await kai.call("GET", path))["disabled_because"]
            return why

        assert [await send_on(day) for day in (0, 4.9)] == [None, None]
        hook.statuses.clear()
        assert await send_on(4.95) is None
        assert (await kai.call("GET", path))["failing_since"] is None
        hook.statuses += [500] * 99
        assert [await send_on(day) for day in (5.5, 10.4)] == [None] * 2
        why = await send_on(10.6)
        assert why == "Every try of five days has failed."
        sent = len(hook.requests)
        await send_on(11)
        assert len(hook.requests) == sent
        (latest, *_) = (await kai.call("GET", f"{path}/deliveries"))["items"]
        assert latest["state"] in ("given_up", "waiting")
        again = await kai.call("PATCH", path, enabled=True)
        assert (again["disabled_because"], again["failing_since"]) == (None, None)

        hook.statuses.clear()
        at = began + 12 * _DAY_MS
        await repository.add_deliveries(deliveries(webhook, 1, at))
        box = kai.services.schedules._sender._box
        forbidden = WebhookDeliveries(repository, WebhookSender(box, ()), {})
        await forbidden.deliver_due(at)
        (latest, *_) = (await kai.call("GET", f"{path}/deliveries"))["items"]
        assert len(hook.requests) == sent  # each try checks the address again
        assert "private, local or reserved" in latest["error"]


async def test_notices_of_schedules_reach_registered_webhooks(
    settings: dict[str, object], tmp_path: Path
) -> None:
    async with kai_with_boards(settings, tmp_path) as kai, receiver() as hook:
        await kai.call("POST", "/webhooks", 201, url=hook.url, events=["schedule.ran"])
        await kai.call("POST", "/webhooks", 201, url=f"{hook.url}&other", events=["run.complete"])
        schedule = await scheduled(kai)
        assert await run_due(kai, time_of(schedule)) == 1
        (notice,) = await notices(kai)

        async def is_sent() -> bool:
            return any(b'"schedule.ran"' in body for _, body in hook.requests)

        await until(is_sent)
        sent = [json.loads(body) for _, body in hook.requests]
        (event,) = [each for each in sent if each["type"] == "schedule.ran"]
        assert [each for each in sent if each["type"] not in ("schedule.ran", "run.complete")] == []
        assert event["data"]["notice_id"] == notice["id"]
        assert event["data"]["schedule_id"] == schedule["id"]
