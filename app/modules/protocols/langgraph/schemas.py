"""Bodies of the LangGraph API. What KAI does not honour is refused by name, and so is every unknown field."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictInt,
    model_validator,
)
from pydantic.alias_generators import to_snake

from app.http.routes import Body, Text
from app.modules.protocols.langgraph.fold import MODES, Mode
from app.modules.protocols.langgraph.state import OF_VALUES, VALUES
from app.modules.protocols.options import QuestionOptions, WithOptions, named_fields, own_object
from app.modules.protocols.threads import check_thread_id
from app.modules.session.schemas import Metadata

MAX_OFFSET = 10_000
MAX_BATCH = 10
MAX_CANCELLED = 50

SortOrder = Literal["asc", "desc"]
ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
AssistantField = Literal[
    "assistant_id",
    "graph_id",
    "name",
    "description",
    "version",
    "config",
    "context",
    "metadata",
    "created_at",
    "updated_at",
]
ThreadField = Literal[
    "thread_id",
    "created_at",
    "updated_at",
    "state_updated_at",
    "metadata",
    "status",
    "config",
    "context",
    "values",
    "interrupts",
]
RunField = Literal[
    "run_id",
    "thread_id",
    "assistant_id",
    "created_at",
    "updated_at",
    "status",
    "metadata",
    "multitask_strategy",
    "kwargs",
    "cancel_reason",
]
_STATE_FIELDS = (
    "values",
    "next",
    "tasks",
    "checkpoint",
    "metadata",
    "created_at",
    "parent_checkpoint",
    "interrupts",
    "checkpoint_id",
    "parent_checkpoint_id",
    *(f"{OF_VALUES}{name}" for name in VALUES),
)


def _refused(cure: str) -> AfterValidator:
    """A field that may only be empty."""

    def check(value: JsonValue) -> JsonValue:
        if value:
            raise ValueError(f"KAI does not offer this. {cure}")
        return value

    return AfterValidator(check)


def _no_null_values(value: object) -> object:
    """Clients send null for what they leave out."""
    return {} if value is None else value


def _state_field(name: str) -> str:
    if name not in _STATE_FIELDS:
        raise ValueError(f"a state has no field {name[:100]!r}. It has {', '.join(_STATE_FIELDS)}")
    return name


def as_modes(given: object) -> object:
    """Modes as clients send them: one, several, a JSON list, or none for the default."""
    if given is None or given == "" or given == []:
        return ["values"]
    if isinstance(given, str):
        if given.startswith("["):
            try:
                return json.loads(given)
            except (ValueError, RecursionError) as error:
                raise ValueError("the modes must be a JSON list of names") from error
        return [given]
    return given


def _check_modes(given: Sequence[str]) -> list[Mode]:
    known: list[Mode] = []
    for name in given:
        found = next((mode for mode in MODES if mode == name), None)
        if found is None:
            offered = ", ".join(MODES)
            raise ValueError(f"KAI has no stream mode {name[:100]!r}. It offers {offered}")
        known.append(found)
    return known


ThreadId = Annotated[str, AfterValidator(check_thread_id)]
StateField = Annotated[Text, AfterValidator(_state_field)]
AssistantId = Annotated[Text, Field(min_length=1, max_length=200)]
Modes = Annotated[list[str], Field(max_length=20), BeforeValidator(as_modes), AfterValidator(_check_modes)]
OptionalMetadata = Annotated[Metadata, BeforeValidator(_no_null_values)]
Limit = Annotated[int, Field(ge=1, le=100)]
MostThreads = Annotated[int, Field(ge=1, le=1_000)]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]


class CheckpointRef(Body):
    """A checkpoint as clients name it."""

    thread_id: Text | None = None
    """Id of the thread. The path has it, too."""
    checkpoint_ns: Annotated[JsonValue, _refused("There are no subgraphs.")] = None
    """Empty."""
    checkpoint_id: Annotated[Text, Field(max_length=100)] | None = None
    """Id of the checkpoint. Null for the latest."""
    checkpoint_map: Annotated[JsonValue, _refused("There are no subgraphs.")] = None
    """Empty."""


class AssistantSearch(Body):
    """Selects assistants."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"limit": 10}]})

    graph_id: Text | None = None
    """Only `kai` has any."""
    name: Text | None = None
    """A part of the name, in any case."""
    metadata: OptionalMetadata = Field(default_factory=dict)
    """Only those with these values. All have one: `created_by` is `system`."""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 10
    """The most assistants of the answer."""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    """The number of assistants to skip."""
    sort_by: Literal["assistant_id", "graph_id", "name", "created_at", "updated_at"] | None = None
    """Field to sort by. Left out: the time of creation."""
    sort_order: SortOrder | None = None
    """Left out: ascending."""
    select: list[AssistantField] | None = None
    """Fields of the answer. Left out: all."""


