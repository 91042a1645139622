"""One run of a schedule: its pins are refreshed, and its owner gets a notice.

A worker claims a schedule by moving `due_at` to the end of a lease; only one of several can. If it dies, the
lease ends and another worker runs the same time again. The notice of a time has one id and is stored once.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import get_args

from prometheus_client import CollectorRegistry, Counter
from pydantic import JsonValue

from app.core.auth.api_keys import ApiKeys
from app.core.auth.caller import acting_for
from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.storage.port import StorageUnavailable
from app.modules.boards.errors import BoardUnknown
from app.modules.boards.model import Board, Pin
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.records.errors import RowsGone
from app.modules.schedules.conditions import judge
from app.modules.schedules.model import (
    Delivery,
    LastRun,
    Notice,
    NoticeFailure,
    NoticeKind,
    Outcome,
    Schedule,
)
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.times import latest_time, next_time
from app.modules.webhooks.events import WebhookEvents

logger = logging.getLogger(__name__)

LEASE_MS = 60_000
MOST_TRIES = 3
"""Workers that may begin one time of a schedule; each before has died or lost the store."""

_RENEW_SECONDS = 15.0

_NO_ACCESS = NoticeFailure(
    title="The database may not be used",
    detail="The connection of this pin was deleted, or it is no longer shared with you.",
    cure="Ask its owner to share it, or remove the pin.",
)
_REMOVED = NoticeFailure(title="Not run", detail="The pin was removed meanwhile.", cure="Nothing to do.")
_OWN_ROWS_ONLY = NoticeFailure(
    title="Not sent to others",
    detail="The database shows each person what its policies let them see; this schedule sends to others.",
    cure="Remove its mails, chats and webhook; its notices are in KAI.",
)
INTERRUPTED = NoticeFailure(
    title="Not run",
    detail=f"This was begun {MOST_TRIES} times and did not end: KAI stopped, or its store was unavailable.",
    cure="Refresh the board, and see whether a statement takes too long.",
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a run gave. The figures of the rows are those of a single pin."""

    outcome: Outcome
    row_count: int | None = None
    value: JsonValue = None
    rights: str | None = None
    failure: NoticeFailure | None = None
    failed_pins: int = 0


