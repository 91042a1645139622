"""One turn of a session: its steps, state and events. Knows nothing of servers."""

from langgraph.runtime import RunControl

from graph.events import SessionEvent
from graph.ports import Ports
from graph.session import Checkpoint, CompletedTurn, SessionGraph, Turn

__all__ = ["Checkpoint", "CompletedTurn", "Ports", "RunControl", "SessionEvent", "SessionGraph", "Turn"]
