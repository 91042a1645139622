"""Answers a question that has a verified example with the example's SQL."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from app.modules.context_store.model import Example
from graph.events import TextChunk
from graph.ports import ContextRecall, Emit, Question, SqlWriter, Written

_EXPLANATION = "Answered by a verified example: a person has reviewed this SQL for just this question."


class VerifiedWriter:
    """Wraps a writer, which answers questions without a verified example, or whose example fails."""

    def __init__(
        self, writer: SqlWriter, find: Callable[[str], Awaitable[Example | None]], recall: ContextRecall
    ) -> None:
        self._writer = writer
        self._find = find
        self._recall = recall

    @property
    def dialect(self) -> str:
        return self._writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        example = None if question.repair else await self._find(question.text)
        if example is None:
            if question.repair is not None and not question.context["schema"]:
                # A verified answer failed, and nothing was recalled for it.
                question = replace(question, context=await self._recall.recall(question))
            return await self._writer.write(question, emit)
        emit(TextChunk(content=example.sql, channel="sql"))
        return Written(
            route="sql", text=example.sql, explanation=_EXPLANATION, author="verified", example_id=example.id
        )
