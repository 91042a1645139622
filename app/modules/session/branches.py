"""Branches of a session: a question may follow an earlier answer in place of the latest one. Pure functions.

The messages of a session are a record in the order of its turns. What a question follows is a path through
it. A turn is its question and, once there is one, its answer.
"""

from collections.abc import Sequence

from app.modules.records.model import START, Message

_Turns = Sequence[Sequence[Message]]


def path_to_last(messages: Sequence[Message]) -> list[Message]:
    """Returns the messages that a question after these follows, oldest first."""
    return path_before(messages, None)


def path_before(earlier: Sequence[Message], parent_message_id: str | None) -> list[Message]:
    """Returns the turns that a question follows, oldest first. `earlier` are the messages before it.

    If `earlier` does not go back to the parent, the path begins where it ends there.
    """
    turns = _turns_of(earlier)
    path: list[Sequence[Message]] = []
    place = _place_of_parent(turns, len(turns), parent_message_id)
    while place is not None:
        path.append(turns[place])
        place = _place_of_parent(turns, place, turns[place][0].parent_message_id)
    return [message for turn in reversed(path) for message in turn]


def _turns_of(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "human" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _place_of_parent(turns: _Turns, place: int, parent_message_id: str | None) -> int | None:
    """Returns the place of the turn that the question of the turn at `place` follows."""
    if parent_message_id == START:
        return None
    for earlier in reversed(range(place)):
        if parent_message_id is None and not _has_left_nothing(turns[earlier]):
            return earlier
        if any(message.id == parent_message_id for message in turns[earlier]):
            return earlier
    return None


def _has_left_nothing(turn: Sequence[Message]) -> bool:
    """True for a turn that ended before its first step: no checkpoint continues its branch."""
    asked, last = turn[0], turn[-1]
    has_ended = last.role == "assistant" and last.status in ("cancelled", "failed")
    return asked.parent_message_id is not None and has_ended and not last.timeline
