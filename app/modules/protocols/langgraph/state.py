"""States of a thread, from its messages and checkpoints. Pure functions.

Values come from the messages, ids from the checkpoints. A finished turn is one state. Questions after
the last finished turn make a head state of their own, so that a failed or cancelled question is seen.

The messages of a state are those of its branch. Its parent is the state of the finished turn that it follows;
of the first turns it is the beginning, a state without messages that no list has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from app.core.clock import rfc3339
from app.modules.protocols.langgraph.chat import (
    LangChainMessage,
    investigation_messages,
    langchain_message,
    latest_turns,
)
from app.modules.protocols.langgraph.fold import results_value
from app.modules.protocols.langgraph.interrupts import interrupts_of, requests_of
from app.modules.protocols.messages import (
    NOTHING_FOUND,
    chat_messages,
    findings_of,
    rows_of,
    structured_answer,
)
from app.modules.records.model import Message, Session
from app.modules.records.steps import CallRecord
from app.modules.session.branches import path_to_last
from graph import BEGINNING, Checkpoint

State = dict[str, JsonValue]
Steps = Sequence[Sequence[CallRecord]]
"""The calls of an investigation, by its steps."""

APPROVE = "approve"
"""The node that waits for people."""

VALUES = ("messages", "sql", "results", "analysis", *NOTHING_FOUND, "structured_response")
"""Names of the values of a thread."""
OF_VALUES = "values."
"""Begins the name of a single one of the values, where fields of a state are selected."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is stored of a thread: its messages, oldest first, the steps of investigations by the id of their
    answer, and the calls that wait.
    """

    session: Session
    messages: Sequence[Message]
    steps: Mapping[str, Steps] = field(default_factory=dict)
    waiting: Sequence[CallRecord] = ()
    is_whole: bool = True
    """The messages go back to the first."""

    @property
    def branch(self) -> list[Message]:
        """The messages of the latest branch."""
        return path_to_last(self.messages)

    @property
    def has_branches(self) -> bool:
        return any(message.parent_message_id is not None for message in self.messages)

    @property
    def message_ids(self) -> set[str]:
        """Ids of all messages as clients see them."""
        return {str(message["id"]) for turn in self.turns(self.messages) for message in turn}

    def turns(self, messages: Sequence[Message]) -> Iterator[list[LangChainMessage]]:
        """Yields the messages of each turn as clients see them, the latest turn first."""
        turn: list[LangChainMessage] = []
        for message in reversed(messages):
            turn = [*self._written(message), *turn]
            if message.role == "human":
                yield turn
                turn = []
        if turn:
            yield turn

    def _written(self, message: Message) -> list[LangChainMessage]:
        found = [each for calls in self.steps.get(message.id, ()) for each in investigation_messages(calls)]
        if message.status != "awaiting_approval":
            found += chat_messages(message)
        return [langchain_message(each) for each in found]

    def values(self, messages: Sequence[Message]) -> dict[str, JsonValue]:
        """Returns the values after these messages."""
        values: dict[str, JsonValue] = {
            "messages": [*latest_turns(self.turns(messages))],
            "sql": None,
            "results": None,
            "analysis": None,
            **NOTHING_FOUND,
            "structured_response": None,
        }
        last = messages[-1] if messages else None
        if last is None or last.role == "human" or last.status == "awaiting_approval":
            return values
        return {**values, **_answer_values(last, self.session.thread_id)}


def _answer_values(answer: Message, thread_id: str) -> dict[str, JsonValue]:
    head = rows_of(answer)
    text = answer.analysis or answer.clarification
    structured: JsonValue = None
    if answer.status == "complete" and text is not None:
        structured = structured_answer(answer.id, thread_id, text=text, sql=answer.sql, found=head)
    return {
        "sql": answer.sql,
        "results": None if head is None else results_value(head),
        "analysis": text,
        **findings_of(answer),
        "structured_response": structured,
    }


def finished(checkpoints: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Returns the checkpoints at which a turn has ended."""
    return [each for each in checkpoints if not each.next_steps and each.message_id is not None]


@dataclass(frozen=True)
class _TurnEnd:
    """A finished turn: its checkpoint, the messages of its branch up to it, and its parent's id."""

    checkpoint: Checkpoint
    messages: Sequence[Message]
    parent_id: str | None


def _turn_ends(record: Record, checkpoints: Sequence[Checkpoint]) -> list[_TurnEnd]:
    """Returns the finished turns of which there are messages, newest first."""
    ends = finished(checkpoints)
    places = {message.id: place for place, message in enumerate(record.messages)}
    found: list[_TurnEnd] = []
    for end in ends:
        place = places.get(end.message_id or "")
        if place is not None:  # the messages of older turns are not read any more
            messages = path_to_last(record.messages[: place + 1])
            earlier = [message for message in messages if message.id != end.message_id]
            found.append(_TurnEnd(end, messages, _parent_id(record, earlier, ends)))
    return found


