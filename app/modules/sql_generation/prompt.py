"""The request for a statement, as messages to a model."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import get_args

from app.core.llm.capabilities import Instruction
from app.core.llm.model import PromptMessage, ReplyFormat
from app.modules.prompt_rows import rows_as_lines
from app.modules.prompt_sections import sections
from graph.ports import Question
from graph.state import Message

_PROMPTS = Path(__file__).parent / "prompts"
_INSTRUCTIONS: Mapping[Instruction, str] = {
    form: (_PROMPTS / f"write_sql_{form}.md").read_text(encoding="utf-8") for form in get_args(Instruction)
}
_REPLY: Mapping[ReplyFormat, str] = {
    name: (_PROMPTS / f"reply_by_{name}.md").read_text(encoding="utf-8").strip()
    for name in get_args(ReplyFormat)
}
"""How to reply, by format."""
_IN_FULL = 3
_BEGINNING = 600
"""Characters of an older answer that no summary covers yet."""


def write_sql_messages(
    question: Question,
    dialect: str,
    today: date,
    *,
    instruction: Instruction,
    reply_format: ReplyFormat = "text",
) -> list[PromptMessage]:
    """The instructions in this form, then all that is known under headings, the question last.

    The short form has a reply in text; another format comes with the long one.
    """
    form = instruction if reply_format == "text" else "long"
    system = _INSTRUCTIONS[form].replace("{reply}", _REPLY[reply_format])
    system = system.replace("{dialect}", dialect).replace("{today}", today.isoformat())
    known = [question.context] if question.context else []
    return [
        PromptMessage("system", system),
        PromptMessage("user", "\n\n".join([*known, sections(_sections(question))])),
    ]


def _sections(question: Question) -> Iterator[tuple[str, str]]:
    if question.summary:
        yield "Earlier in this conversation", question.summary
    if question.exchanges:
        yield "Latest exchanges", _exchanges(question.exchanges)
    if question.previous_sql:
        yield "Previous statement", question.previous_sql
    if question.previous_rows is not None:
        yield "Rows already fetched", rows_as_lines(question.previous_rows)
    yield "Question", question.text


def _exchanges(exchanges: Sequence[Message]) -> str:
    """The last three in full, those before with the beginnings of their answers."""
    older, latest = exchanges[:-_IN_FULL], exchanges[-_IN_FULL:]
    shortened = [_exchange(each, (each["analysis"] or "")[:_BEGINNING]) for each in older]
    return "\n\n".join([*shortened, *(_exchange(each, each["analysis"]) for each in latest)])


def _exchange(exchange: Message, answer: str | None) -> str:
    parts = [f"Q: {exchange['query']}"]
    if exchange["sql"]:
        parts.append(f"SQL: {exchange['sql']}")
    if exchange["results_summary"]:
        parts.append(f"Result: {exchange['results_summary']}")
    if answer:
        parts.append(f"Answer: {answer}")
    return "\n".join(parts)
