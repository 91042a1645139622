"""The prompt of a step: the instructions, the question, and what the steps so far have said and returned."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from app.core.llm.model import PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.step_messages import MadeStep, fit_steps, newest_results, shortest_tokens, unmarked
from app.modules.prompts.budget import QUESTION_LEAST, cut, granted, has_room_for, prompt_tokens
from app.modules.prompts.facts import facts_section, fit_facts
from app.modules.prompts.sections import fenced, sections
from app.modules.records.model import Mode
from app.modules.records.steps import CallRecord, StepRecord
from graph.ports import Question
from graph.state import NO_CONTEXT, Context, PastExchange, RememberedFact

_PROMPTS = Path(__file__).parent / "prompts"
_INVESTIGATE = (_PROMPTS / "investigate.md").read_text(encoding="utf-8").strip()
_ACT = (_PROMPTS / "act.md").read_text(encoding="utf-8").strip()
_CONCLUDE = (_PROMPTS / "conclude.md").read_text(encoding="utf-8").strip()
_LATEST_EXCHANGES = 3
_ANSWER_CHARACTERS = 600
_NO_EARLIER = "(cut: there is no room for earlier messages)"

_WORDS = {
    "rules": "the rules",
    "question": "the question",
    "plan": "the plan",
    "schema": "the schema",
    "knowledge": "what was looked up for the question",
    "page": "what the page shows",
}
"""Sections in the lines that say that they were cut."""

_EARLIER = (
    "Steps of an investigation without an answer, which this one may go on with (their results have no "
    "names: run a statement again to name its result)"
)

CallsOf = Callable[[StepRecord], Sequence[CallRecord]]


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What an investigation's prompt is made of, in the order of its text."""

    instructions: str
    context: Context
    facts: Sequence[RememberedFact]
    profile: str
    exchanges: Sequence[PastExchange]
    summary: str
    earlier: str
    plan: str
    steps_left_out: str
    question: str
    steps: Sequence[PromptMessage]

    def messages(self) -> list[PromptMessage]:
        context = self.context
        asked = [
            ("Earlier in this conversation", self.summary),
            (_EARLIER, self.earlier),
            ("Plan", self.plan),
            ("Earlier steps", self.steps_left_out),
            ("Question", self.question),
        ]
        return [
            PromptMessage("system", _joined(self.instructions, context["schema"], context["rules"])),
            *_conversation(self.exchanges),
            PromptMessage(
                "user",
                _joined(
                    context["details"],
                    context["page"],
                    facts_section(self.facts),
                    self.profile,
                    sections(asked),
                ),
            ),
            *self.steps,
        ]


def investigation_messages(
    question: Question,
    steps: Sequence[StepRecord],
    calls_of: CallsOf,
    *,
    today: date,
    limits: InvestigationLimits,
    mode: Mode = "ask",
    room: int | None = None,
) -> list[PromptMessage]:
    """Returns the prompt of the next step. `steps` begin with step 0.

    `room` are the tokens that it may fill; None if that is not known. A prompt that does not fit is cut: of
    each section, the end. Rights to the room have, in this order, the rules, the question with its plan, the
    newest step and the beginnings of the older ones, the schema and knowledge, what the page shows, what is
    remembered, and the conversation. What they leave shows older results whole. The instructions are never
    cut.
    """
    opening = steps[0]
    mark = mark_of(opening.message_id)
    rules = (
        _INVESTIGATE.replace("{today}", today.isoformat())
        .replace("{steps}", str(limits.max_steps))
        .replace("{calls}", str(limits.max_calls))
        .replace("{mark}", mark)
    )
    made = [MadeStep(step, calls_of(step)) for step in steps[1:]]
    whole = newest_results(made)
    parts = _Parts(
        instructions=_joined(rules, _ACT if mode == "agent" else ""),
        context=opening.context or NO_CONTEXT,
        facts=question.facts,
        profile=question.profile,
        exchanges=question.exchanges[-_LATEST_EXCHANGES:],
        summary=question.summary or "",
        earlier=f"[{mark}]\n{unmarked(opening.earlier, mark)}\n[/{mark}]" if opening.earlier else "",
        plan=opening.text,
        steps_left_out="",
        question=question.text,
        steps=[message for step in made for message in step.messages(whole, mark)],
    )
    messages = parts.messages()
    if room is None or has_room_for(messages, room):
        return messages
    return _fitted(parts, made, room, mark=mark).messages()


