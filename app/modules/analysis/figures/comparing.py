"""Pairs of measures that a result sets side by side: one year and another, or a value and its budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations

from pydantic import JsonValue

from app.core.words import without_accents
from app.modules.analysis.figures.calendar import month_number, period_of
from app.modules.analysis.figures.trend import Partial
from app.modules.analysis.words import title, word_set

_REFERENCES = word_set("""
    budget budgeted plan planned target goal forecast previous prior last before vorjahr vorjahres soll ziel
    vorher presupuesto objetivo previsto anterior pasado objectif prevu precedent precedente
""")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


@dataclass(frozen=True)
class MeasureComparison:
    """The measure `after` against `before`, as places among the measures.

    `running` is the period of `after` that is not over, `unfinished` are its row and those of later periods.
    """

    after: int
    before: int
    running: Partial | None = None
    unfinished: frozenset[int] = frozenset()


def comparison(
    names: Sequence[str], labels: Sequence[JsonValue], today: date | None
) -> MeasureComparison | None:
    """The first two measures whose names differ only in a year, or in a word such as "budget".

    `labels` name the rows: they may be months of these years.
    """
    words = [frozenset(without_accents(title(name)).split()) for name in names]
    for one, other in combinations(range(len(names)), 2):
        mine, theirs = words[one] - words[other], words[other] - words[one]
        years = [_year(mine), _year(theirs)]
        if years[0] is not None and years[1] is not None:
            after, before = (one, other) if years[0] > years[1] else (other, one)
            return _unfinished(MeasureComparison(after, before), max(years[0], years[1]), labels, today=today)
        if words[one] & words[other] and len(mine) <= 1 and theirs and theirs <= _REFERENCES:
            return MeasureComparison(one, other)
        if words[one] & words[other] and len(theirs) <= 1 and mine and mine <= _REFERENCES:
            return MeasureComparison(other, one)
    return None


def _year(words: frozenset[str]) -> int | None:
    (word,) = words if len(words) == 1 else [""]
    return int(word) if word.isdecimal() and _FIRST_YEAR <= int(word) <= _LAST_YEAR else None


def _unfinished(
    found: MeasureComparison, year: int, labels: Sequence[JsonValue], *, today: date | None
) -> MeasureComparison:
    months = [month_number(each) for each in labels]
    if today is None:
        return found
    if not months or None in months:
        whole = period_of(date(year, 1, 1), "year")
        running_year = Partial(whole, "running", today) if year == today.year else None
        return MeasureComparison(found.after, found.before, running_year)
    periods = [period_of(date(year, month or 1, 1), "month") for month in months]
    unfinished = frozenset(row for row, period in enumerate(periods) if period.end > today)
    running = [Partial(each, "running", today) for each in periods if each.start <= today < each.end]
    return MeasureComparison(found.after, found.before, next(iter(running), None), unfinished)
