"""Routes of the LangGraph server API."""

from app.modules.protocols.langgraph.assistant_router import router as assistants
from app.modules.protocols.langgraph.dependencies import PREFIX
from app.modules.protocols.langgraph.event_router import router as events
from app.modules.protocols.langgraph.refused_router import router as refused
from app.modules.protocols.langgraph.run_router import router as runs
from app.modules.protocols.langgraph.store_router import router as store
from app.modules.protocols.langgraph.thread_router import router as threads

OPEN_PATHS = frozenset({f"{PREFIX}/ok", f"{PREFIX}/info"})
"""They name a version, and no database."""

routers = (refused, assistants, runs, threads, events, store)
"""In this order: a refused path would look like a run or a thread of that name."""