class VersionSearch(Body):
    """Selects versions of an assistant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"limit": 10}]})

    metadata: OptionalMetadata = Field(default_factory=dict)
    """Only those with these values. All have one: `created_by` is `system`."""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 10
    """The most versions of the answer."""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    """The number of versions to skip."""


class NewThread(Body):
    """A thread to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"metadata": {"team": "sales"}}]})

    thread_id: ThreadId | None = None
    """Any text of up to 255 characters: a name in the space of its owner. Left out: KAI chooses one."""
    metadata: OptionalMetadata = Field(default_factory=dict)
    """Any JSON object. `assistant_id` binds the thread to its database."""
    if_exists: Literal["raise", "do_nothing"] = "raise"
    """`do_nothing` returns the caller's own thread of this id."""
    supersteps: Annotated[JsonValue, _refused("States are not written from outside.")] = None
    """Empty."""
    ttl: Annotated[JsonValue, _refused("Threads are kept until they are deleted.")] = None
    """Empty."""


class ThreadChange(Body):
    """A change of a thread."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"metadata": {"team": "sales"}}]})

    metadata: OptionalMetadata = Field(default_factory=dict)
    """Keys to set. Others keep their values."""
    ttl: Annotated[JsonValue, _refused("Threads are kept until they are deleted.")] = None
    """Empty."""


class ThreadSearch(Body):
    """Selects threads."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"limit": 10, "status": "idle"}]})

    metadata: OptionalMetadata = Field(default_factory=dict)
    """Only threads with these values: texts, numbers, booleans."""
    values: Annotated[JsonValue, _refused("Threads are not searched by their values.")] = None
    """Empty."""
    extract: Annotated[JsonValue, _refused("Read the thread's state instead.")] = None
    """Empty."""
    ids: Annotated[list[Text], Field(max_length=100)] | None = None
    """Only these threads."""
    status: ThreadStatus | None = None
    """Only threads in this state."""
    limit: MostThreads = 10
    """The most threads of the answer."""
    offset: Offset = 0
    """The number of threads to skip."""
    sort_by: Literal["thread_id", "status", "updated_at", "created_at", "state_updated_at"] | None = None
    """Field to sort by. Left out: the time of the latest change."""
    sort_order: SortOrder | None = None
    """Left out: descending."""
    select: list[ThreadField] | None = None
    """Fields of the answer. Left out: all."""


class ThreadsPruned(Body):
    """Threads to prune."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"thread_ids": ["019ab1c2-0000-7000-8000-000000000000"]}]}
    )

    thread_ids: Annotated[list[Text], Field(max_length=100)]
    """Ids of the threads."""
    strategy: Literal["delete", "keep_latest"] = "delete"
    """`keep_latest` keeps the latest checkpoint, and the messages."""


class StateAt(Body):
    """Selects a state."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"checkpoint": {"checkpoint_id": None}}]})

    checkpoint: CheckpointRef = Field(default_factory=CheckpointRef)
    """The checkpoint."""
    subgraphs: bool = False
    """There are none."""
    select: list[StateField] | None = None
    """Fields of the answer, of which `values.<name>` are single ones of the values. Left out: all."""


