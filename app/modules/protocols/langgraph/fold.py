"""Events of a run, as frames of the LangGraph server API.

Pure: the same events give the same frames with the same ids, in every process. A client that comes back gets
all of them folded again, and skips what it has.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from pydantic import JsonValue

from app.core.errors import problem_type
from app.modules.protocols.frame_stream import Frame
from app.modules.protocols.langgraph.chat import (
    LangChainMessage,
    delta_message,
    langchain_message,
    removal_message,
    tool_answer,
    tool_call,
)
from app.modules.protocols.langgraph.interrupts import interrupts_of, request_of
from app.modules.protocols.messages import (
    NOTHING_FOUND,
    ClientMessage,
    answer,
    no_rows,
    rows,
    rows_id,
    statement,
    structured_answer,
)
from app.modules.records.model import Outcome
from graph.answer import head_of
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Confirmation,
    ConfirmationDecided,
    ContextChunk,
    Done,
    Failure,
    FindingKind,
    Memory,
    Progress,
    Reset,
    ResultsChunk,
    RunError,
    SessionEvent,
    SqlChunk,
    Status,
    Step,
    TextChunk,
    ToolCalled,
    ToolReturned,
)
from graph.state import Rows

Mode = Literal["values", "updates", "messages-tuple", "messages", "custom", "tasks", "checkpoints", "debug"]
MODES: tuple[Mode, ...] = get_args(Mode)
WHOLE: Sequence[Mode] = ("values", "checkpoints", "debug")
"""Modes whose frames hold the messages of earlier turns."""
_SHOW_INTERRUPTS: frozenset[Mode] = frozenset({"values", "updates", "tasks"})
RunStatus = Literal["pending", "running", "success", "error", "interrupted"]

STATUS_OF_RUN: Mapping[Outcome, RunStatus] = {
    "complete": "success",
    "failed": "error",
    "cancelled": "interrupted",
    "awaiting_approval": "interrupted",
}

NODE_OF_STEP: Mapping[Step, str] = {
    "waiting": "__start__",
    "loading_context": "load_context",
    "generating_sql": "write_sql",
    "executing_sql": "run_sql",
    "repairing_sql": "write_sql",
    "analyzing": "analyse",
    "summarizing": "summarize",
    "investigating": "investigate",
    "using_tool": "use_tool",
    "waiting_for_approval": "approve",
    "saving": "finish",
}
"""The node of the graph that a step belongs to, so that tasks, updates and the drawn graph have one name."""

_NO_DETAIL = RunError(
    type=problem_type("internal"),
    title="Something went wrong",
    status=500,
    detail="The run failed.",
    retryable=True,
)


@dataclass(frozen=True, kw_only=True)
class ThreadRun:
    """A run's place in its thread. `before` are the messages of earlier turns, `begun` those that earlier
    runs of this turn have left: a turn with approvals takes several runs.
    """

    run_id: str
    thread_id: str
    message_id: str
    question: LangChainMessage
    before: Sequence[LangChainMessage] = ()
    begun: Sequence[LangChainMessage] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    """Names of the tools that `begun` calls, by the id of the call."""


class RunFold:
    """Folds the events of one run, in order.

    An event has the same frames in every mode, so that the id of a frame means the same to every client.
    Those of modes that were not asked for are None.

    `values` are the whole thread: with the question, after each step that has written messages, and at the
    end. A client that also asked for `messages-tuple` adds the messages of the steps to the first values
    itself, so it gets those of steps only where adding is not enough: after a message was written again.
    """

    def __init__(self, turn: ThreadRun, modes: Collection[Mode]) -> None:
        self._turn = turn
        self._modes = frozenset(modes)
        self._structured: dict[str, JsonValue] | None = None
        self._place(turn.before)
        self._step = 0
        self._task: str | None = None
        self._at: str | None = None
        self._failure: RunError | None = None
        self._requests: dict[str, dict[str, JsonValue]] = {}
        self._names = {**turn.tools}
        self._described: set[str] = set()
        self._found: list[Frame | None] = []
        self._has_written = False
        """The step has written messages that no values had a place for."""
        self._is_each_step_sent = "messages-tuple" not in modes
        self.status: RunStatus | None = None
        """The outcome. None until the run has ended."""
        self._clear()

    def _clear(self) -> None:
        self._messages = {str(message["id"]): message for message in self._turn.begun}
        self._streamed = ""
        self._sql: str | None = None
        self._results: dict[str, JsonValue] | None = None
        self._found_rows: Rows | None = None
        self._text: str | None = None
        self._found_parts: dict[str, JsonValue] = {}

    @property
    def failure(self) -> RunError | None:
        """The error of a failed run. None for every other."""
        return (self._failure or _NO_DETAIL) if self.status == "error" else None

    @property
    def interrupts(self) -> list[dict[str, JsonValue]]:
        """What the user is asked."""
        return interrupts_of(self._requests)

    @property
    def waiting_calls(self) -> list[str]:
        """Ids of the calls that wait, once the run has ended."""
        return [*self._requests] if self.status == "interrupted" else []

    @property
    def shows_interrupts(self) -> bool:
        """The frames of the asked modes show what the user is asked."""
        return not self._modes.isdisjoint(_SHOW_INTERRUPTS)

    def place_after(self, before: Sequence[LangChainMessage]) -> None:
        """Take the messages of earlier turns again: a run that has waited comes after answers that were not
        there when its stream began.
        """
        self._place(before)
        self._is_each_step_sent = True

    def _place(self, before: Sequence[LangChainMessage]) -> None:
        """A question that was asked before, as parent graphs do, is shown once."""
        question = self._turn.question
        self._before = _items(before)
        self._asked = [] if any(each["id"] == question["id"] for each in before) else [question]

    def values(self) -> str:
        """Returns the values of the thread as JSON."""
        own = _items([*self._asked, *self._messages.values()])
        messages = ",".join(filter(None, [self._before, own]))
        rest: dict[str, JsonValue] = {
            "sql": self._sql,
            "results": self._results,
            "analysis": self._text,
            **NOTHING_FOUND,
            **self._found_parts,
            "structured_response": self._structured,
        }
        if self._requests:
            rest["__interrupt__"] = [*self.interrupts]
        return f'{{"messages":[{messages}],{_json(rest)[1:]}'

    def begin(self) -> list[Frame | None]:
        """Returns the frames before the first event."""
        self._found = [Frame.of("metadata", {"run_id": self._turn.run_id, "attempt": 1})]
        self._add_checkpoint("input")
        self._add_values()
        return self._found

    def frames(self, event: SessionEvent) -> list[Frame | None]:
        """Returns the frames of the next event."""
        self._found = []
        if not isinstance(event, Done):
            self._add("custom", "custom", lambda: event.model_dump(mode="json"))
        match event:
            case Status(step="waiting") | ContextChunk() | Progress() | Memory():
                pass  # custom only: of a run that waits, no node runs yet
            case Status():
                self._end_step()
                self._begin_task(event)
            case TextChunk():
                if event.channel == "analysis":
                    self._add_piece(event.content)
            case SqlChunk(tool_call_id=str()) | ResultsChunk(tool_call_id=str()):
                pass  # the messages of the call hold it
            case SqlChunk():
                self._sql = event.content
                self._results = None
                self._found_rows = None
                self._messages.pop(rows_id(self._turn.message_id), None)
                self._add_message("write_sql", statement(self._turn.message_id, self._sql), sql=self._sql)
            case ResultsChunk():
                self._add_rows(event.content)
            case AnalysisChunk():
                self._add_text("analyse", event.content)
            case ClarificationChunk():
                self._add_text("reply", event.content)
            case ToolCalled():
                self._names[event.tool_call_id] = event.name
                self._add_message("tools", tool_call(event.tool_call_id, event.name, event.arguments))
            case ToolReturned():
                name = self._names.get(event.tool_call_id, "")
                answered = tool_answer(event.tool_call_id, name, event.content, is_error=event.is_error)
                self._add_message("tools", answered)
            case Confirmation():
                self._ask(event)
            case ConfirmationDecided():
                if self._requests.pop(event.confirmation_id, None) is not None:
                    self._add_values()
            case Reset():
                self._reset()
            case Failure():
                self._failure = event  # the run may still have an answer, and clients stop at `error`
            case Done():
                self._end(event)
            case _:
                self._add_finding(event)
        return self._found

    def _begin_task(self, status: Status) -> None:
        self._at = status.at.isoformat()
        self._end_task()
        self._step += 1
        self._task = NODE_OF_STEP[status.step]
        self._add_task("task", {"input": None, "triggers": []})

    def _end_task(self) -> None:
        if self._task is not None:
            self._add_task("task_result", {"result": {}, "error": None, "interrupts": [*self.interrupts]})
        self._task = None

    def _add_task(self, kind: str, parts: Mapping[str, JsonValue]) -> None:
        task: dict[str, JsonValue] = {"id": f"{self._turn.run_id}:{self._step}", "name": self._task, **parts}
        self._add("tasks", "tasks", lambda: task)
        self._add("debug", "debug", lambda: self._debug(kind, task))

    def _add_checkpoint(self, source: Literal["input", "loop"]) -> None:
        """The checkpoint's own id is not known here: it follows in the thread's state."""

        def checkpoint() -> dict[str, JsonValue]:
            return _checkpoint(self._turn.thread_id, self.values(), {"source": source, "step": self._step})

        self._add("checkpoints", "checkpoints", checkpoint)
        self._add("debug", "debug", lambda: self._debug("checkpoint", checkpoint()))

    def _debug(self, kind: str, payload: dict[str, JsonValue]) -> JsonValue:
        return {"type": kind, "timestamp": self._at, "step": self._step, "payload": payload}

    def _add_piece(self, piece: str) -> None:
        """A piece of the answer's text, as it is written."""
        self._streamed += piece
        self._add_tuple("analyse", delta_message(self._turn.message_id, piece))
        self._describe("analyse", self._turn.message_id)
        self._add(
            "messages",
            "messages/partial",
            lambda: [langchain_message(answer(self._turn.message_id, self._streamed))],
        )

    def _add_rows(self, found: Rows) -> None:
        self._results = results_value(found)
        self._found_rows = found
        self._add_message("run_sql", rows(self._turn.message_id, found), results=self._results)

    def _add_text(self, node: str, text: str) -> None:
        """The whole text, after those of its pieces that were streamed."""
        message_id = self._turn.message_id
        if not text.startswith(self._streamed):  # it was written again
            self._add_tuple(node, removal_message(message_id))
            self._streamed = ""
            self._is_each_step_sent = True
        if rest := text[len(self._streamed) :]:
            self._add_tuple(node, delta_message(message_id, rest))
        self._streamed = text
        self._text = text
        message = langchain_message(answer(message_id, text))
        self._messages[message_id] = message
        self._describe(node, message_id)
        self._add("messages", "messages/complete", lambda: [message])
        self._add("updates", "updates", lambda: {node: {"messages": [message], "analysis": text}})
        self._has_written = True
        self._end_step()

    def _add_finding(self, event: FindingKind) -> None:
        content = event.model_dump(mode="json")["content"]
        self._found_parts[event.type] = content
        self._add("updates", "updates", lambda: {"analyse": {event.type: content}})

    def _add_message(self, node: str, message: ClientMessage, **also: JsonValue) -> None:
        written = langchain_message(message)
        if message.id in self._described:  # clients append what comes again to what they have
            self._is_each_step_sent = True
        self._messages[message.id] = written
        self._add_tuple(node, written)
        self._describe(node, message.id)
        self._add("messages", "messages/complete", lambda: [written])
        self._add("updates", "updates", lambda: {node: {"messages": [written], **also}})
        self._has_written = True

    def _ask(self, asked: Confirmation) -> None:
        """A call waits for the user. The run ends behind it, and its last values have the interrupt."""
        self._end_step()
        self._requests[asked.confirmation_id] = request_of(asked)

    def _add_tuple(self, node: str, message: LangChainMessage) -> None:
        self._add("messages-tuple", "messages", lambda: [message, self._metadata(node)])

    def _describe(self, node: str, message_id: str) -> None:
        """Every message is described once in mode `messages`."""
        if message_id not in self._described:
            self._described.add(message_id)
            described = {message_id: {"metadata": self._metadata(node)}}
            self._add("messages", "messages/metadata", lambda: {**described})

    def _metadata(self, node: str) -> JsonValue:
        return {
            "langgraph_node": node,
            "langgraph_step": self._step,
            "run_id": self._turn.run_id,
            "thread_id": self._turn.thread_id,
        }

    def _reset(self) -> None:
        self._is_each_step_sent = True
        gone = dict.fromkeys(self._messages)
        if self._streamed:
            gone[self._turn.message_id] = None
        self._clear()
        for message_id in gone:
            if message_id not in self._messages:
                self._add_tuple("reset", removal_message(message_id))
        self._add_values()

    def _end(self, done: Done) -> None:
        self.status = STATUS_OF_RUN[done.status]
        if self._sql is not None and self._results is None and done.status != "awaiting_approval":
            detail = self._failure.detail if self._failure else ""
            self._add_message("run_sql", no_rows(self._turn.message_id, detail))
        if self._text is not None:
            whole = answer(self._turn.message_id, self._text, self._found_parts)
            self._messages[self._turn.message_id] = langchain_message(whole)
        if self._text is not None and done.status == "complete":
            self._structured = structured_answer(
                self._turn.message_id,
                self._turn.thread_id,
                text=self._text,
                sql=self._sql,
                found=self._found_rows,
            )
        if done.status == "awaiting_approval":  # all calls have asked by now
            self._add("updates", "updates", lambda: {"__interrupt__": [*self.interrupts]})
        self._end_task()
        self._add_checkpoint("loop")
        self._add_values()
        if failure := self.failure:
            self._found.append(Frame.of("error", {"error": failure.type, "message": failure.detail}))
        self._found.append(Frame.of("end", {"run_id": self._turn.run_id, "status": self.status}))

    def _add(self, mode: Mode, event: str, payload: Callable[[], JsonValue]) -> None:
        """`payload` is called only if the mode was asked for."""
        self._found.append(Frame.of(event, payload()) if mode in self._modes else None)

    def _end_step(self) -> None:
        """Add the values after a step that has written messages."""
        if self._has_written and self._is_each_step_sent:
            self._add_values()
        elif self._has_written:
            self._found.append(None)
        self._has_written = False

    def _add_values(self) -> None:
        self._has_written = False
        self._found.append(Frame("values", self.values()) if "values" in self._modes else None)


def results_value(found: Rows) -> dict[str, JsonValue]:
    """Returns the result of an answer as `values` has it, with its first rows."""
    return {
        "columns": [{"name": column["name"], "type": column["type"]} for column in found["columns"]],
        "rows": [*head_of(found["rows"])],
        "row_count": found["row_count"],
        "truncated": found["truncated"],
    }


def _checkpoint(thread_id: str, values: str, metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "config": {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}},
        "parent_config": None,
        "values": json.loads(values),
        "metadata": metadata,
        "next": [],
        "tasks": [],
    }


def _items(messages: Sequence[LangChainMessage]) -> str:
    """Returns the messages as items of a JSON list."""
    return _json([*messages])[1:-1]


def _json(value: JsonValue) -> str:
    return json.dumps(value, separators=(",", ":"))
