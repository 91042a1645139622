"""Deliveries to webhooks of which one receiver does not answer."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.tasks import end_tasks
from app.modules.webhooks.delivering import WebhookDeliveries
from app.modules.webhooks.model import Webhook, WebhookDelivery
from app.modules.webhooks.repository import WebhookRepository
from tests.support.boards import kai_with_boards, store_settings
from tests.support.scheduling import receiver
from tests.support.waiting import until

OWNER = "ann"
MOST_SILENT = 300


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
