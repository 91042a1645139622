"""Bodies of schedules and notices. Fields left out of a change stay unchanged."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, field_validator, model_validator

from app.http.routes import Body, PageOf, ResponseBody, Text, Time, VersionedBody, not_null
from app.modules.schedules.deliveries import NewTarget, TargetTest
from app.modules.schedules.model import (
    MOST_TARGETS,
    Condition,
    ConditionKind,
    MessageLanguage,
    Notice,
    NoticeKind,
    Outcome,
    Schedule,
    Target,
    TargetKind,
)
from app.modules.schedules.service import ChangedParts, MadeSchedule, NewSchedule
from app.modules.webhooks.retries import DeliveryState

_ID = "019ab1c2-0000-7000-8000-000000000000"

Id = Annotated[Text, Field(max_length=100)]
Cron = Annotated[Text, Field(min_length=9, max_length=100)]
TimeZone = Annotated[Text, Field(min_length=1, max_length=60)]
WebhookUrl = Annotated[Text, Field(min_length=1, max_length=2_000)]


class NewCondition(Body):
    """A condition on one cell: that of a column in the first row."""

    kind: ConditionKind
    """`above` and `below`: the cell is more or less than `value`. `changed`: it differs from that of the run
    before by more than `value` percent. `no_rows`: the statement gives no row.
    """
    column: Annotated[Text, Field(max_length=300)] | None = None
    """Name of a column with numbers. Null for `no_rows`."""
    value: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """The bound; for `changed` percent. Null for `no_rows`."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind == "no_rows") != (self.column is None) or (self.column is None) != (self.value is None):
            raise ValueError("name column and value, and neither for no_rows")
        if self.kind == "changed" and (self.value or 0) < 0:
            raise ValueError("a change is at least 0 percent")
        return self

    def condition(self) -> Condition:
        return Condition(kind=self.kind, column=self.column, value=self.value)


class NewTargetBody(Body):
    """A target of messages, by one of these fields."""

    id: Id | None = None
    """Id of a target that the schedule has, to keep it."""
    address: Annotated[Text, Field(min_length=3, max_length=254)] | None = None
    """A mail address."""
    url: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = None
    """URL of a chat: the one that its service shows for a webhook, or one as apprise writes it. It is not
    shown again.
    """

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.id, self.address, self.url)) != 1:
            raise ValueError("name one of id, address and url")
        return self

    def new(self) -> NewTarget:
        return NewTarget(id=self.id, address=self.address, url=self.url)


NewTargets = Annotated[list[NewTargetBody], Field(max_length=MOST_TARGETS)]


class NewScheduleBody(Body):
    """A schedule to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"board_id": _ID, "cron": "0 8 * * 1", "time_zone": "Europe/Berlin"}]}
    )

    board_id: Id
    """Id of a board of yours."""
    pin_id: Id | None = None
    """Id of one of its pins. Left out: all pins of the board."""
    cron: Cron
    """Minute, hour, day of month, month and day of week, at least five minutes apart: `0 8 * * 1` is every
    Monday at 8:00. Read as Debian's cron does.
    """
    time_zone: TimeZone = "UTC"
    """Name in the IANA database, like `Europe/Berlin`."""
    condition: NewCondition | None = None
    """When to tell you. Left out: after each run. Needs a pin."""
    webhook_url: WebhookUrl | None = None
    """Address to send notices to, too. It is not shown again."""
    targets: NewTargets = Field(default_factory=list)
    """Mail addresses and chats to send notices to, as messages. At most 10."""
    language: MessageLanguage = "en"
    """Language of these messages: `en` or `de`."""

    def new(self) -> NewSchedule:
        return NewSchedule(
            board_id=self.board_id,
            pin_id=self.pin_id,
            cron=self.cron,
            time_zone=self.time_zone,
            condition=None if self.condition is None else self.condition.condition(),
            webhook_url=self.webhook_url,
            targets=[each.new() for each in self.targets],
            language=self.language,
        )


class ScheduleChange(Body):
    """Changes of a schedule. Fields that are left out stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"paused": True}]})

    cron: Cron | None = None
    """The new cron expression."""
    time_zone: TimeZone | None = None
    """The new time zone."""
    paused: Annotated[bool, Field(strict=True)] | None = None
    """True stops the schedule; false lets it go on at its next time."""
    condition: NewCondition | None = None
    """The new condition. Null: tell after each run."""
    webhook_url: WebhookUrl | None = None
    """The new address, with a new secret. Null: no webhook."""
    targets: NewTargets | None = None
    """All targets from now on. Those to keep are named by their ids."""
    language: MessageLanguage | None = None
    """The new language of messages to targets."""

    _given = field_validator("cron", "time_zone", "paused", "targets", "language", mode="before")(not_null)

    def parts(self) -> ChangedParts:
        return ChangedParts(
            condition=None if self.condition is None else self.condition.condition(),
            targets=None if self.targets is None else [each.new() for each in self.targets],
        )


