"""The question that a step passes to the ports, and the exchange that it remembers."""

from dataclasses import replace

from graph.answer import interpretation_of, repair_of
from graph.ports import Ports, Question
from graph.state import Author, PastExchange, SessionState, UnfinishedInvestigation


def question_of(state: SessionState) -> Question:
    """Returns the turn's question with the conversation so far."""
    asked = state["current_query"] or ""
    repair = repair_of(state)
    return Question(
        # A repair gets little of the conversation, so it gets the standalone form of the question.
        text=asked if repair is None else standalone_question(state),
        context=state["context"],
        summary=state.get("summary"),
        exchanges=state.get("messages", []),
        previous_sql=state.get("current_sql"),
        previous_plan=state.get("current_plan", ""),
        previous_rows=state.get("current_results"),
        repair=repair,
        options=state.get("options", []),
        antecedent=_antecedent(state),
        alone=state["turns"] == 1,
        unfinished=_unfinished(state),
    )


async def question_with_memory(state: SessionState, ports: Ports) -> Question:
    """Returns the turn's question with the facts that were found for it, and with the section about the user.

    A repair gets the facts alone: they say what the words of the question mean.
    """
    question = question_of(state)
    if ports.facts is not None and (ids := state.get("remembered")):
        question = replace(question, facts=await ports.facts.read_facts(ids))
    if ports.profile is not None and question.repair is None:
        question = replace(question, profile=await ports.profile.read())
    return question


def standalone_question(state: SessionState) -> str:
    """Returns the turn's question in words that stand alone."""
    return interpretation_of(state).standalone_question or state["current_query"] or ""


def _antecedent(state: SessionState) -> Author | None:
    """Returns the author of the previous statement; None if the previous turn ended without an answer."""
    answered = state.get("answered_turn") == state["turns"] - 1
    return state.get("current_author") if answered else None


def _unfinished(state: SessionState) -> UnfinishedInvestigation | None:
    """Returns the investigation of an earlier turn that has no answer."""
    found = state.get("unfinished")
    return found if found is not None and found["message_id"] != state["message_id"] else None


def with_exchange(
    state: SessionState, *, sql: str | None, results_summary: str | None, analysis: str
) -> list[PastExchange]:
    """Returns the remembered exchanges, with this turn's exchange at the end."""
    exchange = PastExchange(
        id=state["message_id"],
        role="assistant",
        query=state["current_query"] or "",
        sql=sql,
        results_summary=results_summary,
        analysis=analysis,
        timestamp=state["updated_at"],
    )
    return [*state.get("messages", []), exchange]
