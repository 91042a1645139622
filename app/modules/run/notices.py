"""What a reader must know of a statement, put around the analysis of its rows.

It is part of the analysis' text, so every client shows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.modules.run.result_checking import RunResultChecker
from app.modules.sql_generation.schema_context import SchemaContext
from graph.answer import Analysis, shift_references
from graph.events import SessionEvent, TextChunk
from graph.ports import Analysed, Analyst, Emit, Question
from graph.state import Rows

if TYPE_CHECKING:
    from app.modules.analysis.facts.wording import Wording

_MOST_CHANGES = 3
_LONGEST_CHANGE = 300


@dataclass(frozen=True)
class NoticingAnalyst:
    """Begins the analysis with what may be wrong and what was changed of the statement, and ends it with
    what is worth checking and what its writer did not follow.
    """

    analyst: Analyst
    checker: RunResultChecker
    schema_context: SchemaContext

    async def analyse(self, question: Question, sql: str, rows: Rows, *, emit: Emit) -> Analysed:
        warnings = await self.checker.find_warnings(question, sql, rows)
        wording = _wording_for(question.text)
        doubts = [each.say(wording.language) for each in warnings if each.is_doubt]
        opening = first_line(doubts, question.corrections, question.text)
        read = await self.analyst.analyse(question, sql, rows, emit=_behind(opening, emit))
        read = replace(read, analysis=begin_with(opening, read.analysis))
        others = " ".join(each.say(wording.language) for each in warnings if not each.is_doubt)
        notes = f"\n\n**{wording.say('worth_checking')}** {others}" if others else ""
        if question.author == "builtin" and (
            unheeded := await self.schema_context.unheeded(question.text, sql)
        ):
            notes += f"\n\n**{wording.say('not_followed')}** {unheeded.say(wording.language)}"
        if limiting := await self.schema_context.row_policies(sql):
            rules = ", ".join(f"*{name}*" for name in limiting)
            notes += f"\n\n{wording.say('limited_rows', rules=rules)}"
        if not notes:
            return read
        emit(TextChunk(content=notes, channel="analysis"))
        analysis = read.analysis.model_copy(update={"text": read.analysis.text + notes})
        return replace(read, analysis=analysis)


def first_line(doubts: Sequence[str], changes: Sequence[str], question: str) -> str:
    """Returns the first line of an answer, with an empty line behind it; empty if there is nothing to say.

    Its own words are in the language of the question.
    """
    wording = _wording_for(question)
    parts = [f"**{wording.say('doubts')}** {' '.join(doubts)}"] if doubts else []
    if changes:
        more = len(changes) - _MOST_CHANGES
        said = [_shortened(each) for each in changes[:_MOST_CHANGES]]
        said += [wording.say("changed.more", count=more)] if more > 0 else []
        parts.append(f"**{wording.say('changed')}** {' '.join(said)}")
    return f"{' '.join(parts)}\n\n" if parts else ""


def _wording_for(question: str) -> "Wording":
    from app.modules.analysis.facts.wording import wording_for  # noqa: PLC0415  (babel loads slowly)

    return wording_for(question)


def _shortened(change: str) -> str:
    line = " ".join(change.split())
    return line if len(line) <= _LONGEST_CHANGE else f"{line[: _LONGEST_CHANGE - 1]}…"


def _behind(opening: str, emit: Emit) -> Emit:
    """Returns an emitter that puts the opening before the first text of the analysis."""
    if not opening:
        return emit
    left = [opening]

    def emit_opened(event: SessionEvent) -> None:
        if left and isinstance(event, TextChunk) and event.channel == "analysis":
            event = event.model_copy(update={"content": left.pop() + event.content})
        emit(event)

    return emit_opened


def begin_with(opening: str, analysis: Analysis) -> Analysis:
    """Returns the analysis with a text before it, and its references at their new places."""
    references = shift_references(analysis.references, len(opening))
    return analysis.model_copy(update={"text": opening + analysis.text, "references": references})
