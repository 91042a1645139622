"""The prompt of a step: the instructions, the question, and what the steps so far have said and returned."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

from app.core.llm.model import PromptMessage, ToolCall
from app.core.llm.tokens import approximate_tokens
from app.modules.agent.limits import InvestigationLimits
from app.modules.agent.records import CallRecord, StepRecord
from app.modules.prompt_sections import fenced, sections
from app.modules.tools.results import result_name
from graph.ports import Question
from graph.state import NO_CONTEXT, Context

_PROMPTS = Path(__file__).parent / "prompts"
_INVESTIGATE = (_PROMPTS / "investigate.md").read_text(encoding="utf-8").strip()
_CONCLUDE = (_PROMPTS / "conclude.md").read_text(encoding="utf-8").strip()
_MAX_TOKENS = 12_000
"""Tokens of the results in a prompt. Older ones are cut when it is exceeded."""
_OLD_CHARACTERS = 300
_LATEST_EXCHANGES = 3
_ANSWER_CHARACTERS = 600

CallsOf = Callable[[StepRecord], Sequence[CallRecord]]


def investigation_messages(
    question: Question,
    steps: Sequence[StepRecord],
    calls_of: CallsOf,
    *,
    today: date,
    limits: InvestigationLimits,
) -> list[PromptMessage]:
    """Returns the prompt of the next step. `steps` begin with step 0."""
    opening = steps[0]
    mark = mark_of(opening.message_id)
    rules = (
        _INVESTIGATE.replace("{today}", today.isoformat())
        .replace("{steps}", str(limits.max_steps))
        .replace("{calls}", str(limits.max_calls))
        .replace("{mark}", mark)
    )
    context = opening.context or NO_CONTEXT
    whole = _whole_results(steps, calls_of)
    return [
        PromptMessage("system", "\n\n".join(filter(None, [rules, context["schema"]]))),
        *_conversation(question),
        PromptMessage("user", _request(question, context, opening.text)),
        *(message for step in steps[1:] for message in _said(step, calls_of(step), whole, mark=mark)),
    ]


def conclusion_request(limit: str) -> PromptMessage:
    """Returns the request for an answer when a limit is reached."""
    return PromptMessage("user", _CONCLUDE.replace("{limit}", limit))


def mark_of(message_id: str) -> str:
    """Returns the mark around what tools return in this turn. Stored text cannot know it."""
    return f"data {hashlib.sha256(f'mark of {message_id}'.encode()).hexdigest()[:12]}"


def _conversation(question: Question) -> Iterator[PromptMessage]:
    for each in question.exchanges[-_LATEST_EXCHANGES:]:
        if each["analysis"]:
            yield PromptMessage("user", fenced(each["query"]))
            yield PromptMessage("assistant", fenced(each["analysis"][:_ANSWER_CHARACTERS]))


def _request(question: Question, context: Context, plan: str) -> str:
    parts = [
        ("Earlier in this conversation", question.summary or ""),
        ("Plan", plan),
        ("Question", question.text),
    ]
    return "\n\n".join(filter(None, [context["details"], sections(parts)]))


def _whole_results(steps: Sequence[StepRecord], calls_of: CallsOf) -> set[str]:
    """Returns the ids of the calls whose results are shown whole: the newest that fit."""
    whole: set[str] = set()
    spent = 0
    for step in reversed(steps):
        for call in calls_of(step):
            spent += approximate_tokens(call.text)
            if spent <= _MAX_TOKENS:
                whole.add(call.id)
    return whole


def _said(
    step: StepRecord, calls: Sequence[CallRecord], whole: set[str], *, mark: str
) -> Iterator[PromptMessage]:
    if calls:
        made = [
            ToolCall(_wire_id(call), call.tool, json.dumps(call.arguments, ensure_ascii=False))
            for call in calls
        ]
        yield PromptMessage("assistant", step.text, calls=made)
        for call in calls:
            yield PromptMessage("tool", _returned(call, call.id in whole, mark), call_id=_wire_id(call))
    else:
        yield PromptMessage("assistant", step.text or "(nothing)")
    if step.fault:
        yield PromptMessage("user", step.fault)


def _wire_id(call: CallRecord) -> str:
    return f"call_{call.step}_{call.position + 1}"


def _returned(call: CallRecord, is_whole: bool, mark: str) -> str:
    text = call.text.replace(mark, "")
    if not is_whole and len(text) > _OLD_CHARACTERS:
        name = result_name(call.step, call.position)
        again = f" read_rows shows rows of {name} again." if call.result else ""
        text = f"{text[:_OLD_CHARACTERS]}\n(cut: this result is older.{again})"
    return f"[{mark}]\n{text}\n[/{mark}]"