class HistoryQuery(Body):
    """Selects states."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"limit": 10}]})

    limit: Limit = 10
    """The most states of the answer."""
    before: JsonValue = None
    """The states before this checkpoint: its id, the checkpoint, or a config that names it."""
    checkpoint: CheckpointRef | None = None
    """The states from this checkpoint on."""
    metadata: Annotated[JsonValue, _refused("States have no metadata to search by.")] = None
    """Empty."""
    select: list[StateField] | None = None
    """Fields of the answer, of which `values.<name>` are single ones of the values. Left out: all."""

    @property
    def before_id(self) -> str | None:
        """The id of the checkpoint that `before` names."""
        return _checkpoint_id_of(self.before)


def _checkpoint_id_of(named: JsonValue) -> str | None:
    match named:
        case str():
            return named
        case {"configurable": dict() as configurable}:
            return _checkpoint_id_of(configurable)
        case {"checkpoint_id": str() as checkpoint_id}:
            return checkpoint_id
        case _:
            return None


END = "__end__"


def _only_end(goto: JsonValue) -> JsonValue:
    if goto and goto not in (END, [END]):
        raise ValueError(f"KAI chooses its own steps: only {END} is possible, which withdraws what waits")
    return goto


class Command(Body):
    """An answer to what a thread waits for."""

    resume: JsonValue = None
    """`{"decisions": [...]}`, or a map from the id of the interrupt to that."""
    update: Annotated[JsonValue, _refused("States are not written from outside: answer with `resume`.")] = (
        None
    )
    """Empty."""
    goto: Annotated[JsonValue, AfterValidator(_only_end)] = None
    """`__end__` ends the turn without the calls that wait."""
    graph: Annotated[JsonValue, _refused("There are no subgraphs.")] = None
    """Empty."""


_OWN_KEYS = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")
_OWN_PREFIXES = ("__", "langgraph_")
"""Keys that LangGraph itself adds."""


Options = Annotated[WithOptions, BeforeValidator(own_object)]


class Config(Body):
    """A config. Of it, KAI reads `metadata` and `configurable.kai`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    tags: list[JsonValue] | None = None
    """Taken, without effect."""
    recursion_limit: int | None = None
    """Taken, without effect: KAI has limits of its own."""
    metadata: OptionalMetadata = Field(default_factory=dict)
    """Added to the run's metadata."""
    configurable: Options = Field(default_factory=WithOptions)
    """Of it, KAI reads `kai`. No other key changes anything."""


class NewRun(Body):
    """A run to start."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "assistant_id": "kai",
                    "input": {"messages": [{"role": "user", "content": "Top 5 products by revenue"}]},
                }
            ]
        }
    )

    assistant_id: AssistantId
    """Id of the assistant, or `kai` for the caller's only one."""
    input: dict[str, JsonValue] | None = None
    """`{"messages": [...]}`. The last message of the user is the question. Left out with an older
    checkpoint: the question that was asked last after it is answered again.
    """
    command: Command | None = None
    """`{"resume": ...}` answers what the thread waits for, `{"goto": "__end__"}` withdraws it."""
    checkpoint: CheckpointRef | None = None
    """The checkpoint to start from: at the end of any turn. Left out: the latest."""
    checkpoint_id: Annotated[Text, Field(max_length=100)] | None = None
    """Id of the checkpoint to start from. Left out: the latest."""
    config: Config | None = None
    """Of it, KAI reads `metadata` and `configurable.kai`."""
    context: Options = Field(default_factory=WithOptions)
    """Of it, KAI reads `kai`. No other key changes anything."""
    metadata: OptionalMetadata = Field(default_factory=dict)
    """Kept on the run."""
    stream_mode: Modes = Field(default_factory=lambda: ["values"])
    """Modes of the stream."""
    stream_subgraphs: bool | None = None
    """There are none."""
    stream_resumable: bool | None = None
    """Every stream is."""
    durability: Literal["sync", "async", "exit"] | None = None
    """Always `sync`, the strongest."""
    checkpoint_during: bool | None = None
    """Always."""
    multitask_strategy: Literal["reject", "enqueue", "interrupt", "rollback"] | None = None
    """Reaction to another run of the thread. Left out: `enqueue`. `rollback` is not offered."""
    if_not_exists: Literal["create", "reject"] | None = None
    """`create` creates the thread if there is none."""
    on_disconnect: Literal["cancel", "continue"] | None = None
    """`cancel` cancels the run when its client leaves the stream. Left out: `continue`."""
    on_completion: Literal["delete", "keep"] | None = None
    """For runs without a thread: `keep` keeps the thread that was made for it."""
    strict_resume: bool | None = None
    """Always: a resume that answers nothing is refused."""
    webhook: Annotated[JsonValue, _refused("KAI calls no addresses: follow the run's stream.")] = None
    """Empty."""
    after_seconds: Annotated[JsonValue, _refused("Runs begin at once.")] = None
    """Empty."""
    feedback_keys: Annotated[JsonValue, _refused("Rate an answer on KAI's own routes.")] = None
    """Empty."""
    interrupt_before: Annotated[JsonValue, _refused("KAI asks where an approval is needed.")] = None
    """Empty."""
    interrupt_after: Annotated[JsonValue, _refused("KAI asks where an approval is needed.")] = None
    """Empty."""
    langsmith_tracer: Annotated[JsonValue, _refused("KAI traces by OpenTelemetry.")] = None
    """Empty."""

    @model_validator(mode="after")
    def _check_rollback(self) -> Self:
        if self.multitask_strategy == "rollback":
            raise ValueError(
                "multitask_strategy rollback is not offered, because a question is part of the record. "
                "Choose interrupt"
            )
        return self

    @property
    def modes(self) -> list[Mode]:
        return _check_modes(self.stream_mode)

    @property
    def named_checkpoint(self) -> str | None:
        """The id of the checkpoint that the run is to start from. None for the latest."""
        return (self.checkpoint.checkpoint_id if self.checkpoint else None) or self.checkpoint_id

    @property
    def options(self) -> QuestionOptions:
        """What the client chooses for this question: in `context`, or else in `config.configurable`."""
        configured = None if self.config is None else self.config.configurable.kai
        return self.context.kai or configured or QuestionOptions()

    @property
    def unread(self) -> list[str]:
        """Names of the fields of the config and the context that KAI does not read."""
        config = self.config or Config()
        configurable = {
            name: value
            for name, value in config.configurable.__pydantic_extra__.items()
            if name not in _OWN_KEYS and not name.startswith(_OWN_PREFIXES)
        }
        return [
            *named_fields(config.__pydantic_extra__, "config"),
            *named_fields(configurable, "configurable"),
            *named_fields(self.context.__pydantic_extra__, "context"),
        ]

    @property
    def all_metadata(self) -> dict[str, JsonValue]:
        return {**(self.config.metadata if self.config else {}), **self.metadata}