class Runs:
    """Claims and runs schedules that are due. `now` returns epoch milliseconds.

    Where policies hold, statements run with the rights that the keys of the owner give. Their figures are in
    no notice.
    """

    def __init__(
        self,
        repository: ScheduleRepository,
        boards: BoardRepository,
        refreshing: Refreshing,
        *,
        events: WebhookEvents,
        connections: ConnectionRepository,
        keys: ApiKeys,
        metrics: CollectorRegistry,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._repository = repository
        self._boards = boards
        self._refreshing = refreshing
        self._events = events
        self._connections = connections
        self._keys = keys
        self._now = now
        self._ended = Counter(
            "kai_schedule_runs", "Runs of schedules that ended, by outcome", ["outcome"], registry=metrics
        )
        for outcome in get_args(Outcome):
            self._ended.labels(outcome)  # an increase from nothing would not be seen

    async def claim(self, most: int) -> list[Schedule]:
        """Claim schedules that are due. Raises `StorageUnavailable`."""
        now = self._now()
        claimed = [await self._claim(each, now) for each in await self._repository.schedules.due(now, most)]
        return [each for each in claimed if each is not None]

    async def _claim(self, schedule: Schedule, now: int) -> Schedule | None:
        """Returns None if another worker was first."""
        if schedule.due_at is None:
            return None
        slot, missed = schedule.slot_at, schedule.missed
        if slot is None:
            slot, missed = latest_time(schedule.cron, schedule.time_zone, due=schedule.due_at, now=now)
        claim: dict[str, JsonValue] = {
            "due_at": now + LEASE_MS,
            "slot_at": slot,
            "missed": missed,
            "tries": schedule.tries + 1,
        }
        return await self._repository.schedules.change(schedule, claim)

    async def run(self, schedule: Schedule) -> None:
        """Run a claimed schedule, tell its owner, and make it due for its next time.

        Raises `StorageUnavailable`; the lease then ends by itself.
        """
        try:
            board = await self._boards.get(schedule.owner, schedule.board_id)
        except BoardUnknown:
            await self._repository.delete(schedule)
            return
        async with self._renewed(schedule) as lease:
            pins = await self._pins(board, schedule)
            if not pins and schedule.pin_id is not None:
                await self._repository.delete(schedule)
                return
            databases = [each.db_connection_id for each in pins]
            is_limited = await self._connections.has_policies(schedule.owner, databases)
            result = await self._result(schedule, board, pins, is_limited=is_limited)
            pin = None if schedule.pin_id is None else pins[0]
            notice = _notice(schedule, result, board if pin is None else pin, now=self._now())
            if notice is not None and is_limited:
                await self._repository.tell(_limit_to_owner(notice))
            elif notice is not None:
                await self._repository.tell(notice)
                await self._events.add(notice.owner, f"schedule.{notice.kind}", notice.id, at=notice.at)
        is_settled = await self._settle(lease.schedule, pin, result)
        if is_settled:
            self._ended.labels(result.outcome).inc()
        if not is_settled and notice is not None and await self._repository.find(schedule.id) is None:
            await self._repository.withdraw(notice.id)  # it was deleted meanwhile

    async def _pins(self, board: Board, schedule: Schedule) -> list[Pin]:
        pins = await self._boards.pins(board)
        return [pin for pin in pins if schedule.pin_id in (None, pin.id)]

    async def _result(
        self, schedule: Schedule, board: Board, pins: Sequence[Pin], *, is_limited: bool
    ) -> Result:
        if schedule.tries > MOST_TRIES:
            return Result(outcome="failed", failure=INTERRUPTED)
        if is_limited and (schedule.targets or schedule.webhook is not None):
            return Result(outcome="failed", failure=_OWN_ROWS_ONLY)
        attributes = await self._keys.known_attributes(schedule.owner)
        with acting_for(schedule.owner, attributes):
            refreshed = await asyncio.gather(*(self._refresh(board, pin) for pin in pins))
        if schedule.pin_id is None:
            failures = [failure for _, failure in refreshed if failure is not None]
            return Result(
                outcome="failed" if failures else "ran",
                failure=failures[0] if failures else None,
                failed_pins=len(failures),
            )
        ((pin, failure),) = refreshed
        if failure is not None or pin.result is None:
            return Result(outcome="failed", failure=failure)
        return await self._judged(schedule, pin)

    async def _refresh(self, board: Board, pin: Pin) -> tuple[Pin, NoticeFailure | None]:
        """Returns the pin afterwards, and why it has no new rows."""
        after = await self._refreshing.refresh(board, pin)
        if after is None:
            return pin, _REMOVED
        if after.result is not None and (pin.result is None or after.result.id != pin.result.id):
            return after, None
        if after.failure is None:
            return after, _NO_ACCESS
        found = after.failure
        return after, NoticeFailure(title=found.title, detail=found.detail, cure=found.cure)

    async def _judged(self, schedule: Schedule, pin: Pin) -> Result:
        found = pin.result
        if found is None:
            raise ValueError("a pin without rows cannot be judged")
        if schedule.condition is None:
            return Result(outcome="ran", row_count=found.row_count)
        try:
            rows = await self._boards.rows.read(found.id, 0, 1) if found.row_count else []
        except RowsGone:
            failure = NoticeFailure(
                title="Not judged",
                detail="The rows were replaced by a newer refresh.",
                cure="Nothing to do: the next run judges its own.",
            )
            return Result(outcome="failed", failure=failure)
        previous = None if schedule.last_run is None else schedule.last_run.read_value(found.rights)
        first = rows[0] if rows else None
        verdict = judge(schedule.condition, found.columns, first, previous=previous)
        outcome: Outcome = "met" if verdict.is_met else "not_met"
        return Result(
            outcome="failed" if verdict.failure else outcome,
            row_count=found.row_count,
            value=verdict.value,
            rights=found.rights,
            failure=verdict.failure,
        )

    async def _settle(self, schedule: Schedule, pin: Pin | None, result: Result) -> bool:
        """Returns False if the schedule was changed or deleted meanwhile, or the lease is lost."""
        slot = schedule.slot_at
        if slot is None or schedule.due_at is None:
            return False
        before = schedule.last_run
        value, rights = result.value, result.rights
        if value is None and before is not None:  # `changed` compares with the last value that there was
            value, rights = before.value, before.rights
        ran = LastRun(
            scheduled_for=slot,
            ended_at=self._now(),
            outcome=result.outcome,
            missed=schedule.missed,
            value=value,
            rights=rights,
        )
        changes: dict[str, JsonValue] = {
            "due_at": next_time(schedule.cron, schedule.time_zone, slot),
            "slot_at": None,
            "missed": 0,
            "tries": 0,
            "last_run": asdict(ran),
        }
        if pin is not None:
            changes["db_connection_id"] = pin.db_connection_id
        return await self._repository.schedules.change(schedule, changes) is not None

    @asynccontextmanager
    async def _renewed(self, schedule: Schedule) -> AsyncGenerator["_Lease"]:
        """Renew the lease until the block ends."""
        lease = _Lease(schedule)
        renewing = asyncio.create_task(self._renew(lease), name=f"schedules: renew {schedule.id}")
        try:
            yield lease
        finally:
            lease.ended.set()
            await renewing

    async def _renew(self, lease: "_Lease") -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_RENEW_SECONDS):
                    await lease.ended.wait()
                    return
            held = lease.schedule
            try:
                renewed = await self._repository.schedules.change(held, {"due_at": self._now() + LEASE_MS})
            except StorageUnavailable as error:
                logger.warning("the lease of schedule %s was not renewed: %s", held.id, error)
                continue
            if renewed is None:
                return
            lease.schedule = renewed