class ConditionBody(ResponseBody):
    """A condition on one cell: that of a column in the first row."""

    kind: ConditionKind
    """`above`, `below`, `changed` or `no_rows`."""
    column: str | None
    """Name of the column. Null for `no_rows`."""
    value: float | None
    """The bound; for `changed` percent. Null for `no_rows`."""


class TargetBody(ResponseBody):
    """A target of messages."""

    id: str
    """Id of the target."""
    kind: TargetKind
    """`mail` or `chat`."""
    label: str
    """The mail address, or the service of a chat with the last characters of its URL."""

    @classmethod
    def of(cls, target: Target) -> "TargetBody":
        return cls(id=target.id, kind=target.kind, label=target.label)


class TriedTargetBody(TargetBody):
    """A target, and what came of the test."""

    error: str | None
    """Why the test was not taken. Null if it was."""

    @classmethod
    def tried(cls, tried: TargetTest) -> "TriedTargetBody":
        return cls(**TargetBody.of(tried.target).model_dump(), error=tried.error)


class TriedTargetsBody(ResponseBody):
    """What came of a test of all targets."""

    items: list[TriedTargetBody]
    """The targets of the schedule."""


class LastRunBody(ResponseBody):
    """The last run of a schedule."""

    scheduled_for: Time
    """Time of the schedule that was run."""
    ended_at: Time
    """When the run ended."""
    outcome: Outcome
    """`ran`, or with a condition `met` or `not_met`; `failed` if a statement or the condition failed."""
    missed: int
    """Times before it at which no worker ran."""
    value: JsonValue
    """Last cell that the condition has looked at."""


class ScheduleBody(VersionedBody):
    """A schedule."""

    id: str
    """Id of the schedule."""
    board_id: str
    """Id of the board."""
    pin_id: str | None
    """Id of the pin. Null: all pins of the board."""
    cron: str
    """Cron expression."""
    time_zone: str
    """Time zone of the expression."""
    condition: ConditionBody | None
    """When a notice is made. Null: after each run."""
    webhook_host: str | None
    """Host of the webhook. Null without one."""
    webhook_secret: str | None
    """Secret that signs the webhook's requests. Only in the answer that has made it, null in all others."""
    targets: list[TargetBody]
    """Mail addresses and chats to which notices are sent, as messages."""
    language: MessageLanguage
    """Language of these messages."""
    paused: bool
    """True if it does not run."""
    running: bool
    """True while it runs."""
    next_at: Time | None
    """Its next time. Null while it runs or is paused."""
    last_run: LastRunBody | None
    """Its last run. Null before the first."""
    created_at: Time
    """Time of creation."""
    updated_at: Time
    """Time of the latest change, runs not counted."""

    @classmethod
    def of(cls, schedule: Schedule, webhook_secret: str | None = None) -> "ScheduleBody":
        is_running = schedule.slot_at is not None
        last = schedule.last_run
        return cls.model_validate(
            {
                **vars(schedule),
                "condition": None if schedule.condition is None else vars(schedule.condition),
                "webhook_host": None if schedule.webhook is None else schedule.webhook.host,
                "webhook_secret": webhook_secret,
                "targets": [TargetBody.of(each) for each in schedule.targets],
                "running": is_running,
                "next_at": None if is_running else schedule.due_at,
                "last_run": None if last is None else {**vars(last), "value": last.read_value(None)},
            }
        )

    @classmethod
    def made(cls, made: MadeSchedule) -> "ScheduleBody":
        return cls.of(made.schedule, made.webhook_secret)