class BatchedRun(NewRun):
    """A run of a batch. The JavaScript SDK sends the fields under its own names, such as `assistantId`."""

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {to_snake(name): value for name, value in given.items()} | {
            name: value for name, value in given.items() if name in cls.model_fields
        }


class RunsCancelled(Body):
    """Runs to cancel."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "thread_id": "019ab1c2-0000-7000-8000-000000000000",
                    "run_ids": ["019ab1c2-0000-7000-8000-000000000000"],
                }
            ]
        }
    )

    thread_id: Text | None = None
    """Id of the thread of the runs. Left out with `status`: of all threads."""
    run_ids: Annotated[list[Text], Field(min_length=1, max_length=MAX_CANCELLED)] | None = None
    """Ids of the runs."""
    status: Literal["pending", "running", "all"] | None = None
    """In place of ids: all runs that wait, that are answered, or both."""

    @model_validator(mode="after")
    def _check_selection(self) -> Self:
        is_named = self.run_ids is not None and self.thread_id is not None
        if is_named == (self.status is not None) or (self.run_ids is not None and self.status is not None):
            raise ValueError("name the runs either by thread_id and run_ids, or by status")
        return self


class ThreadCommand(Body):
    """A command to a thread, as LangGraph's event streaming has them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 1,
                    "method": "run.start",
                    "params": {
                        "assistant_id": "kai",
                        "input": {"messages": [{"role": "user", "content": "Top 5 products by revenue"}]},
                    },
                }
            ]
        }
    )

    id: Annotated[Text, Field(max_length=100)] | StrictInt | None
    """The client's own id of the command. The answer repeats it."""
    method: Annotated[Text, Field(max_length=100)]
    """`run.start` or `input.respond`."""
    params: Annotated[dict[str, JsonValue], BeforeValidator(_no_null_values)] = Field(default_factory=dict)
    """Of `run.start`: the body of a run. Of `input.respond`: `interrupt_id` and `response`."""


class InterruptResponse(Body):
    """An answer to a call that waits."""

    interrupt_id: Annotated[Text, Field(min_length=1, max_length=100)]
    """Id of the interrupt."""
    namespace: Annotated[JsonValue, _refused("There are no subgraphs.")] = None
    """Empty."""
    response: JsonValue
    """`{"decisions": [...]}` with one decision."""


class EventSelection(Body):
    """Selects events of a thread."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"channels": ["values", "messages"]}]})

    channels: Annotated[list[Annotated[Text, Field(max_length=200)]], Field(min_length=1, max_length=50)]
    """Channels of the stream. `custom:<name>` selects custom events of one name."""
    namespaces: Annotated[list[list[Text]], Field(max_length=50)] | None = None
    """Every event has the empty namespace: there are no subgraphs."""
    depth: int | None = None
    """Taken, without effect: there are no subgraphs."""
    since: Annotated[int, Field(ge=0, lt=1 << 53)] | None = None
    """`seq` of the last event received. Left out: the stream starts with the run that is open or has just
    ended, or with the next.
    """

    @property
    def is_root(self) -> bool:
        """The empty namespace is selected."""
        return self.namespaces is None or [] in self.namespaces
