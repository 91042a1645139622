"""Schedules: KAI's own workers of schedules and webhooks, with a slow statement and a receiver of notices."""

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import cast

from prometheus_client import CollectorRegistry

from app.core.auth.api_keys import ApiKeys
from app.core.ids import id_of, new_id
from app.core.storage.port import Storage
from app.modules.boards.model import Board, Pin
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Purpose
from app.modules.schedules.model import Schedule
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.running import INTERRUPTED, Runs
from app.modules.schedules.webhooks import ScheduleWebhooks
from app.modules.schedules.worker import ScheduleWorker
from graph.answer import DatabaseCost
from graph.state import Rows
from tests.simulation.clocks import EPOCH_MS
from tests.simulation.loop import CURRENT, Process
from tests.simulation.store import StoreData
from tests.simulation.webhooks import SimulatedSender, receiver
from tests.simulation.world import World
from tests.support.webhooks import events_of

LEASE_MS = 30_000
"""More than clocks differ, a process pauses and a request takes, together."""

RENEW_SECONDS = 7.5
LOOK_SECONDS = 2.0
RETRY_SECONDS = (3, 3, 3, 3, 3)

_CRON = "0 8 15 1 *"
"""The hour at which a simulation begins, once a year."""

_SURE_SECONDS = 10.0
"""The lease of a process that has begun this short a while ago cannot have ended, whatever failed."""


@dataclass
class Timetable:
    """What the schedules of a seed have led to, for the invariants."""

    schedules: list[Schedule] = field(default_factory=list)
    running: dict[str, tuple[Process, float]] = field(default_factory=dict)
    """The process that has begun to run a schedule last, and when."""
    sent: list[str] = field(default_factory=list)
    """Ids of the notices that the receiver has got, each as often as it did."""


def planned(owner: str, *, both: bool) -> tuple[Board, Pin, list[Schedule]]:
    """A board of one pin, with a schedule that is due as the simulation begins. `both`: with one of the pin
    and one of the board.
    """
    board = Board(id=new_id(), owner=owner, title="Weekly", created_at=EPOCH_MS, updated_at=EPOCH_MS)
    pin = _pin(board)
    made = [_schedule(board, pin)]
    return board, pin, [*made, _schedule(board, None)] if both else made


def _pin(board: Board) -> Pin:
    return Pin(
        id=new_id(),
        owner=board.owner,
        board_id=board.id,
        db_connection_id=new_id(),
        title="Orders",
        question="How many orders?",
        sql="SELECT 1",
        dialect="sqlite",
        session_id=new_id(),
        message_id=new_id(),
        chart_choice=None,
        width=1,
        height=1,
        created_at=EPOCH_MS,
        updated_at=EPOCH_MS,
    )


def _schedule(board: Board, pin: Pin | None) -> Schedule:
    return Schedule(
        id=new_id(),
        owner=board.owner,
        board_id=board.id,
        pin_id=None if pin is None else pin.id,
        db_connection_id=None if pin is None else pin.db_connection_id,
        cron=_CRON,
        time_zone="UTC",
        condition=None,
        webhook=receiver(),
        paused=False,
        due_at=EPOCH_MS,
        created_at=EPOCH_MS,
        updated_at=EPOCH_MS,
    )


class SlowStatements(Refreshing):
    """Runs no statement: it takes a while, and gives one row."""

    def __init__(self, world: World, boards: BoardRepository) -> None:
        super().__init__(boards, cast("DatabaseConnections", None), CollectorRegistry())
        self._world = world
        self._boards = boards

    async def _refresh(self, board: Board, pin: Pin, purpose: Purpose) -> None:
        await asyncio.sleep(self._world.chance.choice([0.01, 1.0, 12.0]))
        rows = Rows(columns=[{"name": "n", "type": "integer"}], rows=[[1]], row_count=1, truncated=False)
        await self._boards.keep_result(pin, rows, chart=None, ran_at=EPOCH_MS, cost=DatabaseCost())


class WatchedRuns(Runs):
    """Sees whether two processes run one time."""

    def __init__(self, world: World, timetable: Timetable, boards: BoardRepository, storage: Storage) -> None:
        statements = SlowStatements(world, boards)
        super().__init__(
            ScheduleRepository(storage),
            boards,
            statements,
            events=events_of(storage),
            connections=ConnectionRepository(storage),
            keys=ApiKeys(storage),
            metrics=CollectorRegistry(),
        )
        self._world = world
        self._timetable = timetable

    async def run(self, schedule: Schedule) -> None:
        running, process, now = self._timetable.running, CURRENT.get(), self._world.loop.time()
        assert process is not None
        other, began = running.get(schedule.id, (process, now))
        if other is not process and other.state == "alive" and now - began < _SURE_SECONDS:
            self._world.violate(f"one time of a schedule is run by {other.name} and {process.name} at once")
        running[schedule.id] = process, now
        try:
            await super().run(schedule)
        finally:
            if running.get(schedule.id) == (process, now):
                del running[schedule.id]


def worker_of_schedules(
    world: World, timetable: Timetable, store: StoreData, *, storage: Storage
) -> ScheduleWorker:
    """The worker of a process."""

    def was_delivered(notice_id: str) -> bool:
        kept = store.effective("notices", notice_id)
        return kept is not None and kept["webhook"] == "delivered"

    runs = WatchedRuns(world, timetable, BoardRepository(storage), storage)
    sender = SimulatedSender(world, timetable.sent, was_delivered)
    return ScheduleWorker(runs, [ScheduleWebhooks(ScheduleRepository(storage), sender)])


def unrest_of_schedules(world: World, store: StoreData) -> str | None:
    """Returns what is not at rest yet, None when all is."""
    now = EPOCH_MS + round(world.loop.time() * 1_000)
    for schedule in store.documents("schedules"):
        if schedule["slot_at"] is not None or cast("int", schedule["due_at"]) <= now:
            return f"schedule {str(schedule['id'])[-4:]} is due"
    for notice in store.documents("notices"):
        if notice["webhook"] == "waiting":
            return f"notice {str(notice['id'])[-4:]} is not delivered"
    return None


def check_schedules(world: World, timetable: Timetable, store: StoreData) -> None:
    """Each time has one notice, that it ran, which was delivered, and once if nothing has failed."""
    sent, notices = Counter(timetable.sent), store.documents("notices")
    for schedule in timetable.schedules:
        kept, name = store.effective("schedules", schedule.id), f"schedule {schedule.id[-4:]}"
        last = {} if kept is None else cast("dict[str, object]", kept["last_run"] or {})
        if last.get("scheduled_for") != EPOCH_MS:
            world.violate(f"{name} has not run")
        found = [each for each in notices if each["schedule_id"] == schedule.id]
        notices_as = [(each["id"], each["kind"], each["webhook"]) for each in found]
        was_begun_often = [each["failure"] for each in found] == [asdict(INTERRUPTED)] and world.struck
        expected = (id_of(schedule.id, str(EPOCH_MS)), "failed" if was_begun_often else "ran", "delivered")
        if notices_as != [expected]:
            world.violate(
                f"{name} has run once, and its notices are {notices_as} {[e['failure'] for e in found]}"
            )
        times = sum(sent[str(each["id"])] for each in found)
        if times == 0 or (times > 1 and not world.struck):
            world.violate(f"the notice of {name} was delivered {times} times")
