"""Webhooks: KAI's own events and deliveries of runs, and a receiver that counts what it gets."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import httpx2

from app.core.ids import new_id
from app.core.storage.port import Storage
from app.core.tasks import Loops
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.records.repository import SessionRepository
from app.modules.schedules.worker import deliver_due
from app.modules.webhooks.delivering import WebhookDeliveries
from app.modules.webhooks.events import WebhookEvents
from app.modules.webhooks.model import WEBHOOK_EVENTS, Receiver, Webhook
from app.modules.webhooks.repository import WebhookRepository
from app.modules.webhooks.run_subjects import RunSubjects
from app.modules.webhooks.sending import WebhookSender
from tests.simulation.clocks import EPOCH_MS
from tests.simulation.deletion import BOX
from tests.simulation.store import StoreData
from tests.simulation.world import Unreachable, World

LOOK_SECONDS = 2.0


@dataclass
class Received:
    """What the receiver of a webhook has got."""

    webhook: Webhook
    ids: list[str] = field(default_factory=list)
    """Values of `webhook-id`, each as often as it came."""


def planned(owner: str) -> Received:
    """A webhook for all events of the runs of an owner."""
    return Received(
        Webhook(
            id=new_id(),
            owner=owner,
            receiver=receiver(),
            events=tuple(each for each in WEBHOOK_EVENTS if each.startswith("run.")),
            content="ids",
            created_at=EPOCH_MS,
            updated_at=EPOCH_MS,
        )
    )


def receiver() -> Receiver:
    return Receiver(
        host="receiver", url=BOX.encrypt("https://receiver"), secret=BOX.encrypt("whsec_c2VjcmV0")
    )


class SimulatedSender(WebhookSender):
    """Sends over the simulated network. `was_delivered` looks into the store by a `webhook-id`."""

    def __init__(self, world: World, ids: list[str], was_delivered: Callable[[str], bool]) -> None:
        super().__init__(BOX, [])
        self._world = world
        self._ids = ids
        self._was_delivered = was_delivered

    async def _check(self, url: httpx2.URL) -> None:
        """The network has no addresses."""

    async def _post(self, request: httpx2.Request) -> int:
        webhook_id = request.headers["webhook-id"]
        if self._was_delivered(webhook_id):
            self._world.violate(f"webhook {webhook_id[-4:]} is delivered, and sent again")
        try:
            await self._world.request(
                self._world.office,
                f"take {webhook_id[-4:]}",
                lambda: self._ids.append(webhook_id),
                writes=True,
            )
        except Unreachable as error:
            raise httpx2.ConnectError(str(error)) from error
        return 200


def send_events(
    world: World,
    loops: Loops,
    received: Received,
    store: StoreData,
    *,
    storage: Storage,
    events: WebhookEvents,
) -> None:
    """Make and send deliveries, as a worker does, until the loops end."""

    def was_delivered(delivery_id: str) -> bool:
        kept = store.effective("webhook_deliveries", delivery_id)
        return kept is not None and kept["state"] == "delivered"

    sender = SimulatedSender(world, received.ids, was_delivered)
    subjects = {"run": RunSubjects(SessionRepository(storage), ConnectionRepository(storage))}
    for each in (events, WebhookDeliveries(WebhookRepository(storage), sender, subjects)):
        loops.every(LOOK_SECONDS, type(each).__name__, partial(deliver_due, each))


def unrest_of_webhooks(store: StoreData) -> str | None:
    """Returns what is not at rest yet, None when all is."""
    for run in store.documents("runs"):
        if run["webhook_due_at"] is not None:
            return f"the end of run {str(run['id'])[-4:]} is not delivered"
    for delivery in store.documents("webhook_deliveries"):
        if delivery["state"] == "waiting":
            return f"delivery {str(delivery['id'])[-4:]} waits"
    return None


def check_webhooks(world: World, received: Received, store: StoreData) -> None:
    """Each run that has ended or waits was delivered under one id, and once if nothing has failed."""
    came = Counter(received.ids)
    deliveries = store.documents("webhook_deliveries")
    for run in store.documents("runs"):
        name, event = f"the end of {run['question']!r}", f"run.{run['status']}"
        found = [each for each in deliveries if (each["subject_id"], each["event"]) == (run["id"], event)]
        if [each["state"] for each in found] != ["delivered"]:
            states = [
                (each["event"], each["state"]) for each in deliveries if each["subject_id"] == run["id"]
            ]
            world.violate(f"{name} is {event}, and its deliveries are {states}")
    known = {cast("str", each["id"]) for each in deliveries}
    for webhook_id, times in came.items():
        if webhook_id not in known:
            world.violate(f"the receiver has got {webhook_id[-4:]}, which is no delivery")
        if times > 1 and not world.struck:
            world.violate(f"delivery {webhook_id[-4:]} came {times} times, and nothing has failed")
    for delivery in deliveries:
        if delivery["state"] == "delivered" and not came[cast("str", delivery["id"])]:
            world.violate(f"delivery {str(delivery['id'])[-4:]} is delivered, and never came")
