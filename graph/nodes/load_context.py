"""Step `load_context`: find the parts of the schema, knowledge and facts that matter to the question."""

import asyncio
from collections.abc import Sequence

from langgraph.runtime import Runtime

from graph.chunks import facts_used
from graph.events import Memory, Status
from graph.nodes.question import question_of
from graph.ports import Ports, Question
from graph.state import RememberedFact, SessionState


async def load_context(state: SessionState, runtime: Runtime[Ports]) -> SessionState:
    """What is remembered is found beside the schema, and never delays it for longer than its own limit."""
    ports = runtime.context
    question = question_of(state)
    with ports.observer.observe_step("loading_context"):
        context, facts, news, _ = await asyncio.gather(
            ports.recall.recall(question),
            _facts_for(question, ports),
            _news(ports),
            _read_profile(ports),
        )
    if left_out := context["rules_left_out"]:
        message = f"There is no room for the rules {', '.join(left_out)}"
        runtime.stream_writer(Status(step="loading_context", message=message, run_id=state["run_id"]))
    for each in news:
        runtime.stream_writer(each)
    if facts:
        runtime.stream_writer(facts_used(facts))
    return {"context": context, "remembered": [fact["id"] for fact in facts]}


async def _read_profile(ports: Ports) -> None:
    """Reads the section about the user beside the schema. Later steps get it from the port."""
    if ports.profile is not None:
        await ports.profile.read()


async def _news(ports: Ports) -> Sequence[Memory]:
    return () if ports.news is None else await ports.news.read_news()


async def _facts_for(question: Question, ports: Ports) -> Sequence[RememberedFact]:
    return () if ports.facts is None else await ports.facts.facts_for(question)
