"""The request for a statement, as messages to a model."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from app.core.llm.model import PromptMessage
from app.modules.prompt_rows import rows_as_lines
from app.modules.prompt_sections import sections
from graph.ports import Question
from graph.state import Message

_INSTRUCTIONS = (Path(__file__).parent / "prompts" / "write_sql.md").read_text(encoding="utf-8")
_IN_FULL = 3


def write_sql_messages(question: Question, dialect: str, today: date) -> list[PromptMessage]:
    """The instructions, then all that is known under headings, the question last."""
    system = _INSTRUCTIONS.replace("{dialect}", dialect).replace("{today}", today.isoformat())
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
    if question.failures:
        failed = (f"{each['sql']}\nError: {each['error']}" for each in question.failures)
        yield "Statements that failed", "\n\n".join(failed)
    yield "Question", question.text


def _exchanges(exchanges: Sequence[Message]) -> str:
    """The last three in full, those before by their question and statement."""
    older, latest = exchanges[:-_IN_FULL], exchanges[-_IN_FULL:]
    return "\n\n".join([*map(_brief, older), *map(_full, latest)])


def _brief(exchange: Message) -> str:
    return f"Q: {exchange['query']}" + (f"\nSQL: {exchange['sql']}" if exchange["sql"] else "")


def _full(exchange: Message) -> str:
    parts = [_brief(exchange)]
    if exchange["results_summary"]:
        parts.append(f"Result: {exchange['results_summary']}")
    if exchange["analysis"]:
        parts.append(f"Answer: {exchange['analysis']}")
    return "\n".join(parts)