def _fitted(parts: _Parts, made: Sequence[MadeStep], room: int, *, mark: str) -> _Parts:
    """Returns the parts, cut to the room."""
    context = parts.context
    before = {"rules": context["rules"], "question": fenced(parts.question), "plan": fenced(parts.plan)}
    after = {"schema": context["schema"], "knowledge": context["details"], "page": context["page"]}
    texts = {**before, **after}
    bare = replace(
        parts,
        context=NO_CONTEXT,
        facts=(),
        profile="",
        exchanges=(),
        summary="-",
        earlier="",
        plan="-",
        question="-",
        steps_left_out="-",
        steps=(),
    )
    fixed = prompt_tokens(bare.messages())
    conversation = replace(bare, exchanges=parts.exchanges, summary=parts.summary)
    grants = granted(
        {
            **{name: approximate_tokens(text) for name, text in before.items()},
            "steps": shortest_tokens(made, mark),
            "earlier": approximate_tokens(fenced(parts.earlier)),
            **{name: approximate_tokens(text) for name, text in after.items()},
            "facts": approximate_tokens(facts_section(parts.facts)),
            "profile": approximate_tokens(parts.profile),
            "conversation": max(prompt_tokens(conversation.messages()) - fixed, 0),
        },
        max(room - fixed, QUESTION_LEAST),
    )
    short = {name: cut(text, grants[name], _WORDS[name]) for name, text in texts.items()}
    shown = fit_steps(made, grants["steps"], mark)
    fitted = replace(
        parts,
        context=Context(
            schema=short["schema"],
            details=short["knowledge"],
            page=short["page"],
            precedents=[],
            rules=short["rules"],
            rules_left_out=[],
            used=None,
        ),
        facts=fit_facts(parts.facts, grants["facts"]),
        profile=cut(parts.profile, grants["profile"], "what is known of the user"),
        question=short["question"],
        earlier=cut(fenced(parts.earlier), grants["earlier"], "these steps"),
        plan=short["plan"],
        exchanges=(),
        summary="",
        steps_left_out=shown.left_out,
        steps=shown.messages,
    )
    fitted = _with_conversation(fitted, parts, room)
    spare = room - prompt_tokens(fitted.messages())
    return replace(fitted, steps=shown.grown(spare, newest_results(made)))


def _with_conversation(fitted: _Parts, parts: _Parts, room: int) -> _Parts:
    """Returns the parts with as many of the latest exchanges as fit, and with the summary before them."""
    summary = fenced(parts.summary)
    count = len(parts.exchanges)
    for kept in range(count, -1, -1):
        said = summary if kept == count else _joined(summary, _NO_EARLIER)
        tried = replace(fitted, exchanges=parts.exchanges[count - kept :], summary=said)
        if prompt_tokens(tried.messages()) <= room:
            return tried
    spare = room - prompt_tokens(replace(fitted, summary="-").messages())
    said = _joined(_NO_EARLIER if count else "", summary)
    return replace(fitted, summary=cut(said, spare, "this conversation"))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def conclusion_request(limit: str) -> PromptMessage:
    """Returns the request for an answer when a limit is reached."""
    return PromptMessage("user", _CONCLUDE.replace("{limit}", limit))


def mark_of(message_id: str) -> str:
    """Returns the mark around what tools return in this turn. Stored text cannot know it."""
    return f"data {hashlib.sha256(f'mark of {message_id}'.encode()).hexdigest()[:12]}"


def _conversation(exchanges: Sequence[PastExchange]) -> Iterator[PromptMessage]:
    for each in exchanges:
        if each["analysis"]:
            yield PromptMessage("user", fenced(each["query"]))
            yield PromptMessage("assistant", fenced(each["analysis"][:_ANSWER_CHARACTERS]))
