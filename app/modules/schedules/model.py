"""Schedules and what they tell their owners. Times are epoch milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from app.modules.webhooks.model import Receiver
from app.modules.webhooks.retries import DeliveryState

MOST_SCHEDULES = 50
"""Schedules of an owner."""
NOTICE_DAYS = 90
"""Days after which notices are deleted."""
MOST_TARGETS = 10
"""Targets of a schedule."""
TEST_SECONDS = 60
"""Time between two tests of a schedule's targets."""

ConditionKind = Literal["above", "below", "changed", "no_rows"]
Outcome = Literal["ran", "met", "not_met", "failed"]
NoticeKind = Literal["ran", "met", "failed", "missed", "mention"]
TargetKind = Literal["mail", "chat"]
MessageLanguage = Literal["en", "de"]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What the rows must be for a notice. A cell is that of a column in the first row.

    `above` and `below`: the cell is more or less than `value`. `changed`: it differs from that of the run
    before by more than `value` percent. `no_rows`: there is no row; without column and value.
    """

    kind: ConditionKind
    column: str | None = None
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Target:
    """A person's mail or a chat to which notices are sent, as messages.

    `label` is the address of a mail, or the service of a chat with the last characters of its URL. The URL
    of a chat is a secret: it is encrypted, and None for a mail.
    """

    id: str
    kind: TargetKind
    label: str
    url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A notice on its way to a target. `due_at` is when it is tried next, None when it has ended."""

    target_id: str
    kind: TargetKind
    label: str
    state: DeliveryState = "waiting"
    tries: int = 0
    due_at: int | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """The last run of a schedule."""

    scheduled_for: int
    ended_at: int
    outcome: Outcome
    missed: int
    value: JsonValue = None
    """The cell of the condition."""
    rights: str | None = None
    """Fingerprint of the rights that the cell was read with. None if everyone sees the same."""

    def read_value(self, rights: str | None) -> JsonValue:
        """Returns the cell for these rights. Returns None for one that was read with others."""
        return self.value if self.rights == rights else None


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Times at which a pin, or all pins of a board, are refreshed.

    `due_at` is when a worker looks at the schedule next: its next time, or while `slot_at` is set the end of
    the lease of the worker that runs it. None while it is paused.
    """

    id: str
    owner: str
    board_id: str
    pin_id: str | None
    db_connection_id: str | None
    """That of the pin."""
    cron: str
    time_zone: str
    condition: Condition | None
    webhook: Receiver | None
    targets: Sequence[Target] = ()
    language: MessageLanguage = "en"
    """That of messages to targets."""
    tested_at: int | None = None
    """When a test was sent to the targets last."""
    paused: bool
    due_at: int | None
    slot_at: int | None = None
    """The time that is being run."""
    missed: int = 0
    """Times before `slot_at` that no worker has run."""
    tries: int = 0
    """Workers that have begun to run `slot_at`."""
    last_run: LastRun | None = None
    created_at: int
    updated_at: int
    version: int = 0
    """Number of edits. Runs are none."""


@dataclass(frozen=True, kw_only=True)
class NoticeFailure:
    """Why a run gave no rows, and what helps."""

    title: str
    detail: str
    cure: str


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A comment that names a person. `link_id` is the link by which they see the thing; None for theirs."""

    comment_id: str
    kind: Literal["answer", "board"]
    thing_id: str
    link_id: str | None


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What happened at a time of a schedule, or a mention. Its id follows from both the schedule and the
    time, or from the comment and the person, so it is stored once.

    `failed_pins` are those of a board. `webhook_due_at` is when the webhook is tried next, and
    `deliver_due_at` when the next of the deliveries is.
    """

    id: str
    owner: str
    schedule_id: str | None
    board_id: str | None
    pin_id: str | None
    db_connection_id: str | None
    title: str
    kind: NoticeKind
    scheduled_for: int
    at: int
    missed: int
    row_count: int | None = None
    condition: Condition | None = None
    value: JsonValue = None
    previous: JsonValue = None
    failure: NoticeFailure | None = None
    failed_pins: int = 0
    webhook: DeliveryState | None = None
    webhook_tries: int = 0
    webhook_due_at: int | None = None
    webhook_error: str | None = None
    deliveries: Sequence[Delivery] = ()
    deliver_due_at: int | None = None
    session_id: str | None = None
    """Session of the answer of a mention."""
    author: str | None = None
    """Person who has mentioned the owner."""
    mention: Mention | None = None
