"""Fold older exchanges into the rolling summary when too many have gathered."""

import logging

from langgraph.runtime import Runtime

from graph.errors import SummaryFailed
from graph.events import Status
from graph.ports import Ports
from graph.state import Message, SessionState

KEPT_IN_FULL = 3
MAX_EXCHANGES = 5
MAX_TOKENS = 2_000
WINDOW = 20
"""While summarizing keeps failing the originals stay, up to this many: state is bounded."""

_CHARACTERS_PER_TOKEN = 4

logger = logging.getLogger(__name__)


async def summarize(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    exchanges = state["messages"]
    if not _too_much(exchanges):
        return {"status": "idle"}
    runtime.stream_writer(
        Status(step="summarizing", message="Summarizing the conversation so far", run_id=state["run_id"])
    )
    try:
        folded = await runtime.context.summarizer.summarize(state.get("summary"), exchanges[:-KEPT_IN_FULL])
    except SummaryFailed as failure:
        logger.warning("session %s: not summarized: %s", state["session_id"], failure.detail)
        return {"status": "idle", "messages": exchanges[-WINDOW:]}
    return {
        "status": "idle",
        "summary": folded.text,
        "messages": exchanges[-KEPT_IN_FULL:],
        "tokens_used": state["tokens_used"] + folded.tokens_used,
    }


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
