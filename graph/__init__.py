"""One turn of a session: its steps, state and events. Knows nothing of servers."""

from langgraph.runtime import RunControl

from graph.events import SessionEvent
from graph.ports import Ports
from graph.session import BEGINNING, Checkpoint, CompletedTurn, SessionGraph, Turn
from typesense_checkpoint import CheckpointRecord

__all__ = [
    "BEGINNING",
    "Checkpoint",
    "CheckpointRecord",
    "CompletedTurn",
    "Ports",
    "RunControl",
    "SessionEvent",
    "SessionGraph",
    "Turn",
]
