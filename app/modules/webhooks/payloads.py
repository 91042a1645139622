"""What receivers of webhooks are sent, for the OpenAPI document."""

from typing import Annotated

from fastapi import APIRouter, status
from pydantic import Field, JsonValue

from app.http.routes import Time
from app.modules.webhooks.model import WEBHOOK_EVENTS, DeliveredEvent
from graph.described import Described


class SentRun(Described):
    """A run that has ended or waits. Fields after `metadata` come with the content `answer`."""

    run_id: str
    """Id of the run."""
    session_id: str
    """Id of its session."""
    message_id: str
    """Id of its answer."""
    metadata: dict[str, str]
    """What the question carried."""
    query: str = ""
    """The question."""
    sql: str | None = None
    """The statement."""
    analysis: str | None = None
    """The text."""
    columns: Annotated[list[dict[str, str]], Field(default_factory=list)]
    """Names and types of the columns."""
    rows: Annotated[list[JsonValue], Field(default_factory=list)]
    """The first rows, 20 at most."""
    row_count: int | None = None
    """Number of all rows."""
    error: dict[str, JsonValue] | None = None
    """The problem that it ended with."""


class SentRunEvent(Described):
    """An event of a run."""

    type: DeliveredEvent
    """What has happened."""
    timestamp: Time
    """When it has happened."""
    data: SentRun
    """The run."""


class SentNotice(Described):
    """A notice of a schedule."""

    notice_id: str
    """Id of the notice."""
    schedule_id: str | None
    """Id of the schedule."""
    board_id: str | None
    """Id of the board."""
    pin_id: str | None
    """Id of the pin. Null for a whole board."""
    title: str
    """Title of the board or pin."""
    scheduled_for: Time
    """When it was due."""
    missed: int
    """Number of times that were missed."""
    row_count: int | None
    """Number of rows of a pin."""
    condition: dict[str, JsonValue] | None
    """The condition that was met."""
    value: JsonValue
    """The value that met it."""
    previous: JsonValue
    """The value before."""
    failure: dict[str, JsonValue] | None
    """Why it has failed."""
    failed_pins: int
    """Number of pins that were not refreshed."""


class SentNoticeEvent(Described):
    """An event of a schedule."""

    type: DeliveredEvent
    """What has happened."""
    timestamp: Time
    """When it has happened."""
    data: SentNotice
    """The notice."""


def describe_events(webhooks: APIRouter) -> None:
    """Describe what is sent for each event."""
    for event in WEBHOOK_EVENTS:
        body = SentRunEvent if event.startswith("run.") else SentNoticeEvent

        async def receive(body: body) -> None:  # type: ignore[valid-type]
            """Sent as Standard Webhooks describes: `webhook-id`, `webhook-timestamp` and `webhook-signature`.

            Answer 2xx within 10 seconds. It is sent at least once, each event under one `webhook-id`.
            """

        receive.__name__ = f"receive_{event.replace('.', '_')}"
        webhooks.post(
            event,
            summary=f"Receive {event}",
            operation_id=receive.__name__,
            tags=["webhooks"],
            status_code=status.HTTP_204_NO_CONTENT,
            responses={410: {"description": "Nothing more is wanted: KAI disables the webhook"}},
        )(receive)
