"""Step `summarize`: replace older exchanges by the rolling summary when there are too many. Else `finish`.

An exchange leaves the context only when the summary covers it. A failed summary is retried once, at the next
turn. If the retry fails too, a digest made without a model replaces the older exchanges.
"""

import asyncio
import logging

from langgraph.runtime import Runtime

from graph.errors import SummaryFailed
from graph.events import Status
from graph.ports import Ports, Summarized
from graph.state import PastExchange, SessionState

KEPT_IN_FULL = 3
MAX_EXCHANGES = 5
MAX_TOKENS = 2_000
TURNS_PER_CALL = 3
"""The summarizer is called at most once in this many turns on average. The retry after a failed call comes at
the next turn, and lengthens the pause that follows."""
SECONDS = 300
"""Time for a summary. The step may take 600 seconds, and would end the turn, which has its answer."""

_CHARACTERS_PER_TOKEN = 4

logger = logging.getLogger(__name__)


def is_summary_due(state: SessionState) -> bool:
    return state.get("summary_failed", False) or (_pause(state) == 0 and _has_too_many(state["messages"]))


async def finish(state: SessionState) -> SessionState:
    """The end of a turn whose exchanges need no summary yet. It takes no time."""
    return {"status": "idle", "summary_pause": _pause(state), "unfinished": None}


async def summarize(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    exchanges = state["messages"]
    failed_before = state.get("summary_failed", False)
    pause = _pause(state)
    _emit_status(state, runtime, "Summarizing the conversation so far")
    older = exchanges[:-KEPT_IN_FULL]
    latest = exchanges[-KEPT_IN_FULL:]
    update = SessionState(status="idle", summary_pause=pause + TURNS_PER_CALL, unfinished=None)
    try:
        with runtime.context.observer.observe_step("summarizing"):
            folded = await _folded(state.get("summary"), older, runtime.context)
    except SummaryFailed as failure:
        if not failed_before:
            logger.warning(
                "session %s: the summary failed; it is retried at the next turn: %s",
                *(state["session_id"], failure.detail),
            )
            return {**update, "summary_failed": True}
        logger.warning(
            "session %s: the summary failed twice; %d exchanges are kept as a digest: %s",
            *(state["session_id"], len(older), failure.detail),
        )
        _emit_status(state, runtime, "The summary failed twice; older exchanges are kept in short lines")
        folded = Summarized(runtime.context.summarizer.digest(state.get("summary"), older))
    return {
        **update,
        "summary_failed": False,
        "summary": folded.text,
        "messages": latest,
        "tokens_used": state["tokens_used"] + folded.tokens_used,
    }


async def _folded(summary: str | None, older: list[PastExchange], ports: Ports) -> Summarized:
    try:
        async with asyncio.timeout(SECONDS):
            return await ports.summarizer.summarize(summary, older)
    except TimeoutError as error:
        raise SummaryFailed(f"It was not written within {SECONDS} s.") from error


def _emit_status(state: SessionState, runtime: Runtime[Ports], message: str) -> None:
    runtime.stream_writer(Status(step="summarizing", message=message, run_id=state["run_id"]))


def _pause(state: SessionState) -> int:
    """Returns the turns until the next summary, this one counted."""
    return max(state.get("summary_pause", 0) - 1, 0)


def _has_too_many(exchanges: list[PastExchange]) -> bool:
    if len(exchanges) <= KEPT_IN_FULL:
        return False
    return len(exchanges) > MAX_EXCHANGES or _tokens(exchanges) > MAX_TOKENS


def _tokens(exchanges: list[PastExchange]) -> int:
    texts = (
        text or ""
        for exchange in exchanges
        for text in (exchange["query"], exchange["sql"], exchange["results_summary"], exchange["analysis"])
    )
    return sum(map(len, texts)) // _CHARACTERS_PER_TOKEN
