"""Schedules: pins and boards that are refreshed at times, without a model."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import new_id
from app.core.keyed_ids import created_id
from app.modules.boards.model import Board, Pin
from app.modules.boards.repository import BoardRepository
from app.modules.database_connection.repository import ConnectionRepository
from app.modules.schedules.deliveries import Deliveries, NewTarget, TargetTest
from app.modules.schedules.errors import (
    BadCondition,
    OwnRowsOnly,
    ScheduleUnknown,
    TargetRefused,
    TestedBefore,
    TooManySchedules,
)
from app.modules.schedules.model import (
    MOST_SCHEDULES,
    TEST_SECONDS,
    Condition,
    MessageLanguage,
    Notice,
    Schedule,
)
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.times import check_times, next_time
from app.modules.webhooks.sending import WebhookSender

audit = logging.getLogger("kai.audit")

_NUMERIC = ("integer", "number")


@dataclass(frozen=True, kw_only=True)
class NewSchedule:
    """What to run, when, and whom to tell."""

    board_id: str
    pin_id: str | None
    cron: str
    time_zone: str
    condition: Condition | None
    webhook_url: str | None
    targets: Sequence[NewTarget] = ()
    language: MessageLanguage = "en"


@dataclass(frozen=True, kw_only=True)
class ChangedParts:
    """Parts of a change that have types of their own. None for what stays."""

    condition: Condition | None
    targets: Sequence[NewTarget] | None


@dataclass(frozen=True)
class MadeSchedule:
    """A schedule, and the secret of a webhook that was just made. It is shown this once."""

    schedule: Schedule
    webhook_secret: str | None = None


class Schedules:
    """Every method names the owner. It raises `ScheduleUnknown` for a schedule of another owner."""

    def __init__(
        self,
        repository: ScheduleRepository,
        boards: BoardRepository,
        sender: WebhookSender,
        *,
        deliveries: Deliveries,
        connections: ConnectionRepository,
    ) -> None:
        self.repository = repository
        self._boards = boards
        self._sender = sender
        self._deliveries = deliveries
        self._connections = connections
        self._under_test: set[str] = set()

    async def create(self, owner: str, new: NewSchedule) -> MadeSchedule:
        """Raises `BoardUnknown`, `PinUnknown`, `BadTimes`, `BadCondition`, `WebhookRefused`, `TargetRefused`,
        `OwnRowsOnly` or `TooManySchedules`.
        """
        board = await self._boards.get(owner, new.board_id)
        pin = None if new.pin_id is None else await self._boards.pin(board, new.pin_id)
        check_times(new.cron, new.time_zone)
        _check_condition(new.condition, pin)
        if new.targets or new.webhook_url is not None:
            await self._check_recipients(board, pin)
        if await self.repository.count(owner) >= MOST_SCHEDULES:
            raise TooManySchedules(most=MOST_SCHEDULES)
        targets = await self._deliveries.make(new.targets)
        webhook = None
        if new.webhook_url is not None:
            webhook, _ = await self._sender.make(new.webhook_url)
        now = now_ms()
        schedule = Schedule(
            id=created_id(),
            owner=owner,
            board_id=board.id,
            pin_id=None if pin is None else pin.id,
            db_connection_id=None if pin is None else pin.db_connection_id,
            cron=new.cron,
            time_zone=new.time_zone,
            condition=new.condition,
            webhook=webhook,
            targets=targets,
            language=new.language,
            paused=False,
            due_at=next_time(new.cron, new.time_zone, now),
            created_at=now,
            updated_at=now,
        )
        schedule = await self.repository.add(schedule)
        _audit(schedule, "added")
        secret = None if schedule.webhook is None else self._sender.secret_of(schedule.webhook)
        return MadeSchedule(schedule, secret)

    async def change(
        self, owner: str, schedule_id: str, changes: Mapping[str, JsonValue], *, parts: ChangedParts
    ) -> MadeSchedule:
        """Change the fields that `changes` names. Its condition and targets are those of `parts`.

        A change of times, or going on after a pause, makes it due at its next time: nothing is made up for.
        Raises what `create` raises.
        """
        schedule = await self.repository.get(owner, schedule_id)
        now = now_ms()
        stored: dict[str, JsonValue] = {"updated_at": now}
        if changes.get("webhook_url") is not None or parts.targets:
            await self._check_recipients(*await self._subject(schedule))
        if "condition" in changes:
            _, pin = await self._subject(schedule)
            condition = parts.condition
            _check_condition(condition, pin)
            stored["condition"] = None if condition is None else asdict(condition)
            if schedule.last_run is not None:
                stored["last_run"] = {**asdict(schedule.last_run), "value": None}
        secret = None
        if "webhook_url" in changes:
            url = changes["webhook_url"]
            stored["webhook"] = None
            if isinstance(url, str):
                webhook, secret = await self._sender.make(url)
                stored["webhook"] = asdict(webhook)
        if parts.targets is not None:
            made = await self._deliveries.make(parts.targets, schedule.targets)
            stored["targets"] = [asdict(each) for each in made]
        if "language" in changes:
            stored["language"] = changes["language"]
        if changes.keys() & {"cron", "time_zone", "paused"}:
            cron, time_zone = changes.get("cron", schedule.cron), changes.get("time_zone", schedule.time_zone)
            paused = changes.get("paused", schedule.paused)
            check_times(str(cron), str(time_zone))
            due_at = None if paused else next_time(str(cron), str(time_zone), now)
            stored |= {"cron": cron, "time_zone": time_zone, "paused": paused, "due_at": due_at}
            stored |= {"slot_at": None, "missed": 0, "tries": 0}
        changed = await self.repository.edit(schedule, stored)
        if changed is None:
            raise ScheduleUnknown
        _audit(changed, "changed")
        return MadeSchedule(changed, secret)

    async def try_targets(self, owner: str, schedule_id: str) -> list[TargetTest]:
        """Send a test to all targets now. Raises `TargetRefused` if there is none, or `TestedBefore`."""
        schedule, now = await self.repository.get(owner, schedule_id), now_ms()
        if not schedule.targets:
            raise TargetRefused("The schedule has neither a mail nor a chat to send to. Add one first.")
        waited = TEST_SECONDS if schedule.tested_at is None else (now - schedule.tested_at) // 1_000
        if waited < TEST_SECONDS or schedule.id in self._under_test:
            raise TestedBefore(
                f"The targets of a schedule can be tested every {TEST_SECONDS} seconds.",
                retry_after_seconds=TEST_SECONDS,
            )
        self._under_test.add(schedule.id)
        try:
            await self.repository.note_test(schedule, now)
            tried = await self._deliveries.try_out(schedule, await self._trial(schedule, now))
        finally:
            self._under_test.discard(schedule.id)
        _audit(schedule, "tested")
        return tried

    async def _trial(self, schedule: Schedule, now: int) -> Notice:
        """Returns a notice that is not stored. Raises `BoardUnknown` or `PinUnknown`."""
        board, pin = await self._subject(schedule)
        return Notice(
            id=new_id(),
            owner=schedule.owner,
            schedule_id=schedule.id,
            board_id=schedule.board_id,
            pin_id=schedule.pin_id,
            db_connection_id=schedule.db_connection_id,
            title=board.title if pin is None else pin.title,
            kind="ran",
            scheduled_for=now,
            at=now,
            missed=0,
        )

    async def _subject(self, schedule: Schedule) -> tuple[Board, Pin | None]:
        """Returns the board that a schedule runs, and its pin if it runs one. Raises `BoardUnknown` or
        `PinUnknown`.
        """
        board = await self._boards.get(schedule.owner, schedule.board_id)
        return board, None if schedule.pin_id is None else await self._boards.pin(board, schedule.pin_id)

    async def _check_recipients(self, board: Board, pin: Pin | None) -> None:
        """Raises `OwnRowsOnly`."""
        pins = await self._boards.pins(board) if pin is None else [pin]
        if await self._connections.has_policies(board.owner, [each.db_connection_id for each in pins]):
            raise OwnRowsOnly

    async def delete(self, owner: str, schedule_id: str) -> None:
        schedule = await self.repository.get(owner, schedule_id)
        await self.repository.delete(schedule)
        _audit(schedule, "deleted")


def _check_condition(condition: Condition | None, pin: Pin | None) -> None:
    """Raises `BadCondition`."""
    if condition is None:
        return
    if pin is None:
        raise BadCondition("A condition looks at a cell of one pin. Name a pin, or leave the condition out.")
    if condition.kind == "no_rows" or pin.result is None:
        return
    numeric = [each["name"] for each in pin.result.columns if each["type"] in _NUMERIC]
    if condition.column not in numeric:
        named = ", ".join(numeric) or "none"
        raise BadCondition(f"The pin has no number column {condition.column!r}. Its number columns: {named}.")


def _audit(schedule: Schedule, action: str) -> None:
    """One line for each change, without addresses."""
    audit.info(
        "schedule",
        extra={
            "owner": schedule.owner,
            "schedule_id": schedule.id,
            "board_id": schedule.board_id,
            "pin_id": schedule.pin_id,
            "connection_id": schedule.db_connection_id,
            "webhook_host": None if schedule.webhook is None else schedule.webhook.host,
            "targets": [each.kind for each in schedule.targets],
            "action": action,
        },
    )
