"""The two analysts: a language model chooses the statements of an analysis, or their own order does."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from app.core.llm.model import LanguageModel, ModelUnavailable, Reply
from app.modules.analysis.chart_rules import ChartRule, ChartRules, proposed_chart
from app.modules.analysis.facts import Fact, FactSheet
from app.modules.analysis.facts.answering import CallAnswers
from app.modules.analysis.facts.choice import CHOICE, FactChoice, read_choice
from app.modules.analysis.facts.composing import compose
from app.modules.analysis.facts.judging import ReadingJudge
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording, wording_for
from app.modules.analysis.figures import DataSpan, Figures, figures
from app.modules.analysis.follow_ups import suggest
from app.modules.analysis.prompt import messages
from app.modules.analysis.summary import results_summary
from app.modules.analysis.whole_names import merge_names, spec_of_result
from app.modules.language_models.errors import model_errors_translated, stand_in_notice
from app.modules.prompts.facts import facts_section
from app.modules.prompts.rows import without_secrets
from graph.answer import Analysis
from graph.errors import ModelCallFailed, ModelCallRejected
from graph.events import TextChunk
from graph.ports import Analysed, Emit, Question
from graph.state import Column, Rows

logger = logging.getLogger(__name__)

MODEL_SECONDS = 480
"""Time for a model's choice. The step may take 600 seconds."""

_FROM_FIGURES = "These statements are KAI's own choice."


class Background(Protocol):
    """Facts from the database about the data behind a statement."""

    async def span(self, sql: str) -> DataSpan | None:
        """The days that the data behind the statement's periods covers.

        Returns None where this is unknown or the statement has no periods.
        """

    async def keys(self, sql: str) -> frozenset[str]:
        """The names, in lower case, of the statement's columns that identify or refer to rows."""


@dataclass(frozen=True, kw_only=True)
class ReadResult:
    """A result as it is read: rows without secrets, figures, and the statements to choose from.

    `columns` are those of the result; the rows have first and last names as one.
    """

    question: str
    rule: ChartRule | None
    columns: Sequence[Column]
    rows: Rows
    found: Figures
    sheet: FactSheet
    wording: Wording
    calls: CallAnswers


class FiguresAnalyst:
    """Writes the first statements of the sheet, without a model; `dialect` is sqlglot's name."""

    def __init__(
        self, dialect: str, background: Background, today: date, *, chart_rules: ChartRules | None = None
    ) -> None:
        self._chart_rules = chart_rules
        self._dialect = dialect
        self._background = background
        self._today = today

    async def read(self, question: Question, sql: str, rows: Rows) -> ReadResult:
        columns = rows["columns"]
        rows = merge_names(without_secrets(rows))
        span = await self._background.span(sql) if rows["rows"] else None
        keys = await self._background.keys(sql)
        # In a thread: of ten thousand rows it takes a second, and numpy and babel load slowly.
        read = await asyncio.to_thread(self._read, question.text, sql, rows, span=span, keys=keys)
        rule = None if self._chart_rules is None else await self._chart_rules.find(sql, columns)
        return replace(read, columns=columns, rule=rule)

    def _read(
        self, question: str, sql: str, rows: Rows, *, span: DataSpan | None, keys: frozenset[str]
    ) -> ReadResult:
        found = figures(question, sql, self._dialect, rows=rows, span=span, keys=keys, today=self._today)
        wording = wording_for(question)
        table = FactTable(question=question, rows=rows, found=found, wording=wording)
        return ReadResult(
            question=question,
            rule=None,
            columns=rows["columns"],
            rows=rows,
            found=found,
            sheet=fact_sheet(table),
            wording=wording,
            calls=CallAnswers(table),
        )

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        read = await self.read(question, sql, rows)
        return await _analysed(read, read.sheet.lead, emit=emit)


class ModelAnalyst:
    """Asks a model to choose statements. When the model fails, the analysis is that of the sheet's own order,
    and its end says that the model's choice is missing and why.

    Nothing is emitted before the choice has ended, so that nothing emitted is taken back.
    """

    def __init__(self, model: LanguageModel, stand_in: FiguresAnalyst) -> None:
        self._model = model
        self._stand_in = stand_in

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        read = await self._stand_in.read(question, sql, rows)
        prompt = messages(
            question.text,
            read.rows,
            read.sheet,
            rules=question.context["rules"],
            memory=[facts_section(question.facts), question.profile],
        )
        until = asyncio.get_running_loop().time() + MODEL_SECONDS
        try:
            with model_errors_translated():
                reply = await _reply_until(
                    until, self._model.reply_by_schema(lambda _: prompt, CHOICE, lambda _: None)
                )
        except (ModelCallFailed, ModelCallRejected) as failure:
            emit(stand_in_notice(failure, _FROM_FIGURES))
            say = read.wording.say
            missing = f"**{say('choice_missing')}** {failure.detail} {say('own_choice')}"
            return await _analysed(read, read.sheet.lead, emit=emit, ending=missing)
        choice = await asyncio.to_thread(_choice, reply.text, read)
        return await _analysed(
            read,
            choice.facts,
            emit=emit,
            reading=choice.reading,
            left_out=choice.left_out,
            tokens_used=reply.tokens_used,
        )


def _choice(reply: str, read: ReadResult) -> FactChoice:
    judge = ReadingJudge(read.rows, read.question)
    return read_choice(
        reply,
        read.sheet,
        answer_call=read.calls.answer,
        judge_reading=judge.fault,
        wording=read.wording,
    )


async def _reply_until(until: float, reply: Awaitable[Reply]) -> Reply:
    """Raises `ModelUnavailable` if the reply has not ended by then, in the event loop's time."""
    try:
        async with asyncio.timeout_at(until):
            return await reply
    except TimeoutError as error:
        raise ModelUnavailable(f"The model did not finish within {MODEL_SECONDS} s.") from error


async def _analysed(
    read: ReadResult,
    chosen: Sequence[Fact],
    *,
    emit: Emit,
    reading: str | None = None,
    ending: str = "",
    left_out: Sequence[str] = (),
    tokens_used: int = 0,
) -> Analysed:
    """Compose the analysis and emit its text. `ending` is a last paragraph of the program."""
    composed = compose(read.sheet, chosen, reading=reading, wording=read.wording)
    text = "\n\n".join(filter(None, [composed.text, ending]))
    emit(TextChunk(content=text, channel="analysis"))
    try:
        chart = await asyncio.to_thread(proposed_chart, read.question, read.rows, read.found, rule=read.rule)
    except Exception:
        # Rows and text are the answer. It is complete without a chart.
        logger.exception("no chart could be made of a result of %d rows", read.rows["row_count"])
        chart = None
    analysis = Analysis(
        text=text,
        headline=composed.headline,
        references=composed.references,
        left_out=list(left_out),
        chart=spec_of_result(chart, read.columns),
        suggestions=suggest(read.question, read.rows, read.found),
    )
    return Analysed(analysis, results_summary(read.rows), tokens_used)
