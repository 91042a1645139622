"""Withholds from a model what the operator lets no model read of a conversation."""

from dataclasses import dataclass, replace

from app.modules.prompts.sections import ContextFilter
from graph.errors import QuestionBeyondWriter
from graph.ports import Emit, Question, SqlWriter, Written
from graph.state import PastExchange


@dataclass(frozen=True)
class FilteredWriter:
    """Wraps a writer, which sees of the question what it may."""

    writer: SqlWriter
    allowed: ContextFilter

    @property
    def dialect(self) -> str:
        return self.writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        """Raises `QuestionBeyondWriter` for a repair where the schema is withheld: a repair shows tables."""
        repair = question.repair
        if repair is not None and not self.allowed.allows("schema", "values"):
            raise QuestionBeyondWriter(f"The statement did not run: {' '.join(repair.reasons)}")
        return await self.writer.write(filtered(question, self.allowed), emit)


def filtered(question: Question, allowed: ContextFilter) -> Question:
    """Returns the question without what is withheld. Answers and summaries hold values of rows."""
    if not allowed.allows("history"):
        return replace(
            question,
            summary=None,
            exchanges=(),
            previous_sql=None,
            previous_rows=question.previous_rows if allowed.allows("rows", "values") else None,
        )
    if not allowed.allows("rows", "values"):
        return replace(
            question,
            summary=None,
            exchanges=[_without_answer(each) for each in question.exchanges],
            previous_rows=None,
        )
    return question


def _without_answer(exchange: PastExchange) -> PastExchange:
    return PastExchange(**{**exchange, "results_summary": None, "analysis": None})
