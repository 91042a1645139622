"""Step `investigate`: let the model choose what to look at next, or conclude."""

from typing import cast

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from graph.errors import InvestigationOff
from graph.events import Status
from graph.nodes.question import question_with_memory
from graph.ports import Investigator, Ports
from graph.state import NO_CONTEXT, CallOutcome, InvestigationState, SessionState

MAX_STEPS = 50
"""The most steps that an investigation may be allowed. The last one comes after them: it concludes."""

MAX_CALLS = 200
"""The most calls that an investigation may be allowed."""

_MOST_CHARACTERS = 1_000
"""Of a question and a plan, for a later turn that goes on with them."""

NO_OUTCOMES = cast("dict[str, CallOutcome]", Overwrite({}))
"""Resets `SessionState.done`, whose updates are merged otherwise."""


def investigator_of(ports: Ports) -> Investigator:
    """Returns the port. Raises `InvestigationOff` if a turn of another process goes on here, where
    investigations are off.
    """
    if ports.investigator is None:
        raise InvestigationOff(
            "This answer is an investigation, and KAI was started again without them (KAI_AGENT__ENABLED). "
            "Ask again."
        )
    return ports.investigator


def investigation_of(state: SessionState) -> InvestigationState:
    """Returns the turn's investigation, which begins when the SQL model's reply asks for one."""
    return state["investigation"] or InvestigationState(
        step=0, calls=[], call_count=0, limit_reached=False, is_concluded=False
    )


async def investigate(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """The context that was found for the question is stored with the first step, and leaves the state, which
    every later step would write again.
    """
    emit = runtime.stream_writer
    before = investigation_of(state)
    step = before["step"] + 1
    investigator = investigator_of(runtime.context)
    emit(Status(step="investigating", message=f"Investigating, step {step}", run_id=state["run_id"]))
    with runtime.context.observer.observe_step("investigating"):
        question = await question_with_memory(state, runtime.context)
        chosen = await investigator.next_step(question, state["reply"], step, emit=emit)
    update = SessionState(
        investigation={
            "step": step,
            "calls": list(chosen.calls),
            "call_count": before["call_count"] + len(chosen.calls),
            "limit_reached": chosen.limit_reached,
            "is_concluded": chosen.is_last,
        },
        unfinished={
            "message_id": state["message_id"],
            "question": question.text[:_MOST_CHARACTERS],
            "plan": state["reply"][:_MOST_CHARACTERS],
            "step": step,
        },
        done=NO_OUTCOMES,
        context=NO_CONTEXT,
        tokens_used=state["tokens_used"] + chosen.tokens_used,
    )
    if chosen.question_back is None:
        return update
    return {**update, "route": "clarify", "reply": chosen.text, "options": chosen.question_back.options}
