"""Cuts what a prompt for SQL holds to the room that the model's window leaves."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.core.llm.model import PromptMessage
from app.core.llm.tokens import approximate_tokens
from app.modules.prompts.budget import QUESTION_LEAST, cut, granted, prompt_tokens
from app.modules.prompts.facts import facts_section, fit_facts
from app.modules.prompts.sections import fenced
from graph.ports import Question
from graph.state import NO_CONTEXT, Context, Precedent

_NO_EARLIER = "(cut: there is no room for all of this conversation)"
_FEWER_EXAMPLES = "(cut: there is no room for all verified examples)"
_MESSAGES_TOKENS = 20
"""Of the two messages that an example takes, beside its texts."""

WriteMessages = Callable[[Question], Sequence[PromptMessage]]


def fit_question(question: Question, room: int, messages: WriteMessages) -> Question:
    """Returns the question with its context and conversation cut. `messages` makes the prompt of a question.

    With instructions that leave no room, a question keeps 200 tokens.
    """
    context = question.context
    fixed = prompt_tokens(messages(Question(text="-", summary="-")))
    texts = {
        "the rules": context["rules"],
        "question": fenced(question.text),
        "the schema": context["schema"],
        "what was looked up for the question": context["details"],
    }
    page = {"what the page shows": context["page"]}
    talk = replace(question, text="-", context=NO_CONTEXT, facts=(), profile="")
    grants = granted(
        {
            **{what: approximate_tokens(text) for what, text in texts.items()},
            "examples": sum(map(_tokens, context["precedents"])),
            **{what: approximate_tokens(text) for what, text in page.items()},
            "facts": approximate_tokens(facts_section(question.facts)),
            "profile": approximate_tokens(question.profile),
            "conversation": max(prompt_tokens(messages(talk)) - fixed, 0),
        },
        max(room - fixed, QUESTION_LEAST),
    )
    short = {what: cut(text, grants[what], what) for what, text in {**texts, **page}.items()}
    precedents, line = _examples(context["precedents"], grants["examples"])
    fitted = replace(
        question,
        text=short["question"],
        facts=fit_facts(question.facts, grants["facts"]),
        profile=cut(question.profile, grants["profile"], "what is known of the user"),
        context=Context(
            schema=short["the schema"],
            details="\n\n".join(filter(None, [short["what was looked up for the question"], line])),
            page=short["what the page shows"],
            precedents=precedents,
            rules=short["the rules"],
            rules_left_out=[],
            used=None,
        ),
    )
    return _with_conversation(fitted, room, messages)


def _with_conversation(fitted: Question, room: int, messages: WriteMessages) -> Question:
    """Returns the question with the latest exchanges that fit, after the rows at hand, then the summary."""
    if prompt_tokens(messages(fitted)) <= room:
        return fitted
    summary = "\n".join(filter(None, [fitted.summary, _NO_EARLIER]))
    for kept in range(len(fitted.exchanges), -1, -1):
        exchanges = fitted.exchanges[len(fitted.exchanges) - kept :]
        tried = replace(fitted, exchanges=exchanges, summary=summary, previous_rows=None)
        if prompt_tokens(messages(tried)) <= room:
            return tried
    bare = replace(fitted, exchanges=(), summary="-", previous_rows=None)
    if prompt_tokens(messages(bare)) > room:
        bare = replace(bare, previous_sql=None)
    spare = room - prompt_tokens(messages(bare))
    return replace(bare, summary=cut(fenced(summary), spare, "this conversation"))


def _examples(precedents: Sequence[Precedent], tokens: int) -> tuple[list[Precedent], str]:
    """Returns the first examples that fit, and a line if there are more."""
    if sum(map(_tokens, precedents)) <= tokens:
        return list(precedents), ""
    line_tokens = approximate_tokens(_FEWER_EXAMPLES)
    left = tokens - line_tokens
    kept: list[Precedent] = []
    for each in precedents:
        left -= _tokens(each)
        if left < 0:
            break
        kept.append(each)
    return kept, _FEWER_EXAMPLES if tokens >= line_tokens else ""


def _tokens(precedent: Precedent) -> int:
    return approximate_tokens(precedent["question"]) + approximate_tokens(precedent["sql"]) + _MESSAGES_TOKENS
