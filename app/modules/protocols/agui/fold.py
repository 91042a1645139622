"""The events of a run as events of AG-UI. Pure.

Imported with the first request, because AG-UI's models are slow to import.
"""

import json
from collections.abc import Collection, Sequence

from ag_ui.core import (
    PROTOCOL_VERSION,
    ActivitySnapshotEvent,
    BaseEvent,
    CustomEvent,
    Interrupt,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from pydantic import JsonValue

from app.core.errors import problem_type
from app.modules.protocols import messages
from app.modules.protocols.frame_stream import Frame
from app.modules.records.model import Run
from graph.events import (
    AnalysisChunk,
    ChartChunk,
    ClarificationChunk,
    Confirmation,
    ConfirmationDecided,
    Done,
    Failure,
    Memory,
    Progress,
    Reset,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
    TextChunk,
    ToolCalled,
    ToolReturned,
)

CHART = "kai.chart"
"""Type of the activity that holds a chart as a Vega-Lite specification."""

APPROVAL: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["approve", "edit", "reject"]},
        "edited_action": {"type": "object", "description": "For `edit`: name of the tool, and all args."},
        "message": {"type": "string", "description": "Reason, for the record."},
        "call_hash": {"type": "string", "description": "Hash of the call that was shown."},
    },
    "required": ["type"],
}
"""JSON schema of the payload that answers an interrupt."""


