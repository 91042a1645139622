"""The answer of an investigation: statements of the program, and what words of the model may stand beside."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from app.core.markdown import without_images
from app.modules.agent.answer_words import KeptWords, keep_words
from app.modules.agent.findings import FoundFact, LookedUp, found_fact, look_up
from app.modules.agent.sheets import TurnSheets
from app.modules.analysis.facts.reading import ReadingGate
from app.modules.tools.context import SessionDatabases
from app.modules.tools.results import ResultUnknown, TurnResults
from app.modules.tools.toolsets.control import GivenFinding
from graph.answer import shift_references
from graph.errors import DatabaseUnavailable
from graph.state import Finding, Reference, Rows

_TYPES = ("binary", "boolean", "date", "datetime", "integer", "json", "number", "text", "time")
"""Types of columns, which are labels in the profile of a table."""
_NEXT = "Ask again"
"""Label of an action without a target."""


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """An answer in Markdown. The spans of its references count code points of the text."""

    text: str
    headline: str | None = None
    findings: Sequence[Finding] = ()
    references: Sequence[Reference] = ()
    left_out: Sequence[str] = ()


@dataclass
class Concluding:
    """Makes the answer of one turn. `fetched` are the names of the results that it has fetched, in order."""

    results: TurnResults
    sheets: TurnSheets
    databases: SessionDatabases
    fetched: Sequence[str]
    _gate: ReadingGate | None = field(default=None, repr=False)

    async def gate(self) -> ReadingGate:
        """Returns the gate of the model's words, which knows all rows that the turn has fetched."""
        if self._gate is None:
            rows = [each async for each in self._rows()]
            names = [column["name"] for each in rows for column in each["columns"]]
            if rows:
                names += [*_TYPES, *await self._schema_names()]
            self._gate = await asyncio.to_thread(ReadingGate, rows, names)
        return self._gate

    async def _rows(self) -> AsyncIterator[Rows]:
        for name in self.fetched:
            try:
                yield (await self.results.read(name)).rows
            except ResultUnknown:
                continue  # its rows were deleted

    async def _schema_names(self) -> list[str]:
        names: list[str] = []
        for database in self.databases.all:
            try:
                tables = (await database.index()).tables
            except DatabaseUnavailable:
                continue
            for name, table in tables.items():
                names += [name, *(column.name for column in table.columns)]
        return names

    async def look_up(self, given: Sequence[GivenFinding]) -> LookedUp:
        return await look_up(given, self.sheets, await self.gate())

    async def label(self, given: str, otherwise: str) -> str:
        """Returns the words of a link or an action, or others if they may not be shown."""
        if not self.fetched or (await self.gate()).fault(given) is None:
            return given
        return otherwise or _NEXT

    async def answer(self, looked_up: LookedUp, words: str, main: str | None) -> ShownAnswer:
        """Returns the findings with the words that may stand beside them.

        Without findings the facts of the main result, or else of the latest one, speak. Of a turn without a
        result all words are shown: there is nothing of which they could be untrue.
        """
        if not self.fetched:
            return ShownAnswer(text=words.strip(), left_out=looked_up.left_out(self.sheets.wording))
        gate = await self.gate()
        kept = await asyncio.to_thread(keep_words, without_images(words), gate.fault)
        found = list(looked_up.found) or await self._lead(main)
        return self._composed(found, kept, looked_up.left_out(self.sheets.wording, len(kept.faults)))

    async def _lead(self, main: str | None) -> list[FoundFact]:
        """Returns the facts that speak for a result without a model."""
        for name in filter(None, [main, *reversed(self.fetched)]):
            try:
                of = await self.sheets.read(name)
            except ResultUnknown:
                continue
            if of.sheet.lead:
                return [found_fact(of, fact) for fact in of.sheet.lead]
        return []

    def _composed(self, found: Sequence[FoundFact], kept: KeptWords, left_out: Sequence[str]) -> ShownAnswer:
        reading = f"*{self.sheets.wording.say('reading')}:*"
        is_list = len(found) > 1
        text = ""
        references: list[Reference] = []
        noticed: set[str] = set()
        for each in found:
            text += "\n" * bool(text) + "- " * is_list
            if each.notice and each.notice not in noticed:
                noticed.add(each.notice)
                text += f"{each.notice} "
            references += shift_references(each.finding["references"], len(text))
            text += each.finding["text"]
            if each.finding["reading"]:
                text += f"\n\n{'  ' * is_list}{reading} {each.finding['reading']}"
        if kept.text:
            between = " " if kept.begins_with_sentence else "\n\n"
            text += "\n\n" * bool(text) + reading + between + kept.text
        return ShownAnswer(
            text=text,
            headline=found[0].headline if found else None,
            findings=[each.finding for each in found],
            references=references,
            left_out=left_out,
        )
