"""Running totals, moving averages and changes that the statement itself computes over time."""

from datetime import date

import pytest
from pydantic import JsonValue

from app.core.language import LANGUAGES, Language
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import DataSpan, figures
from graph.state import Column, Rows

BY_MONTH = "SELECT month, {} AS {} FROM m ORDER BY month"
RUNNING = BY_MONTH.format("SUM(km) OVER (ORDER BY month)", "km_so_far")
LAST = DataSpan(date(2025, 1, 1), date(2025, 5, 12), 900)
SAID = {
    "en": "Km so far up to 12 May 2025: 70.",
    "de": "Km So Far bis zum 12. Mai 2025: 70.",
    "es": "Km so far hasta el 12 de mayo de 2025: 70.",
    "fr": "Km so far jusqu'au 12 mai 2025\u00a0: 70.",
}


def lead(
    sql: str,
    columns: dict[str, str],
    values: list[list[JsonValue]],
    *,
    question: str = "",
    span: DataSpan | None = None,
    language: Language = "en",
    today: date | None = None,
) -> list[str]:
    rows = Rows(
        columns=[Column(name=name, type=kind) for name, kind in columns.items()],
        rows=values,
        row_count=len(values),
        truncated=False,
    )
    found = figures(question, sql, "sqlite", rows=rows, span=span, today=today)
    sheet = fact_sheet(FactTable(question=question, rows=rows, found=found, wording=Wording(language)))
    return [fact.statement for fact in sheet.lead]


def by_month(*values: float | None) -> list[list[JsonValue]]:
    return [[f"2025-{month:02}", value] for month, value in enumerate(values, 1)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_running_total_says_what_it_has_come_to_by_the_last_day_of_the_data(language: Language) -> None:
    rows = by_month(20, 35, 30, 55, 70)
    columns = {"month": "text", "km_so_far": "number"}
    assert lead(RUNNING, columns, rows, span=LAST, language=language) == [SAID[language]]


def test_a_running_total_names_its_period_where_the_last_day_of_its_rows_is_unknown() -> None:
    rows = by_month(20, 35, 30, 55, 70)
    columns = {"month": "text", "km_so_far": "number"}
    spans = [
        DataSpan(date(2025, 1, 1), date(2025, 5, 28), 900),  # planned
        DataSpan(date(2025, 1, 1), date(2025, 5, 12), 900, narrowed=True),
    ]
    for span in spans:
        said = lead(RUNNING, columns, rows, span=span, today=date(2025, 5, 13))
        assert said == ["Km so far up to May 2025: 70."]
    assert lead(RUNNING, columns, rows, span=spans[1]) == ["Km so far up to May 2025: 70."]


def test_running_totals_of_groups_are_not_ranked_over_time() -> None:
    sql = (
        "SELECT month, van, SUM(km) OVER (PARTITION BY van ORDER BY month) AS km_so_far FROM m ORDER BY 1, 2"
    )
    rows: list[list[JsonValue]] = [
        ["2025-01", "A", 10],
        ["2025-01", "B", 30],
        ["2025-02", "A", 45],
        ["2025-02", "B", 31],
        ["2025-03", "A", 50],
    ]
    columns = {"month": "text", "van": "text", "km_so_far": "number"}
    assert lead(sql, columns, rows) == ["Km so far up to March 2025: A (50) and B (31)."]


def test_a_change_is_not_compared_with_the_change_before() -> None:
    sql = BY_MONTH.format("km - LAG(km) OVER (ORDER BY month)", "km_step")
    assert lead(sql, {"month": "text", "km_step": "number"}, by_month(None, 9, -4, 2, 2)) == [
        "**February 2025** has the highest km step: 9.",
        "**March 2025** has the lowest km step: -4.",
        "Km step in May 2025: 2.",
    ]


def test_a_moving_average_has_no_first_value_as_that_is_of_fewer_rows() -> None:
    sql = BY_MONTH.format("AVG(km) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)", "smooth")
    assert lead(sql, {"month": "text", "smooth": "number"}, by_month(1, 5, 6, 7, 8)) == [
        "Smooth in May 2025: 8."
    ]
