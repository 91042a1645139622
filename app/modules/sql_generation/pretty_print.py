"""Lays the statement of an answer out for reading."""

import asyncio

from app.modules.sql.layout import laid_out
from graph.ports import Emit, Question, SqlWriter, Written


class LayingOutWriter:
    """Wraps a writer, and adds the layout of its statement. What runs stays as it was written."""

    def __init__(self, writer: SqlWriter) -> None:
        self._writer = writer

    @property
    def dialect(self) -> str:
        return self._writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        written = await self._writer.write(question, emit)
        if written.route != "sql":
            return written
        pretty = await asyncio.to_thread(laid_out, written.text, self.dialect)
        return written.model_copy(update={"sql_pretty": pretty})
