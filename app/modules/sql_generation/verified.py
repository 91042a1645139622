"""The short way: a question whose answer a person has verified is answered by just that SQL."""

from collections.abc import Awaitable, Callable

from app.modules.context_store.model import Example
from graph.events import TextChunk
from graph.ports import Emit, Question, SqlWriter, Written

_EXPLANATION = "Answered by a verified example: a person has reviewed this SQL for just this question."


class VerifiedWriter:
    """Goes before another writer, and leaves to it whatever has no verified answer or whose answer fails."""

    def __init__(self, writer: SqlWriter, find: Callable[[str], Awaitable[Example | None]]) -> None:
        self._writer = writer
        self._find = find

    @property
    def dialect(self) -> str:
        return self._writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        example = None if question.repair else await self._find(question.text)
        if example is None:
            return await self._writer.write(question, emit)
        emit(TextChunk(content=example.sql, channel="sql"))
        return Written(route="sql", text=example.sql, explanation=_EXPLANATION, author="verified")
