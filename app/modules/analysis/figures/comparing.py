"""Pairs of measures that a result sets side by side: one year and another, or a value and its budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations

from pydantic import JsonValue

from app.core.words import without_accents
from app.modules.analysis.figures.calendar import month_number, period_of
from app.modules.analysis.figures.names import is_part
from app.modules.analysis.figures.trend import Partial
from app.modules.analysis.words import title, word_set

_REFERENCES = word_set("""
    budget budgeted plan planned target goal quota forecast expected previous prior last before vorjahr
    vorjahres soll ziel vorgabe erwartet vorher presupuesto objetivo meta previsto anterior pasado objectif
    prevu attendu precedent precedente
""")
_ACTUALS = word_set("""
    actual actuals real ist reel realise realised realized
""")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


@dataclass(frozen=True)
class MeasureComparison:
    """The measure `after` against `before`, as places among the measures.

    `is_target` says that `before` is a plan, a budget or the like. `running` is the period of `after` that is
    not over, `unfinished` are its row and those of later periods.
    """

    after: int
    before: int
    is_target: bool = False
    running: Partial | None = None
    unfinished: frozenset[int] = frozenset()


def comparisons(
    names: Sequence[str], labels: Sequence[JsonValue], today: date | None
) -> list[MeasureComparison]:
    """The pairs of measures whose names differ only in a year, or in a word such as "budget".

    A measure that is called only "budget" or the like is compared with the one called "actual", else with the
    only other one: percentages do not count beside amounts. `labels` name the rows: they may be months of
    these years. A measure stands in one pair.
    """
    words = [frozenset(without_accents(title(name)).split()) for name in names]
    found = list[MeasureComparison]()
    paired = set[int]()
    for one, other in combinations(range(len(names)), 2):
        if paired & {one, other}:
            continue
        mine, theirs = words[one] - words[other], words[other] - words[one]
        years = [_year(mine), _year(theirs)]
        pair = None
        if years[0] is not None and years[1] is not None:
            after, before = (one, other) if years[0] > years[1] else (other, one)
            pair = _unfinished(MeasureComparison(after, before), max(years[0], years[1]), labels, today=today)
        elif words[one] & words[other] and len(mine) <= 1 and theirs and theirs <= _REFERENCES:
            pair = MeasureComparison(one, other, is_target=True)
        elif words[one] & words[other] and len(theirs) <= 1 and mine and mine <= _REFERENCES:
            pair = MeasureComparison(other, one, is_target=True)
        if pair is not None:
            found.append(pair)
            paired |= {one, other}
    return found or _against_reference(names, words)


def _against_reference(names: Sequence[str], words: Sequence[frozenset[str]]) -> list[MeasureComparison]:
    """The only measure beside one whose name says no more than "budget" or the like."""
    references = [at for at, each in enumerate(words) if each and each <= _REFERENCES]
    others = [at for at, each in enumerate(words) if each and at not in references]
    for chosen in (
        [at for at in others if words[at] & _ACTUALS],
        [at for at in others if not is_part(names[at])],
        others,
    ):
        if len(references) == 1 and len(chosen) == 1:
            return [MeasureComparison(chosen[0], references[0], is_target=True)]
    return []


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
        return replace(found, running=running_year)
    periods = [period_of(date(year, month or 1, 1), "month") for month in months]
    unfinished = frozenset(row for row, period in enumerate(periods) if period.end > today)
    running = [Partial(each, "running", today) for each in periods if each.start <= today < each.end]
    return replace(found, running=next(iter(running), None), unfinished=unfinished)
