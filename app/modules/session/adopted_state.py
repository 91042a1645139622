"""The state of a thread that continues from stored messages, without the checkpoints of their session."""

from collections.abc import Sequence

from app.core.clock import rfc3339
from app.modules.records.model import Message
from app.modules.run.summary import digest
from graph.state import Author, PastExchange, Rows, SessionState

_IN_FULL = 3
"""The latest exchanges that the model reads in full. Earlier ones are in the summary, a line each."""


def state_after(messages: Sequence[Message]) -> SessionState:
    """Returns the state after these messages, which are in the order of the conversation."""
    answers = [each for each in messages if each.role == "assistant" and each.status == "complete"]
    exchanges = [*map(_exchange, answers)]
    state = SessionState(
        messages=exchanges[-_IN_FULL:],
        summary=digest(None, exchanges[:-_IN_FULL]) or None,
        turns=sum(each.role == "human" for each in messages),
    )
    given = {each.run_id for each in messages if each.given_sql is not None}
    if fetched := [each for each in answers if each.row_count is not None]:
        author: Author = "user" if fetched[-1].run_id in given else "model"
        state.update(_found(fetched[-1], author))
    if messages and messages[-1].status == "complete" and messages[-1].clarification is None:
        state["answered_turn"] = state["turns"]
    return state


def _exchange(answer: Message) -> PastExchange:
    return PastExchange(
        id=answer.id,
        role="assistant",
        query=answer.query,
        sql=answer.sql,
        results_summary=answer.results_summary,
        analysis=answer.analysis or answer.clarification,
        timestamp=rfc3339(answer.created_at),
    )


def _found(answer: Message, author: Author) -> SessionState:
    rows = Rows(
        columns=answer.columns,
        rows=answer.rows_head,
        row_count=answer.row_count or 0,
        truncated=answer.truncated,
        cut_by=answer.cut_by,
    )
    return SessionState(
        current_query=answer.query,
        current_sql=answer.sql,
        current_author=author,
        current_results=rows,
        results_message_id=answer.id,
        current_analysis=None,
    )
