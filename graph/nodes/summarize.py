"""Fold older exchanges into the rolling summary when too many have gathered.

An exchange leaves the context only when the summary covers it. A summary that fails is asked for once more,
at the next turn; if that fails too, the oldest exchanges are folded without a model.
"""

import logging

from langgraph.runtime import Runtime

from graph.errors import SummaryFailed
from graph.events import Status
from graph.ports import Ports, Summarized
from graph.state import Message, SessionState

KEPT_IN_FULL = 3
MAX_EXCHANGES = 5
MAX_TOKENS = 2_000
TURNS_PER_CALL = 3
"""A call is paid for by so many turns, so there is at most one call to every third turn. After a failed call
the next turn's is made in advance, and the turns after it wait longer."""

_CHARACTERS_PER_TOKEN = 4

logger = logging.getLogger(__name__)


async def summarize(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    exchanges, failed_before = state["messages"], state.get("summary_failed", False)
    pause = max(state.get("summary_pause", 0) - 1, 0)
    if not failed_before and (pause > 0 or not _too_much(exchanges)):
        return {"status": "idle", "summary_pause": pause}
    _say(state, runtime, "Summarizing the conversation so far")
    older, latest = exchanges[:-KEPT_IN_FULL], exchanges[-KEPT_IN_FULL:]
    update = SessionState(status="idle", summary_pause=pause + TURNS_PER_CALL)
    try:
        folded = await runtime.context.summarizer.summarize(state.get("summary"), older)
    except SummaryFailed as failure:
        if not failed_before:
            logger.warning(
                "session %s: the summary failed and is tried again at the next turn: %s",
                *(state["session_id"], failure.detail),
            )
            return {**update, "summary_failed": True}
        logger.warning(
            "session %s: the summary failed twice; %d exchanges are kept as a digest: %s",
            *(state["session_id"], len(older), failure.detail),
        )
        _say(state, runtime, "The summary failed twice; older exchanges are kept in short lines")
        folded = Summarized(runtime.context.summarizer.digest(state.get("summary"), older))
    return {
        **update,
        "summary_failed": False,
        "summary": folded.text,
        "messages": latest,
        "tokens_used": state["tokens_used"] + folded.tokens_used,
    }


def _say(state: SessionState, runtime: Runtime[Ports], message: str) -> None:
    runtime.stream_writer(Status(step="summarizing", message=message, run_id=state["run_id"]))


def _too_much(exchanges: list[Message]) -> bool:
    if len(exchanges) <= KEPT_IN_FULL:
        return False
    return len(exchanges) > MAX_EXCHANGES or _tokens(exchanges) > MAX_TOKENS


def _tokens(exchanges: list[Message]) -> int:
    texts = (
        text or ""
        for exchange in exchanges
        for text in (exchange["query"], exchange["sql"], exchange["results_summary"], exchange["analysis"])
    )
    return sum(map(len, texts)) // _CHARACTERS_PER_TOKEN
