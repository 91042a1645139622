"""A report: exchanges and own text in order, ready to be written in any format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.modules.analysis.chart.plan import Spec
from app.modules.records.model import Row
from app.modules.reports.errors import NothingToReport
from app.modules.reports.words import ReportWords
from graph.state import Column, Cut, Reference, Rows

ReportFormat = Literal["html", "markdown", "ipynb"]
MAX_PARTS = 100
MAX_ROWS = 1_000
"""Rows of a table in a report."""
MAX_CELLS = 200_000
"""Cells of all tables of a report."""
MAX_CHARACTERS = 20_000_000
"""Characters of all tables, analyses and pictures of a report."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """An answer with its question. `rows` are the first of `row_count`; times are epoch milliseconds."""

    heading: str
    question: str
    explanation: str
    text: str
    sql: str | None
    dialect: str
    database: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    row_count: int
    truncated: bool
    cut_by: Cut | None
    chart: Spec | None
    at: int
    picture: str = ""
    """Of the chart: SVG for HTML, base64 of a PNG for other formats. Empty until it is drawn."""
    undrawn: str = ""
    """Why there is no picture of the chart. Empty if there is one, or no chart."""
    references: Sequence[Reference] = ()
    """Sources of the statements of `text`."""
    note: str = ""
    """A sentence about the state of the exchange, such as that it failed. Empty if there is none."""

    def provenance(self, words: ReportWords) -> list[tuple[str, str]]:
        """Returns the question, how it was understood, the database and the time, with their names."""
        dialect = f" ({self.dialect})" if self.dialect else ""
        said = [
            (words.say("question"), self.question),
            (words.say("explanation"), self.explanation),
            (words.say("database"), f"{self.database}{dialect}"),
            (words.say("answered"), words.moment(self.at)),
        ]
        return [each for each in said if each[1]]

    def coverage(self, words: ReportWords) -> str:
        """Returns sentences on which of the rows are shown."""
        rows = Rows(
            columns=list(self.columns),
            rows=[],
            row_count=self.row_count,
            truncated=self.truncated,
            cut_by=self.cut_by,
        )
        return words.coverage(len(self.rows), rows)


@dataclass(frozen=True)
class OwnText:
    """Markdown of the person who makes the report. HTML and images in it stay text."""

    markdown: str


Part: TypeAlias = Exchange | OwnText


class PartList:
    """Parts of a report, within its bounds."""

    def __init__(self) -> None:
        self.gathered: list[Part] = []
        self._cells = 0
        self._characters = 0

    def add(self, part: Part) -> None:
        """Raises `NothingToReport` as soon as a bound is passed, before more rows are read."""
        self.gathered.append(part)
        if isinstance(part, OwnText):
            return
        self._cells += len(part.columns) * len(part.rows)
        self._characters += len(part.text) + len(part.picture)
        self._characters += sum(len(str(cell)) for row in part.rows for cell in row)
        for count, most, name in (
            (self._cells, MAX_CELLS, "cells"),
            (self._characters, MAX_CHARACTERS, "characters"),
        ):
            if count > most:
                raise NothingToReport(
                    f"The tables and pictures have more than {most:,} {name} together, as many as a report "
                    "holds. Lower `rows`, or name fewer `parts`."
                )


@dataclass(frozen=True, kw_only=True)
class Report:
    title: str
    made_at: int
    parts: Sequence[Part]
    words: ReportWords