class NoticeFailureBody(ResponseBody):
    """Why a run gave no rows."""

    title: str
    """The kind of problem, in words."""
    detail: str
    """What is wrong."""
    cure: str
    """What to do about it."""


class DeliveryBody(ResponseBody):
    """A notice on its way to a target."""

    kind: TargetKind
    """`mail` or `chat`."""
    label: str
    """The mail address, or the service of a chat."""
    state: DeliveryState
    """`waiting`, `delivered`, or `given_up` after six tries or a refusal."""
    error: str | None
    """Why the last try failed."""


class MentionBody(ResponseBody):
    """A comment that names the caller."""

    comment_id: str
    """Id of the comment."""
    kind: Literal["answer", "board"]
    """What it is about."""
    target_id: Annotated[str, Field(validation_alias="thing_id")]
    """Id of the answer or board."""
    link_id: str | None
    """Link by which the caller sees the thing. Null for one of theirs."""


class NoticeBody(ResponseBody):
    """What happened at a time of a schedule, or a comment that mentions the caller."""

    id: str
    """Id of the notice."""
    schedule_id: str | None
    """Id of the schedule. It may have been deleted. Null for a mention."""
    board_id: str | None
    """Id of the board. Null for a mention on an answer."""
    pin_id: str | None
    """Id of the pin. Null for a board."""
    title: str
    """Title of the pin or board, or question of the answer, as it was."""
    kind: NoticeKind
    """`ran`; `met`: the condition was met; `failed`, once until a run succeeds; `missed`: nothing
    happened but the missed times; `mention`: a comment names the caller.
    """
    scheduled_for: Time
    """Time of the schedule."""
    at: Time
    """When it was made."""
    missed: int
    """Times before it at which no worker ran. They are not made up for."""
    row_count: int | None
    """Number of rows of the pin. Null for a board, and without rows."""
    condition: ConditionBody | None
    """The condition, as it was."""
    value: JsonValue
    """The cell that the condition looked at."""
    previous: JsonValue
    """That cell in the run before. Null if there was none."""
    failure: NoticeFailureBody | None
    """Why the run failed; of a board, the first failure of a pin."""
    failed_pins: int
    """Pins of a board that failed."""
    webhook: DeliveryState | None
    """`waiting`, `delivered`, or `given_up` after six tries or a refusal. Null without a webhook."""
    webhook_error: str | None
    """Why the last try to send it failed."""
    author: str | None
    """Person who has written the comment. Null for a schedule."""
    session_id: str | None
    """Session of the commented answer. Null for others."""
    mention: MentionBody | None
    """The comment. Null for a schedule."""
    deliveries: list[DeliveryBody]
    """The notice on its way to the targets of its schedule."""

    @classmethod
    def of(cls, notice: Notice) -> "NoticeBody":
        return cls.model_validate(
            {
                **vars(notice),
                "mention": None if notice.mention is None else vars(notice.mention),
                "deliveries": [vars(each) for each in notice.deliveries],
                "condition": None if notice.condition is None else vars(notice.condition),
            }
        )


class NoticesPage(PageOf[NoticeBody]):
    """A page of notices, newest first."""

    unread: int
    """Number of notices after the latest that was marked as read."""


class ReadUntil(Body):
    """The latest notice that was read."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"notice_id": _ID}]})

    notice_id: Id
    """Id of the notice. It and all before it are then read."""
