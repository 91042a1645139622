"""A reply to a question back: "by revenue", "the second" and "2" stand for the option's full question."""

from dataclasses import replace

from app.modules.sql_generation import builtin
from graph.ports import Emit, Question, SqlWriter, Written


def resolved(question: Question) -> Question:
    """Returns the full question of the option that the reply names, or the question unchanged."""
    options = [builtin.Choice(each["label"], each["question"]) for each in question.options]
    choice = builtin.chosen(question.text, options)
    return question if choice is None else replace(question, text=choice.question, alone=True)


class ClarifiedWriter:
    """Wraps a writer and replaces a reply to a question back by the full question that it stands for."""

    def __init__(self, writer: SqlWriter) -> None:
        self._writer = writer

    @property
    def dialect(self) -> str:
        return self._writer.dialect

    async def write(self, question: Question, emit: Emit) -> Written:
        meant = resolved(question)
        written = await self._writer.write(meant, emit)
        if meant.text == question.text or written.standalone_question:
            return written
        return written.model_copy(update={"standalone_question": meant.text})
