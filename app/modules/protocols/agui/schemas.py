"""The body of a run of AG-UI, as far as KAI honours it. Names are camelCase on the wire."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from app.http.routes import Body, Text
from app.modules.protocols.options import WithOptions, own_object

ClientId = Annotated[Text, Field(min_length=1, max_length=255)]
_UUID = "019ab1c2-0000-7000-8000-000000000000"


class _Body(Body):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=False)


class ThreadMessage(_Body):
    """A message of the thread. Only the last one of the user counts."""

    model_config = ConfigDict(extra="ignore")

    id: ClientId
    """Id of the message."""
    role: Literal["developer", "system", "assistant", "user", "tool", "activity", "reasoning"]
    """Who has written it."""
    content: JsonValue = None
    """Its text, or a list of text parts."""
    tool_calls: JsonValue = None
    """Calls of tools. A resume tells the results of those that have waited."""

    @property
    def call_ids(self) -> list[str]:
        calls = self.tool_calls if isinstance(self.tool_calls, list) else []
        ids = [call.get("id") for call in calls if isinstance(call, dict)]
        return [each for each in ids if isinstance(each, str)]


class InterruptAnswer(_Body):
    """The answer to an interrupt."""

    model_config = ConfigDict(extra="ignore")

    interrupt_id: ClientId
    """Id of the interrupt."""
    status: Literal["resolved", "cancelled"]
    """`resolved` with a payload; `cancelled` denies the call."""
    payload: JsonValue = None
    """`{"type": "approve"}` or `{"type": "reject", "message": ...}`, as the interrupt's `responseSchema`
    says; or LangChain's form of it, `{"decisions": [...]}`; or `{"approved": true}`, with `editedArgs` for
    an edit, or `{"approved": false, "reason": ...}`.
    """


class ForwardedProps(WithOptions):
    """What the client forwards to the agent. Other fields have no effect."""

    on_disconnect: Literal["cancel", "continue"] | None = None
    """`continue` lets the run go on if the client leaves. Otherwise it is cancelled 5 seconds later."""


class RunInput(_Body):
    """A run of AG-UI: the thread with its last question, or the answers to open interrupts."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "threadId": _UUID,
                    "runId": "run-1",
                    "messages": [{"id": "m-1", "role": "user", "content": "Top 5 products by revenue"}],
                    "tools": [],
                    "context": [],
                    "state": {},
                    "forwardedProps": {},
                }
            ]
        }
    )

    thread_id: ClientId
    """The conversation: the id of a session of the caller's, or any text of the client's own."""
    run_id: ClientId
    """The client's id of the run. The same id and question follow the same run again."""
    messages: list[ThreadMessage] = Field(default_factory=list)
    """The thread. The last message of the user is the question."""
    resume: list[InterruptAnswer] | None = None
    """Answers to all open interrupts of the thread, instead of a question."""
    state: JsonValue = None
    """Refused unless empty: KAI's state is its own."""
    tools: list[JsonValue] | None = None
    """Refused unless empty: KAI calls its own tools."""
    context: JsonValue = None
    """Taken without effect."""
    forwarded_props: Annotated[ForwardedProps, BeforeValidator(own_object)] = Field(
        default_factory=ForwardedProps
    )
    """What KAI reads of it is `on_disconnect` and `kai`."""
    parent_run_id: str | None = None
    """Taken without effect: a run always continues its thread."""
    protocol_version: str | None = None
    """Version of AG-UI that the client speaks. Taken without effect."""
