"""Results as the analyst reads them, for tests."""

from collections.abc import Sequence
from datetime import date

from pydantic import JsonValue

from app.modules.analysis.facts import FactSheet
from app.modules.analysis.facts.answering import CallAnswers
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import wording_for
from app.modules.analysis.figures import figures
from graph.state import Column, Rows

TODAY = date(2026, 11, 23)
CATEGORIES: list[list[JsonValue]] = [
    ["Clothing", 193834.08],
    ["Tents", 150000.5],
    ["Shoes", 50000.25],
    ["Hats", 50000.25],
]
PER_CATEGORY = "SELECT category, SUM(amount) AS revenue FROM sales GROUP BY category ORDER BY revenue DESC"
QUESTION = "Revenue by category"


def rows_of(columns: str, cells: Sequence[Sequence[JsonValue]]) -> Rows:
    """`columns` are names with their types, such as `month:text revenue:number`."""
    named = [each.split(":") for each in columns.split()]
    return Rows(
        columns=[Column(name=name, type=type_) for name, type_ in named],
        rows=[list(row) for row in cells],
        row_count=len(cells),
        truncated=False,
    )


BY_CATEGORY = rows_of("category:text revenue:number", CATEGORIES)


def read(
    rows: Rows = BY_CATEGORY, sql: str = PER_CATEGORY, question: str = QUESTION
) -> tuple[FactSheet, CallAnswers]:
    found = figures(question, sql, "sqlite", rows=rows, today=TODAY)
    wording = wording_for(question)
    table = FactTable(question=question, rows=rows, found=found, wording=wording)
    return fact_sheet(table), CallAnswers(table)