def _parent_id(record: Record, earlier: Sequence[Message], ends: Sequence[Checkpoint]) -> str | None:
    """Returns the checkpoint of the latest finished turn in these messages. Returns None if it is not
    known, or is deleted.
    """
    ids = {end.message_id: end.id for end in ends}
    for message in reversed(earlier):
        if message.id in ids:
            return ids[message.id]
        if message.role == "assistant" and message.status == "complete":
            return None
    return BEGINNING if record.is_whole else None


def states_of(record: Record, checkpoints: Sequence[Checkpoint]) -> list[State]:
    """Returns the states of a thread, newest first. `checkpoints` are its latest, newest first; the parents
    of the last states are not known if there are older ones.
    """
    states = [
        _state(
            record,
            end.checkpoint.id,
            end.parent_id,
            values=record.values(end.messages),
            created_at=end.checkpoint.created_at,
            step=end.checkpoint.step,
        )
        for end in _turn_ends(record, checkpoints)
    ]
    ends = finished(checkpoints)
    branch = record.branch
    if branch and (not ends or ends[0].message_id != branch[-1].id):
        states.insert(0, head_state(record, checkpoints, _parent_id(record, branch, ends)))
    return states


def question_after(record: Record, checkpoints: Sequence[Checkpoint], checkpoint_id: str) -> Message | None:
    """Returns the newest answered question whose state has this one as its parent."""
    for end in _turn_ends(record, checkpoints):
        if end.parent_id == checkpoint_id:
            return next(message for message in reversed(end.messages) if message.role == "human")
    return None


def beginning_state(session: Session) -> State:
    """Returns the state before the first question."""
    return _state(
        Record(session=session, messages=()),
        BEGINNING,
        None,
        values=Record(session=session, messages=()).values(()),
        created_at=rfc3339(session.created_at),
        step=-1,
    )


def head_state(record: Record, checkpoints: Sequence[Checkpoint] = (), parent_id: str | None = None) -> State:
    """Returns the state of the latest branch, under the id of the newest checkpoint."""
    newest = checkpoints[0] if checkpoints else None
    session = record.session
    interrupts: list[JsonValue] = [*interrupts_of(requests_of(record.waiting))]
    next_steps: list[str] = []
    if interrupts:
        next_steps = [APPROVE]
    elif session.active_run_id is not None:
        next_steps = [*(newest.next_steps if newest else ())] or ["load_context"]
    return _state(
        record,
        newest.id if newest else None,
        parent_id,
        values=record.values(record.branch),
        created_at=newest.created_at if newest else rfc3339(session.created_at),
        step=newest.step if newest else -1,
        next_steps=next_steps,
        interrupts=interrupts,
    )


def _state(
    record: Record,
    checkpoint_id: str | None,
    parent_id: str | None,
    *,
    values: dict[str, JsonValue],
    created_at: str,
    step: int,
    next_steps: Sequence[str] = (),
    interrupts: Sequence[JsonValue] = (),
) -> State:
    thread_id = record.session.thread_id
    tasks: list[JsonValue] = [
        {
            "id": f"{checkpoint_id}:{name}",
            "name": name,
            "path": ["__pregel_pull", name],
            "error": None,
            "interrupts": [*interrupts],
            "checkpoint": None,
            "state": None,
            "result": None,
        }
        for name in next_steps
    ]
    return {
        "values": values,
        "next": [*next_steps],
        "tasks": tasks,
        "metadata": {"step": step, "source": "loop", "parents": {}, "thread_id": thread_id},
        "created_at": created_at,
        "checkpoint": _checkpoint(thread_id, checkpoint_id),
        "parent_checkpoint": _checkpoint(thread_id, parent_id) if parent_id else None,
        "interrupts": [*interrupts],
        "checkpoint_id": checkpoint_id,
        "parent_checkpoint_id": parent_id,
    }


def selected_of_state(state: State, fields: Sequence[str] | None) -> State:
    """Returns the selected fields of a state; all if none are selected."""
    if not fields:
        return state
    found: State = {name: value for name, value in state.items() if name in fields}
    names = [each.removeprefix(OF_VALUES) for each in fields if each.startswith(OF_VALUES)]
    values = state["values"]
    if names and "values" not in found and isinstance(values, dict):
        found["values"] = {name: values[name] for name in names}
    return found


def _checkpoint(thread_id: str, checkpoint_id: str | None) -> JsonValue:
    return {
        "thread_id": thread_id,
        "checkpoint_ns": "",
        "checkpoint_id": checkpoint_id,
        "checkpoint_map": {},
    }