@dataclass
class _Lease:
    schedule: Schedule
    ended: asyncio.Event = field(default_factory=asyncio.Event)


def _notice(schedule: Schedule, result: Result, subject: Board | Pin, *, now: int) -> Notice | None:
    """Returns the notice, None if there is nothing to report.

    A failure is reported once until a run succeeds again.
    """
    kind = _kind(schedule, result)
    slot = schedule.slot_at
    if kind is None or slot is None:
        return None
    is_sent = schedule.webhook is not None
    return Notice(
        id=id_of(schedule.id, str(slot)),
        owner=schedule.owner,
        schedule_id=schedule.id,
        board_id=schedule.board_id,
        pin_id=schedule.pin_id,
        db_connection_id=subject.db_connection_id if isinstance(subject, Pin) else None,
        title=subject.title,
        kind=kind,
        scheduled_for=slot,
        at=now,
        missed=schedule.missed,
        row_count=result.row_count,
        condition=schedule.condition,
        value=result.value,
        previous=None if schedule.last_run is None else schedule.last_run.read_value(result.rights),
        failure=result.failure,
        failed_pins=result.failed_pins,
        webhook="waiting" if is_sent else None,
        webhook_due_at=now if is_sent else None,
        deliveries=[
            Delivery(target_id=each.id, kind=each.kind, label=each.label, due_at=now)
            for each in schedule.targets
        ],
        deliver_due_at=now if schedule.targets else None,
    )


def _limit_to_owner(notice: Notice) -> Notice:
    """Returns a notice that goes to no one else, without figures: its owner may have other rights later."""
    return replace(
        notice,
        row_count=None,
        value=None,
        previous=None,
        webhook=None,
        webhook_due_at=None,
        deliveries=[],
        deliver_due_at=None,
    )


def _kind(schedule: Schedule, result: Result) -> NoticeKind | None:
    has_failed_before = schedule.last_run is not None and schedule.last_run.outcome == "failed"
    match result.outcome:
        case "ran":
            return "ran"
        case "met":
            return "met"
        case "failed" if not has_failed_before:
            return "failed"
        case _:
            return "missed" if schedule.missed else None
