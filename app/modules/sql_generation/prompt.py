"""The request for a statement, as messages to a model.

What hardly changes between questions comes first (the instructions, then the schema), so that a provider's
cache of prompts holds it. Verified examples and earlier questions follow as messages of a conversation, for a
model takes over what it seems to have written itself more reliably than an instruction.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import get_args

from app.core.llm.capabilities import InstructionForm, ReplyFormat
from app.core.llm.model import PromptMessage
from app.modules.prompts.budget import has_room_for
from app.modules.prompts.facts import facts_section
from app.modules.prompts.rows import rows_as_lines
from app.modules.prompts.sections import fenced, sections
from app.modules.sql.engine_data import DATABASE_NAMES
from app.modules.sql_generation.fitting import fit_question
from app.modules.sql_generation.past_conversations import asks_about_past
from graph.ports import Question
from graph.state import PastExchange, UnfinishedInvestigation

_PROMPTS = Path(__file__).parent / "prompts"
_INSTRUCTIONS: Mapping[InstructionForm, str] = {
    form: (_PROMPTS / f"write_sql_{form}.md").read_text(encoding="utf-8").strip()
    for form in get_args(InstructionForm)
}
_REPLY: Mapping[ReplyFormat, str] = {
    name: (_PROMPTS / f"reply_by_{name}.md").read_text(encoding="utf-8").strip()
    for name in get_args(ReplyFormat)
}
"""Instructions on the reply, by format."""
_INVESTIGATE = (_PROMPTS / "reply_by_text_investigate.md").read_text(encoding="utf-8").strip()
_PAST = (_PROMPTS / "reply_by_text_past.md").read_text(encoding="utf-8").strip()
_ACT = (_PROMPTS / "reply_by_text_act.md").read_text(encoding="utf-8").strip()
_LATEST = 3
"""Number of exchanges that are shown with their statements."""
_ANSWER_CHARACTERS = 400
_ROWS_TOKENS = 200
"""Number of fetched rows that are shown: enough to see what they hold."""


def write_sql_messages(
    question: Question,
    dialect: str,
    today: date,
    *,
    instruction: InstructionForm,
    reply_format: ReplyFormat = "text",
    may_investigate: bool = False,
    may_act: bool = False,
    room: int | None = None,
) -> list[PromptMessage]:
    """The instructions and the schema, the conversation, and the question with what was looked up for it.

    The short form has a reply in text; another format comes with the long one. `may_investigate` adds one
    more way to reply to the long form in text, `may_act` another, and nothing else changes. A question about
    earlier conversations adds the way to look into them.

    `room` are the tokens that the prompt may fill; None if that is not known. A prompt that does not fit is
    cut: of each section, the end. Rights to the room have, in this order, the rules, the question, the schema
    and knowledge, what the page shows, what is remembered, and the conversation. The instructions are never
    cut.
    """
    form = instruction if reply_format == "text" else "long"
    reply = _REPLY[reply_format]
    offers_steps = may_investigate and reply_format == "text"
    if not offers_steps:
        question = replace(question, unfinished=None)
    if offers_steps:
        past = [_PAST] if asks_about_past(question.text) else []
        reply = "\n".join([reply, _INVESTIGATE, *past, *([_ACT] if may_act else [])])
    rules = (
        _INSTRUCTIONS[form]
        .replace("{reply}", reply)
        .replace("{dialect}", DATABASE_NAMES[dialect])
        .replace("{today}", today.isoformat())
    )

    def messages(question: Question) -> list[PromptMessage]:
        latest = question.exchanges[-_LATEST:]
        return [
            PromptMessage(
                "system",
                "\n\n".join(filter(None, [rules, question.context["schema"], question.context["rules"]])),
            ),
            *_precedents(question),
            *_conversation(latest),
            PromptMessage("user", _request(question, latest, form)),
        ]

    whole = messages(question)
    if room is None or has_room_for(whole, room):
        return whole
    return messages(fit_question(question, room, messages))


def _precedents(question: Question) -> Iterator[PromptMessage]:
    for each in question.context["precedents"]:
        yield PromptMessage("user", fenced(each["question"]))
        yield PromptMessage("assistant", _block(each["sql"]))


def _conversation(exchanges: Sequence[PastExchange]) -> Iterator[PromptMessage]:
    """Questions with their statements; one that was answered in words with the words."""
    for each in exchanges:
        reply = _block(each["sql"]) if each["sql"] else _answer(each)
        if reply:
            yield PromptMessage("user", fenced(each["query"]))
            yield PromptMessage("assistant", reply)


def _request(question: Question, shown: Sequence[PastExchange], instruction: InstructionForm) -> str:
    """The question under its heading after what was looked up; alone in the short form without that."""
    details = "\n\n".join(
        filter(
            None,
            [
                question.context["details"],
                question.context["page"],
                facts_section(question.facts),
                question.profile,
                sections(_sections(question, shown, instruction)),
            ],
        )
    )
    is_bare = instruction == "short" and not details
    asked = fenced(question.text) if is_bare else sections([("Question", question.text)])
    return "\n\n".join(filter(None, [details, asked]))


def _sections(
    question: Question, shown: Sequence[PastExchange], instruction: InstructionForm
) -> Iterator[tuple[str, str]]:
    if question.summary:
        yield "Earlier in this conversation", question.summary
    if older := question.exchanges[:-_LATEST]:
        yield "Earlier questions", "\n".join(each["query"] for each in older)
    if question.previous_sql and question.previous_sql not in (each["sql"] for each in shown):
        yield "Previous statement", question.previous_sql
    if instruction == "short":
        return
    if answers := [_answered(each) for each in shown if each["sql"]]:
        yield "Answers to the latest questions", "\n".join(answers)
    if question.unfinished is not None:
        yield "Investigation without an answer", _unfinished(question.unfinished)
    if question.previous_rows is not None:
        yield "Rows already fetched", rows_as_lines(question.previous_rows, max_tokens=_ROWS_TOKENS)


def _unfinished(investigation: UnfinishedInvestigation) -> str:
    steps = investigation["step"]
    return (
        f"It was asked: {investigation['question']}\nIts plan:\n{investigation['plan']}\n"
        f"It ended after {steps} {'step' if steps == 1 else 'steps'}, which are kept. If the question below "
        "wants it to go on, reply INVESTIGATE: with what is left of the plan."
    )


def _answered(exchange: PastExchange) -> str:
    said = filter(None, [exchange["results_summary"], _answer(exchange)])
    return f"{exchange['query']}: {' '.join(said)}"


def _answer(exchange: PastExchange) -> str:
    return (exchange["analysis"] or "")[:_ANSWER_CHARACTERS]


def _block(sql: str) -> str:
    return f"```sql\n{sql}\n```"
