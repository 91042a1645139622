"""Computes figures by whole months and findings from rows. All figures rest on all rows at hand."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from app.core.values.numbers import as_decimal
from app.modules.analysis.facts.over_time import year_before
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import DataSpan, Figures, figures
from app.modules.analysis.figures.trend import Course, PeriodValue
from app.modules.analysis.formats import unit_of
from app.modules.overview.choosing import OverviewMeasure
from app.modules.overview.model import Figure, MonthValue, PageLanguage
from graph.state import Column, Rows

_FEWEST_MONTHS = 3
_FEWEST_COMPARED = 6
_A_YEAR = 12
_MOST_NAMED = 2
_SHOWN_MONTHS = 24
_WEEKS = range(1, 5)
_ESCAPED = re.compile(r"\\([\\`*\[\]<|~_#>&])")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with its rows. `found` are their figures."""

    measure: OverviewMeasure
    question: str
    sql: str
    rows: Rows
    found: Figures

    def finding(self, language: PageLanguage) -> str | None:
        """The highest of the rows, or else what leads their analysis. None if that is only a note."""
        table = FactTable(question=self.question, rows=self.rows, found=self.found, wording=Wording(language))
        sheet = fact_sheet(table)
        facts = [
            *(fact for fact in sheet.facts if fact.kind == "highest" and len(fact.labels) <= _MOST_NAMED),
            *sheet.lead,
        ]
        if not facts or facts[0].kind in ("note", "missing") or sheet.notice:
            return None
        return _ESCAPED.sub(r"\1", facts[0].statement.replace("**", "").removesuffix("."))


@dataclass(frozen=True, kw_only=True)
class Series(Asked):
    """A measure by month, made of its days."""

    days: Mapping[date, Decimal]
    course: Course

    def figure(self, question: str, latest_day: date | None) -> Figure:
        """The last year of whole months, and the same months of the year before."""
        full, column = self.course.full, self.measure.column
        last = full[-1].period
        shown, before = [each for each in full if each.period.steps_to(last) < _A_YEAR], None
        compared = year_before(self.course, adds=True)
        if compared is not None and len(compared[0]) >= _FEWEST_COMPARED:
            shown, before = [*compared[0]], _sum(compared[1])
        has_latest = latest_day in self.days
        return Figure(
            name=self.measure.name,
            table=self.measure.table.name,
            kind=self.measure.kind,
            unit=None if column is None else column.unit or unit_of(column.name),
            value=_sum(shown),
            first_month=str(shown[0].period),
            last_month=str(last),
            before=before,
            months=_months(full),
            latest=float(self.days[latest_day]) if latest_day and has_latest else None,
            usual=self._usual(latest_day) if latest_day and has_latest else None,
            question=question,
            sql=self.sql,
        )

    def _usual(self, day: date) -> float | None:
        before = [day - timedelta(weeks=weeks) for weeks in _WEEKS]
        if before[-1] < min(self.days):
            return None
        return float(sum((self.days.get(each, Decimal(0)) for each in before), Decimal(0)) / len(before))


def compute_groups(
    measure: OverviewMeasure, question: str, rows: Rows, *, sql: str, dialect: str, today: date
) -> Asked:
    found = figures(question, sql, dialect, rows=rows, today=today)
    return Asked(measure=measure, question=question, sql=sql, rows=rows, found=found)


def compute_months(
    measure: OverviewMeasure, question: str, rows: Rows, *, sql: str, dialect: str, today: date
) -> Series | None:
    """Folds rows of days into the rows that `sql` gives by month.

    Returns None unless they are all there, are a number a day until today, and cover some whole months.
    """
    days = _days(rows)
    if rows["truncated"] or not days or max(days) > today:
        return None
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for day, value in sorted(days.items()):
        sums[day.isoformat()[:7]] += value
    months = Rows(
        columns=[Column(name="month", type="text"), rows["columns"][1]],
        rows=[[month, float(value)] for month, value in sums.items()],
        row_count=len(sums),
        truncated=False,
    )
    span = DataSpan(min(days), max(days), len(days))
    found = figures(question, sql, dialect, rows=months, span=span, today=today)
    if found.course is None or found.course.unit != "month" or len(found.course.full) < _FEWEST_MONTHS:
        return None
    return Series(
        measure=measure,
        question=question,
        sql=sql,
        rows=months,
        found=found,
        days=days,
        course=found.course,
    )


def _days(rows: Rows) -> dict[date, Decimal]:
    """Empty if a cell is no day or no number. Rows without a day are left out, and no value adds nothing."""
    found: dict[date, Decimal] = {}
    for day, *values in rows["rows"]:
        value = as_decimal(values[0]) if len(values) == 1 and values[0] is not None else None
        if len(values) != 1 or (value is None and values[0] is not None):
            return {}
        try:
            if day is not None:
                found[date.fromisoformat(str(day))] = value or Decimal(0)
        except ValueError:
            return {}
    return found


def _months(full: Sequence[PeriodValue]) -> list[MonthValue]:
    values = {each.period: float(each.value) for each in full}
    last = full[-1].period
    count = min(_SHOWN_MONTHS, full[0].period.steps_to(last) + 1)
    shown = [last.after(-back) for back in reversed(range(count))]
    return [MonthValue(month=str(each), value=values.get(each)) for each in shown]


def _sum(points: Sequence[PeriodValue]) -> float:
    return float(sum((each.value for each in points), Decimal(0)))
