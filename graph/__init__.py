"""One turn of a session: its steps, state and events. Knows nothing of servers."""

from langgraph.runtime import RunControl

from graph.checkpoints import ReadCheckpoint
from graph.events import SessionEvent
from graph.ports import Ports
from graph.session import BEGINNING, Checkpoint, CompletedTurn, SessionGraph, Turn

__all__ = [
    "BEGINNING",
    "Checkpoint",
    "CompletedTurn",
    "Ports",
    "ReadCheckpoint",
    "RunControl",
    "SessionEvent",
    "SessionGraph",
    "Turn",
]
