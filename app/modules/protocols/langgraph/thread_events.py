"""Events of a run, as LangGraph's event streaming (v3) has them.

Pure: the same events give the same frames with the same numbers, in every process.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import JsonValue

from app.modules.protocols.frame_stream import Frame, Position
from app.modules.protocols.langgraph.assistants import GRAPH_ID
from app.modules.protocols.langgraph.fold import Mode, RunFold, ThreadRun, results_value
from app.modules.protocols.messages import SQL_TOOL, call_id
from app.modules.records.model import Outcome
from graph.events import (
    AnalysisChunk,
    ClarificationChunk,
    Done,
    Reset,
    ResultsChunk,
    SessionEvent,
    SqlChunk,
    Status,
    TextChunk,
    ToolCalled,
    ToolReturned,
)

Channel = Literal[
    "lifecycle", "values", "updates", "messages", "tools", "input", "custom", "tasks", "checkpoints"
]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
CUSTOM = "custom:"
"""Begins the name of a channel with the custom events of one name."""

_RUN_BITS = 33
_INDEX_BITS = 6
_LIFECYCLE: Mapping[Outcome, str] = {
    "complete": "completed",
    "cancelled": "completed",
    "failed": "failed",
    "awaiting_approval": "interrupted",
}
_MODES: Sequence[Mode] = ("values", "updates", "tasks")

Data = dict[str, JsonValue]


@dataclass(frozen=True, order=True)
class Place:
    """The place of a frame among all frames of its thread. Runs are counted from 0."""

    run: int
    position: Position

    @property
    def seq(self) -> int:
        """A number that grows with the place."""
        first_is_one = self.position.index + 1
        return (self.run << _RUN_BITS) + (self.position.event_id << _INDEX_BITS) + first_is_one


def place_of(seq: int) -> Place:
    """Returns the place of a frame with this number."""
    run, rest = divmod(seq, 1 << _RUN_BITS)
    event_id, index = divmod(rest, 1 << _INDEX_BITS)
    return Place(run, Position(event_id, index - 1))


def event_frame(run_id: str, place: Place, frame: Frame) -> Frame:
    """Returns a frame of `ThreadFold` as it is sent."""
    head = json.dumps(
        {
            "type": "event",
            "event_id": f"{run_id}:{place.position}",
            "seq": place.seq,
            "method": frame.event,
        },
        separators=(",", ":"),
    )
    return Frame(frame.event, f'{head[:-1]},"params":{frame.data}}}')


class ThreadFold:
    """Folds the events of one run, in order. `asked_at` is when it was asked (epoch ms).

    An event has the same frames in every channel, so that the number of a frame means the same to every
    client. Those of channels that were not asked for are None.
    """

    def __init__(self, turn: ThreadRun, channels: Collection[str], *, asked_at: int) -> None:
        self._message_id = turn.message_id
        self._fold = RunFold(turn, [mode for mode in _MODES if mode in channels])
        self._channels = frozenset(channels)
        self._at = asked_at
        self._text: str | None = None
        """The text of the message that is open."""
        self._open_calls: dict[str, None] = {}
        self._found: list[Frame | None] = []

    @property
    def run_fold(self) -> RunFold:
        """The fold that makes the values."""
        return self._fold

    def begin(self) -> list[Frame | None]:
        """Returns the frames before the first event."""
        self._found = []
        self._add("lifecycle", {"event": "running", "graph_name": GRAPH_ID})
        self._add_folded(self._fold.begin())
        return self._found

    def frames(self, event: SessionEvent) -> list[Frame | None]:
        """Returns the frames of the next event."""
        self._found = []
        if isinstance(event, Status):
            self._at = int(event.at.timestamp() * 1_000)
        if not isinstance(event, Done):
            self._add_custom(event)
        match event:
            case TextChunk(channel="analysis"):
                self._add_text(event.content)
            case AnalysisChunk() | ClarificationChunk():
                self._add_rest(event.content)
            case SqlChunk(tool_call_id=None):
                self._begin_call(call_id(self._message_id), SQL_TOOL, {"sql": event.content})
            case ResultsChunk(tool_call_id=None):
                output = results_value(event.content)
                self._end_call(call_id(self._message_id), {"event": "tool-finished", "output": output})
            case ToolCalled():
                self._begin_call(event.tool_call_id, event.name, event.arguments)
            case ToolReturned(is_error=True):
                self._end_call(event.tool_call_id, {"event": "tool-error", "message": event.content})
            case ToolReturned():
                self._end_call(event.tool_call_id, {"event": "tool-finished", "output": event.content})
            case Reset():
                self._end_message()
                self._end_sql("The answer was begun again.")
            case Done():
                self._end_message()
            case _:
                pass
        folded = self._fold.frames(event)
        # A reset removes messages one by one, and there may be more of them than an event has numbers.
        self._add_folded(folded[-1:] if isinstance(event, Reset) else folded)
        if isinstance(event, Done):
            self._end(event)
        return self._found

    def _add_folded(self, frames: Sequence[Frame | None]) -> None:
        """Add the frames of the older streams that have a channel here."""
        for frame in frames:
            if frame is None:
                self._found.append(None)
            elif frame.event == "updates":
                [(node, values)] = json.loads(frame.data).items()
                if node != "__interrupt__":
                    self._add("updates", {"node": node, "values": values})
                else:
                    self._found.append(None)
            elif frame.event == "values" or frame.event == "tasks":
                self._found.append(Frame(frame.event, self._params(frame.data)))
            else:
                self._found.append(None)

    def _add_custom(self, event: SessionEvent) -> None:
        name = f"kai.{event.event}"
        if "custom" in self._channels or f"{CUSTOM}{name}" in self._channels:
            data = json.dumps({"name": name, "payload": event.model_dump(mode="json")}, separators=(",", ":"))
            self._found.append(Frame("custom", self._params(data)))
        else:
            self._found.append(None)

    def _add_text(self, piece: str) -> None:
        if self._text is None:
            self._text = ""
            self._add("messages", {"event": "message-start", "role": "ai", "id": self._message_id})
            self._add("messages", _block("content-block-start", "content", {"type": "text", "text": ""}))
        if piece:
            self._text += piece
            self._add(
                "messages", _block("content-block-delta", "delta", {"type": "text-delta", "text": piece})
            )

    def _add_rest(self, whole: str) -> None:
        """The whole text, after those of its pieces that were streamed."""
        if self._text is not None and not whole.startswith(self._text):  # it was written again
            self._end_message()
        self._add_text(whole[len(self._text or "") :])
        self._end_message()

    def _end_message(self) -> None:
        if self._text is not None:
            text: JsonValue = {"type": "text", "text": self._text}
            self._add("messages", _block("content-block-finish", "content", text))
            self._add("messages", {"event": "message-finish"})
            self._text = None

    def _begin_call(self, call: str, name: str, arguments: Mapping[str, JsonValue]) -> None:
        self._end_call(call, {"event": "tool-error", "message": "Another statement took its place."})
        self._open_calls[call] = None
        started: Data = {"event": "tool-started", "tool_call_id": call, "tool_name": name}
        self._add("tools", {**started, "input": dict(arguments)})

    def _end_call(self, call: str, end: Data) -> None:
        if call in self._open_calls:
            del self._open_calls[call]
            self._add("tools", {"tool_call_id": call, **end})

    def _end_sql(self, message: str) -> None:
        self._end_call(call_id(self._message_id), {"event": "tool-error", "message": message})

    def _end(self, done: Done) -> None:
        failure = self._fold.failure
        detail = failure.detail if failure else "The run has ended without rows."
        if done.status != "awaiting_approval":
            self._end_sql(detail)
        else:
            for interrupt in self._fold.interrupts:
                data: Data = {"interrupt_id": interrupt["id"], "value": interrupt["value"]}
                self._add("input", data, method="input.requested")
        ended: Data = {"event": _LIFECYCLE[done.status], "graph_name": GRAPH_ID}
        if failure:
            ended["error"] = detail
        self._add("lifecycle", ended)

    def _add(self, channel: Channel, data: Data, *, method: str | None = None) -> None:
        if channel in self._channels:
            written = json.dumps(data, separators=(",", ":"))
            self._found.append(Frame(method or channel, self._params(written)))
        else:
            self._found.append(None)

    def _params(self, data: str) -> str:
        return f'{{"namespace":[],"timestamp":{self._at},"data":{data}}}'


def _block(event: str, key: str, content: JsonValue) -> Data:
    return {"event": event, "index": 0, key: content}
