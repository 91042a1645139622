"""States of a thread, from its messages and checkpoints. Pure functions.

Values come from the messages, ids from the checkpoints. A finished turn is one state. Questions after
the last finished turn make a head state of their own, so that a failed or cancelled question is seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pydantic import JsonValue

from app.core.clock import rfc3339
from app.modules.agent.records import CallRecord
from app.modules.protocols.langgraph.chat import (
    LangChainMessage,
    investigation_messages,
    langchain_message,
    latest_turns,
)
from app.modules.protocols.langgraph.fold import results_value
from app.modules.protocols.langgraph.interrupts import interrupts_of
from app.modules.protocols.messages import chat_messages
from app.modules.session.model import Message, Session
from graph import Checkpoint

State = dict[str, JsonValue]
Steps = Sequence[Sequence[CallRecord]]
"""The calls of an investigation, by its steps."""

APPROVE = "approve"
"""The node that waits for people."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is stored of a thread: its messages, oldest first, the steps of investigations by the id of their
    answer, and the calls that wait.
    """

    session: Session
    messages: Sequence[Message]
    steps: Mapping[str, Steps] = field(default_factory=dict)
    waiting: Sequence[CallRecord] = ()

    @property
    def message_ids(self) -> set[str]:
        """Ids of all messages as clients see them."""
        return {str(message["id"]) for turn in self.turns(self.messages) for message in turn}

    def turns(self, messages: Sequence[Message]) -> list[list[LangChainMessage]]:
        """Returns the messages of each turn as clients see them."""
        turns: list[list[LangChainMessage]] = []
        for message in messages:
            if message.role == "human" or not turns:
                turns.append([])
            turns[-1] += self._written(message)
        return turns

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
            "chart": None,
            "suggestions": [],
        }
        last = messages[-1] if messages else None
        if last is None or last.role == "human" or last.status == "awaiting_approval":
            return values
        return {**values, **_answer_values(last)}


def _answer_values(answer: Message) -> dict[str, JsonValue]:
    results = None
    if answer.row_count is not None:
        results = results_value(
            answer.columns, answer.rows_head, row_count=answer.row_count, truncated=answer.truncated
        )
    return {
        "sql": answer.sql,
        "results": results,
        "analysis": answer.analysis or answer.clarification,
        "chart": answer.chart,
        "suggestions": [*answer.suggestions],
    }


def finished(checkpoints: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Returns the checkpoints at which a turn has ended."""
    return [each for each in checkpoints if not each.next_steps and each.message_id is not None]


def states_of(record: Record, checkpoints: Sequence[Checkpoint]) -> list[State]:
    """Returns the states of a thread, newest first. `checkpoints` are its latest, newest first; the parent of
    the last state is not known if there are older ones.
    """
    ends = finished(checkpoints)
    places = {message.id: place for place, message in enumerate(record.messages)}
    states: list[State] = []
    covered = -1
    if ends:
        covered = places.get(ends[0].message_id or "", -1)
    if covered < len(record.messages) - 1:
        states.append(head_state(record, checkpoints, ends[0].id if ends else None))
    for end, parent in pairwise([*ends, None]):
        if end is None:
            break
        place = places.get(end.message_id or "")
        if place is not None:  # the messages of older turns are not read any more
            states.append(
                _state(
                    record,
                    end.id,
                    parent.id if parent else None,
                    values=record.values(record.messages[: place + 1]),
                    created_at=end.created_at,
                    step=end.step,
                )
            )
    return states


def head_state(record: Record, checkpoints: Sequence[Checkpoint] = (), parent_id: str | None = None) -> State:
    """Returns the state of all messages, under the id of the newest checkpoint."""
    newest = checkpoints[0] if checkpoints else None
    session = record.session
    interrupts: list[JsonValue] = [*interrupts_of(record.waiting)]
    next_steps: list[str] = []
    if interrupts:
        next_steps = [APPROVE]
    elif session.active_run_id is not None:
        next_steps = [*(newest.next_steps if newest else ())] or ["load_context"]
    return _state(
        record,
        newest.id if newest else None,
        parent_id,
        values=record.values(record.messages),
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
    thread_id = record.session.id
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


def _checkpoint(thread_id: str, checkpoint_id: str | None) -> JsonValue:
    return {
        "thread_id": thread_id,
        "checkpoint_ns": "",
        "checkpoint_id": checkpoint_id,
        "checkpoint_map": {},
    }
