"""Request and response bodies of the graph memory and its consents."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.http.routes import Body, ResponseBody, Text, Time
from app.modules.memory.consent import TEXT_VERSION
from app.modules.memory.graphiti.status import GraphState, GraphTestMode

ConnectionId = Annotated[Text, Field(max_length=100)]


class NewConsent(Body):
    """The caller's consent that a service outside of KAI remembers their questions about a database."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": "019ab1c2-0000-7000-8000-000000000000",
                    "endpoint": "http://127.0.0.1:8010",
                    "text_version": TEXT_VERSION,
                }
            ]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    endpoint: Annotated[Text, Field(max_length=2_000)]
    """Address of the service, as `GET /memory/graph` shows it. Consent to one address is none to another."""
    text_version: int
    """Version of the text that the caller has read, from `GET /memory/graph`."""


class ConsentBody(ResponseBody):
    """A consent."""

    db_connection_id: str
    """Id of the database connection."""
    endpoint: str
    """Address of the service that the consent is for."""
    granted_at: Time
    """Only what was asked since then is sent."""
    credential: str
    """Credential that the consent was given with."""
    text_version: int
    """Version of the text that was consented to."""
    in_force: bool
    """The service has this address, the text has this version, and the database's owner allows it. Otherwise
    nothing is sent.
    """


class WithdrawnBody(ResponseBody):
    """A withdrawn consent."""

    groups: int
    """Groups at the service that hold something of the database and the caller. Without `erase` they stay."""
    erasing: bool
    """The groups are being erased; `GET /memory/graph` says how many are left. False without `erase`, and
    where the graph memory is off: it erases them once it is on.
    """


class GraphMemoryBody(ResponseBody):
    """State of the graph memory, and what a user consents to."""

    enabled: bool
    """`KAI_GRAPH_MEMORY__ENABLED`."""
    endpoint: str | None
    """Address of the service. Null where the graph memory is off."""
    recall: bool
    """Questions are answered with what the service knows."""
    ingest: bool
    """Answered questions are sent to the service. Otherwise only promoted facts are."""
    state: GraphState | None
    """`stalled`: the service accepts messages and keeps none; restart it. Null where the graph memory is
    off.
    """
    lag_seconds: int
    """Age of the oldest message that the service has accepted and not shown."""
    waiting: int
    """Entries of all users that wait to be sent."""
    not_erased: int
    """Groups of the caller whose erasure is not confirmed. Nothing of them is recalled."""
    consent_text: str
    """What a user consents to."""
    text_version: int
    """Version of the text."""


class GraphTestRequest(Body):
    """A test of the connection."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"mode": "basic"}]})

    mode: GraphTestMode = "basic"
    """`basic` only reads. `smoke` also writes a message, waits up to 30 s for it to be kept, and deletes
    it.
    """


class GraphTestStepBody(ResponseBody):
    """A step of a test."""

    name: str
    """Name of the step."""
    passed: bool
    """The step has passed."""
    milliseconds: int
    """Duration of the step."""
    detail: str
    """What the step has found, and what helps."""


class GraphTestBody(ResponseBody):
    """The result of a test."""

    mode: GraphTestMode
    """Kind of the test."""
    passed: bool
    """All steps have passed."""
    steps: list[GraphTestStepBody]
    """The steps that were made."""