class EventFold:
    """Makes the frames of one run. Ids of messages and calls are those of KAI's messages; each emission after
    a reset has ids of its own, because AG-UI never takes a message back.
    """

    def __init__(self, run: Run, thread_id: str, run_id: str, *, known_calls: Collection[str] = ()) -> None:
        """`thread_id` and `run_id` are the client's, `known_calls` the ids of calls of earlier runs that it
        shows: their results belong to them.
        """
        self._run = run
        self._thread_id = thread_id
        self._run_id = run_id
        self._resets = 0
        self._step: str | None = None
        self._text_id: str | None = None
        self._answers = 0
        self._notes = 0
        self._analysis = ""
        self._statements = 0
        self._open_call: str | None = None
        self._calls = set(known_calls)
        self._interrupts: list[Interrupt] = []
        self._failure: Failure | None = None

    def begin(self) -> Sequence[Frame]:
        started = RunStartedEvent(
            thread_id=self._thread_id, run_id=self._run_id, protocol_version=PROTOCOL_VERSION
        )
        stored = CustomEvent(name="kai.session", value={"session_id": self._run.session_id})
        return [_frame(started), _frame(stored)]

    def frames(self, event: SessionEvent) -> Sequence[Frame]:
        return [_frame(each) for each in self._events(event)]

    def _events(self, event: SessionEvent) -> list[BaseEvent]:
        match event:
            case Status():
                return self._begin_step(event)
            case TextChunk() | AnalysisChunk() | ClarificationChunk():
                return self._text(event)
            case SqlChunk() | ResultsChunk():
                return self._statement(event) if event.tool_call_id is None else []
            case ToolCalled():
                return [*self._end_text(), *self._call(event.tool_call_id, event.name, event.arguments)]
            case ToolReturned():
                return [*self._end_text(), *self._result(event)]
            case ChartChunk():
                shown = ActivitySnapshotEvent(
                    message_id=f"{self._id}-chart", activity_type=CHART, content=event.content
                )
                return [*self._end_text(), shown]
            case Memory() | Progress() | ConfirmationDecided():
                value = event.model_dump(mode="json", exclude={"event"})
                return [CustomEvent(name=f"kai.{event.event}", value=value)]
            case Confirmation():
                self._interrupts.append(self._interrupt(event))
                return []
            case Reset():
                return self._reset(event)
            case Failure():  # the run may still have an answer
                self._failure = event
                return []
            case Done():
                return [*self._end_text(), *self._end_step(), self._end(event)]
            case _:
                return [CustomEvent(name=f"kai.{event.type}", value=event.model_dump(mode="json")["content"])]

    @property
    def _id(self) -> str:
        """Id of the answer's message."""
        return self._unique(self._run.message_id)

    def _unique(self, kai_id: str) -> str:
        return f"{kai_id}-r{self._resets}" if self._resets else kai_id

    # Steps

    def _begin_step(self, status: Status) -> list[BaseEvent]:
        failed: list[BaseEvent] = []
        if status.error is not None and self._open_call is not None:
            failed = [self._returned(self._open_call, messages.no_rows(self._id, status.error).text)]
        ended = [*self._end_text(), *failed, *self._end_step()]
        self._step = status.step
        return [*ended, StepStartedEvent(step_name=status.step)]

    def _end_step(self) -> list[BaseEvent]:
        if self._step is None:
            return []
        ended = StepFinishedEvent(step_name=self._step)
        self._step = None
        return [ended]

    # Texts

    def _text(self, event: TextChunk | AnalysisChunk | ClarificationChunk) -> list[BaseEvent]:
        if not isinstance(event, TextChunk):
            return self._whole_text(event.content)
        if event.channel == "sql" or not event.content:
            return []
        if event.channel == "investigation":
            return self._say(event.content, f"{self._id}-step-{self._notes + 1}")
        self._analysis += event.content
        return self._say(event.content, self._answer_id)

    def _whole_text(self, whole: str) -> list[BaseEvent]:
        """The whole text of an answer closes what its pieces began. If they differ, it is a message of its
        own.
        """
        said = self._analysis
        self._analysis = whole
        is_open = self._text_id == self._answer_id
        if said == whole or not whole:
            return self._end_text()
        if whole.startswith(said) and (is_open or not said):
            return [*self._say(whole[len(said) :], self._answer_id), *self._end_text()]
        ended = self._end_text()
        return [*ended, *self._say(whole, self._answer_id), *self._end_text()]

    @property
    def _answer_id(self) -> str:
        """Id of the text of the answer, or of another in its place."""
        return self._id if self._answers == 0 else f"{self._id}-{self._answers + 1}"

    def _say(self, text: str, text_id: str) -> list[BaseEvent]:
        started: list[BaseEvent] = []
        if self._text_id != text_id:
            started = [*self._end_text(), TextMessageStartEvent(message_id=text_id, role="assistant")]
            self._text_id = text_id
        return [*started, TextMessageContentEvent(message_id=text_id, delta=text)]

    def _end_text(self) -> list[BaseEvent]:
        if self._text_id is None:
            return []
        ended = TextMessageEndEvent(message_id=self._text_id)
        if self._text_id == self._answer_id:
            self._answers += 1
        else:
            self._notes += 1
        self._text_id = None
        return [ended]

    # Calls

    def _statement(self, event: SqlChunk | ResultsChunk) -> list[BaseEvent]:
        """A statement of the answer is a call of a tool. A corrected one is another call."""
        if isinstance(event, SqlChunk):
            self._statements += 1
            again = f"-{self._statements}" if self._statements > 1 else ""
            self._open_call = messages.call_id(self._run.message_id) + again
            call = self._call(self._open_call, messages.SQL_TOOL, {"sql": event.content})
            return [*self._end_text(), *call]
        if self._open_call is None:
            return []
        rows = messages.rows(self._id, event.content)
        return [*self._end_text(), self._returned(self._open_call, rows.text)]

    def _call(self, call_id: str, name: str, arguments: dict[str, JsonValue]) -> list[BaseEvent]:
        shown = self._unique(call_id)
        if shown in self._calls:
            return []
        self._calls.add(shown)
        parent = self._unique(messages.statement_id(self._run.message_id))
        return [
            ToolCallStartEvent(tool_call_id=shown, tool_call_name=name, parent_message_id=parent),
            ToolCallArgsEvent(tool_call_id=shown, delta=json.dumps(arguments)),
            ToolCallEndEvent(tool_call_id=shown),
        ]

    def _result(self, event: ToolReturned) -> list[BaseEvent]:
        if self._unique(event.tool_call_id) not in self._calls:  # the client does not show the call
            value = event.model_dump(mode="json", exclude={"event"})
            return [CustomEvent(name="kai.tool_result", value=value)]
        return [self._returned(event.tool_call_id, event.content)]

    def _returned(self, call_id: str, content: str) -> BaseEvent:
        """The result of a call. The statement's own is named like the message of its rows."""
        is_statement = call_id == self._open_call
        if is_statement:
            self._open_call = None
        is_first = is_statement and self._statements == 1
        result_id = messages.rows_id(self._run.message_id) if is_first else f"{call_id}-rows"
        return ToolCallResultEvent(
            message_id=self._unique(result_id),
            tool_call_id=self._unique(call_id),
            content=content,
            role="tool",
        )

    # Ends

    def _reset(self, reset: Reset) -> list[BaseEvent]:
        ended = [*self._end_text(), *self._end_step()]
        if self._calls or self._answers or self._notes:
            self._resets += 1
        self._answers = 0
        self._notes = 0
        self._analysis = ""
        self._statements = 0
        self._open_call = None
        self._interrupts = []
        self._failure = None
        return [*ended, CustomEvent(name="kai.reset", value={"reason": reset.reason})]

    def _interrupt(self, asked: Confirmation) -> Interrupt:
        """An approval that is asked for, with LangChain's form of it in its metadata."""
        request: dict[str, JsonValue] = {
            "name": asked.tool_name,
            "args": asked.arguments,
            "description": asked.description,
        }
        review: dict[str, JsonValue] = {
            "action_name": asked.tool_name,
            "allowed_decisions": ["approve", "edit", "reject"],
        }
        return Interrupt(
            id=asked.confirmation_id,
            reason="tool_call",
            message=asked.description,
            tool_call_id=self._unique(asked.confirmation_id),
            response_schema=APPROVAL,
            expires_at=asked.model_dump(mode="json")["expires_at"],
            metadata={
                "action_requests": [request],
                "review_configs": [review],
                "destination": asked.destination,
                "warnings": asked.warnings,
                "call_hash": asked.call_hash,
            },
        )

    def _end(self, done: Done) -> BaseEvent:
        usage = [TokenUsage(total_tokens=done.tokens_used, cached_input_tokens=done.cached_tokens)]
        if done.status == "failed":
            failure = self._failure
            return RunErrorEvent(
                message=failure.detail if failure else "The run failed. KAI's log tells more.",
                code=failure.type if failure else problem_type("internal"),
                usage=usage,
            )
        outcome: RunFinishedSuccessOutcome | RunFinishedCancelledOutcome | RunFinishedInterruptOutcome = (
            RunFinishedSuccessOutcome(type="success")
        )
        if done.status == "cancelled":
            outcome = RunFinishedCancelledOutcome(type="cancelled")
        elif done.status == "awaiting_approval":
            outcome = RunFinishedInterruptOutcome(type="interrupt", interrupts=self._interrupts)
        ids = {"session_id": done.session_id, "run_id": done.run_id, "message_id": done.message_id}
        return RunFinishedEvent(
            thread_id=self._thread_id, run_id=self._run_id, result=ids, outcome=outcome, usage=usage
        )


def _frame(event: BaseEvent) -> Frame:
    return Frame.of(None, event.model_dump(mode="json", by_alias=True))
