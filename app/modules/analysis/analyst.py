"""The two analysts: one with a language model, and one that uses figures only and replaces it on failure."""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import replace
from datetime import date
from typing import Protocol

from app.core.llm.model import LanguageModel, ModelUnavailable, Reply
from app.core.markdown import pieces_without_images, without_images
from app.modules.analysis.chart import choose_chart
from app.modules.analysis.figures import Figures, Span, figures
from app.modules.analysis.follow_ups import suggest
from app.modules.analysis.prompt import messages
from app.modules.analysis.text import cut_notice, describe, results_summary
from app.modules.analysis.words import title
from app.modules.model_errors import model_errors_translated, stand_in_notice
from app.modules.prompt_facts import facts_section
from app.modules.prompt_rows import without_secrets
from graph.answer import Analysis
from graph.errors import ModelCallFailed, ModelCallRejected
from graph.events import TextChunk
from graph.ports import Analysed, Emit, Question
from graph.state import Column, Rows

logger = logging.getLogger(__name__)

MODEL_SECONDS = 480
"""Time for a model's reading. The step may take 600 seconds."""


_FROM_FIGURES = "The analysis comes from the figures alone."


class Background(Protocol):
    """Facts from the database about the data behind a statement."""

    async def span(self, sql: str) -> Span | None:
        """The days that the data behind the statement's periods covers.

        Returns None where this is unknown or the statement has no periods.
        """

    async def keys(self, sql: str) -> frozenset[str]:
        """The names, in lower case, of the statement's columns that identify or refer to rows."""


class FiguresAnalyst:
    """Describes the figures in plain sentences, without a model; `dialect` is sqlglot's name."""

    def __init__(self, dialect: str, background: Background, today: date) -> None:
        self._dialect = dialect
        self._background = background
        self._today = today

    async def figures(self, question: Question, sql: str, rows: Rows) -> Figures:
        span = await self._background.span(sql) if rows["rows"] else None
        keys = await self._background.keys(sql)
        return await asyncio.to_thread(
            figures, question.text, sql, self._dialect, rows=rows, span=span, keys=keys, today=self._today
        )

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        rows = with_whole_names(without_secrets(rows))
        found = await self.figures(question, sql, rows)
        text = describe(rows, found)
        emit(TextChunk(content=text, channel="analysis"))
        return await _described(question, rows, found)


class ModelAnalyst:
    """Asks a model to analyse the rows. When the model fails, also amid its text, the analysis is that of the
    figures, and its end says that the model's reading is missing and why.

    A notice about a cut result is put before the model's text.
    """

    def __init__(self, model: LanguageModel, stand_in: FiguresAnalyst) -> None:
        self._model = model
        self._stand_in = stand_in

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        rows = with_whole_names(without_secrets(rows))
        found = await self._stand_in.figures(question, sql, rows)
        notice = cut_notice(rows, found)
        opening = f"{notice} " if notice else ""
        streamed = _Streamed(emit, opening)
        prompt = messages(
            question.text,
            sql,
            rows,
            found=found,
            rules=question.context["rules"],
            memory=[facts_section(question.facts), question.profile],
        )
        until = asyncio.get_running_loop().time() + MODEL_SECONDS
        try:
            with model_errors_translated():
                reply = await _reply_until(
                    until, self._model.reply(prompt, pieces_without_images(streamed.add))
                )
        except (ModelCallFailed, ModelCallRejected) as failure:
            emit(stand_in_notice(failure, _FROM_FIGURES))
            read = await _described(question, rows, found)
            missing = f"**The model's reading is missing:** {failure.detail} {_FROM_FIGURES}"
            text = f"{read.analysis.text}\n\n{missing}"
            if not streamed.has_begun:  # else the whole text takes the place of what was streamed
                emit(TextChunk(content=text, channel="analysis"))
            return replace(read, analysis=read.analysis.model_copy(update={"text": text}))
        text = opening + without_images(reply.text.strip())
        return await _analysed(question, rows, found, text=text, tokens_used=reply.tokens_used)


class _Streamed:
    """Emits a model's text as it comes, without the space before and after it: the text that is kept has
    none, and clients compare the two.
    """

    def __init__(self, emit: Emit, opening: str) -> None:
        self.has_begun = False
        self._emit = emit
        self._opening = opening
        self._space = ""
        """What has come since the last text that is no space."""

    def add(self, piece: str) -> None:
        text = self._space + piece if self.has_begun else piece.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._emit(
                TextChunk(content=shown if self.has_begun else self._opening + shown, channel="analysis")
            )
            self.has_begun = True


async def _reply_until(until: float, reply: Awaitable[Reply]) -> Reply:
    """Raises `ModelUnavailable` if the reply has not ended by then, in the event loop's time."""
    try:
        async with asyncio.timeout_at(until):
            return await reply
    except TimeoutError as error:
        raise ModelUnavailable(f"The model did not finish within {MODEL_SECONDS} s.") from error


async def _described(question: Question, rows: Rows, found: Figures) -> Analysed:
    """Returns the analysis of the figures alone."""
    return await _analysed(question, rows, found, text=describe(rows, found))


async def _analysed(
    question: Question, rows: Rows, found: Figures, *, text: str, tokens_used: int = 0
) -> Analysed:
    try:
        chart = await asyncio.to_thread(choose_chart, question.text, rows, found)
    except Exception:
        # Rows and text are the answer. It is complete without a chart.
        logger.exception("no chart could be made of a result of %d rows", rows["row_count"])
        chart = None
    suggestions = suggest(question.text, rows, found)
    analysis = Analysis(text=text, chart=chart, suggestions=suggestions)
    return Analysed(analysis, results_summary(rows), tokens_used)


def with_whole_names(rows: Rows) -> Rows:
    """The rows with the columns of first and last name merged into a leading `name`; else unchanged."""
    named = {title(column["name"]): index for index, column in enumerate(rows["columns"])}
    first = named.get("first name")
    last = named.get("last name")
    if first is None or last is None:
        return rows
    kept = [index for index in range(len(rows["columns"])) if index not in (first, last)]
    whole = [
        " ".join(str(part) for part in (row[first], row[last]) if part is not None) for row in rows["rows"]
    ]
    return Rows(
        **{
            **rows,
            "columns": [Column(name="name", type="text"), *(rows["columns"][index] for index in kept)],
            "rows": [
                [name, *(row[index] for index in kept)] for name, row in zip(whole, rows["rows"], strict=True)
            ],
        }
    )
