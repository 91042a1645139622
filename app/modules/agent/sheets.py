"""Fact sheets of a turn's results, and the part of them that a model reads below a result."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.modules.analysis.facts.answering import CallAnswers
from app.modules.analysis.facts.fact import FactSheet
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording, wording_for
from app.modules.analysis.figures import DataSpan, figures
from app.modules.prompts.rows import without_secrets
from app.modules.records.steps import MAX_TEXT, KeptResult, cut_text
from app.modules.tools.results import NamedResult, TurnResults
from graph.state import Rows

FACTS_BELOW = "Facts, to be named in findings by their keys:"
_MOST_SHOWN = 8
_MOST_CHARACTERS = 2_400

ReadBackground = Callable[[str, str], Awaitable[tuple[DataSpan | None, frozenset[str]]]]
"""Reads the days that the data behind a statement covers, and its columns that are keys. Takes the label of
its database, and the statement.
"""


@dataclass(frozen=True, kw_only=True)
class ResultSheet:
    """A result with its facts. `rows` have no values of secret columns."""

    name: str
    result: NamedResult
    rows: Rows
    sheet: FactSheet
    calls: CallAnswers
    """Answers calls for facts that the sheet lacks."""


class TurnSheets:
    """The sheets of one turn's results. A result has the same sheet in each step: its rows do not change."""

    def __init__(self, results: TurnResults, question: str, read_background: ReadBackground) -> None:
        self._results = results
        self._question = question
        self._read_background = read_background
        self._sheets: dict[str, ResultSheet] = {}
        self.wording: Wording = wording_for(question)

    async def read(self, name: str) -> ResultSheet:
        """Returns the sheet of a result. Raises `ResultUnknown`."""
        known = self._sheets.get(self._results.id_of(name) or "")
        return known or await self._make(name.strip(), await self._results.read(name))

    async def read_call(self, name: str, call_id: str, kept: KeptResult) -> ResultSheet:
        """Returns the sheet of a result that a call has just stored."""
        return await self._make(name, await self._results.read_kept(call_id, kept))

    async def _make(self, name: str, result: NamedResult) -> ResultSheet:
        background = await self._background(result)
        made = await asyncio.to_thread(self._made, name, result, background)
        self._sheets[result.id] = made
        return made

    async def _background(self, result: NamedResult) -> tuple[DataSpan | None, frozenset[str]]:
        if not result.kept["sql"] or not result.kept["database"]:
            return None, frozenset()
        return await self._read_background(result.kept["database"], result.kept["sql"])

    def _made(
        self, name: str, result: NamedResult, background: tuple[DataSpan | None, frozenset[str]]
    ) -> ResultSheet:
        rows = without_secrets(result.rows)
        kept = result.kept
        found = figures(
            self._question,
            kept["sql"],
            kept["dialect"],
            rows=rows,
            span=background[0],
            keys=background[1],
            today=datetime.now(UTC).date() if kept["sql"] else None,
        )
        table = FactTable(question=self._question, rows=rows, found=found, wording=self.wording)
        return ResultSheet(
            name=name, result=result, rows=rows, sheet=fact_sheet(table), calls=CallAnswers(table)
        )


def append_facts(text: str, sheet: FactSheet) -> str:
    """Returns the text of a result with its most relevant facts below. The text is cut to the room that they
    leave.
    """
    lines: list[str] = []
    left = _MOST_CHARACTERS
    for fact in sheet.facts[:_MOST_SHOWN]:
        line = f"- {fact.key}: {fact.statement}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return cut_text(text)
    below = "\n".join(["", FACTS_BELOW, *lines])
    return cut_text(text, MAX_TEXT - len(below)) + below


def keys_below(text: str) -> str:
    """Returns the keys of the facts below the text of a result, for a prompt without room for all of it."""
    _, found, facts = text.rpartition(f"\n{FACTS_BELOW}\n")
    keys = [line.removeprefix("- ").partition(":")[0] for line in facts.splitlines()] if found else []
    return f" Its facts: {', '.join(keys)}." if keys else ""
