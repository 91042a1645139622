"""A forecast and outliers in English sentences, as a chart says them."""

from calendar import day_name
from collections.abc import Sequence
from decimal import Decimal

from app.modules.analysis.computed.forecasting import COVERED, Forecast, MethodError, values_for_season
from app.modules.analysis.computed.outlying import Outlier, Outliers
from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.formats import Formats

_FORMATS = Formats("en")
_amount = _FORMATS.amount
_period = _FORMATS.period
_NAMED = 5
_LARGEST_SHARE = 10
_MONTHS = 12
_PLACES = {7: "weekday", 12: "month", 4: "quarter"}


def forecast_sentences(found: Forecast, first: Period) -> list[str]:
    """The method, its error, and what the forecast leaves out; `first` is the first period of the rows."""
    unit = found.unit
    best, *others = found.errors
    steps = len(found.steps)
    method = (
        f"Projection of {_count(steps, unit)} by {best.method} from {_count(found.trained, f'full {unit}')}"
    )
    tested = f"on the last {_count(found.tested, unit)}, projected up to {_count(steps, unit)} ahead"
    said = [f"{method}: {tested}, it was off by {_error(best)} on average."]
    if others:
        named = ", ".join(f"{each.method} by {_error(each)}" for each in others)
        said.append(f"Others: {named}.")
    covered = _FORMATS.percent(Decimal(str(COVERED)))
    said.append(f"The range is made to hold {covered} of the values, judged by these errors.")
    if found.trained < (needed := values_for_season(unit) or 0):
        said.append(f"Most methods see a season only in {needed} full {unit}s or more.")
    if found.closed:
        names = _FORMATS.listed([f"{day_name[each]}s" for each in found.closed])
        said.append(f"{names} never have a value and are left out.")
    if found.filled:
        said.append(f"Values of {_count(found.filled, unit)} are missing, and estimated from those around.")
    if found.since > first:
        said.append(f"Only {unit}s from {_period(found.since)} on are used.")
    said += [
        f"{_period(each.period)} has begun and holds {_amount(each.held)}: it is not projected below that."
        for each in found.steps
        if each.held is not None
    ]
    if found.not_negative and any(each.low == 0 for each in found.steps):
        said.append("It is cut off at zero, as no value was below.")
    return said


def outlier_sentences(found: Outliers) -> list[str]:
    """Which periods are outliers, how they were found, and how many chance alone would give."""
    against = ["the trend"]
    if found.season > 1:
        against.insert(0, f"the same {_PLACES[found.season]}")
    if found.is_yearly and found.season != _MONTHS:
        against.append("the same time of other years")
    counted = f"{_count(found.checked, f'full {found.unit}')} were compared with {_FORMATS.listed(against)}"
    if found.is_irregular:
        return [f"No outliers: so many values lie far off that none stands out. {counted}."]
    high = [each for each in found.found if each.is_high]
    low = [each for each in found.found if not each.is_high]
    parts = [f"high: {_named(high)}"] * bool(high) + [f"low: {_named(low)}"] * bool(low)
    said = f"Outliers, {'; '.join(parts)}." if parts else "No outliers."
    return [said, f"{counted}; by chance about {found.by_chance:.1g} would lie so far off."]


def _named(outliers: Sequence[Outlier]) -> str:
    named = [
        f"{_period(each.period)} ({_amount(each.value)}, usually {_amount(each.low)} to {_amount(each.high)})"
        for each in outliers[:_NAMED]
    ]
    return _FORMATS.listed(named, len(outliers) - len(named))


def _count(count: int, unit: CalendarUnit | str) -> str:
    return f"{_FORMATS.count(count)} {unit}{'' if count == 1 else 's'}"


def _error(of: MethodError) -> str:
    if of.share is not None and of.share < _LARGEST_SHARE:
        return _FORMATS.percent(Decimal(f"{of.share:.6g}"))
    return _amount(Decimal(f"{of.absolute:.3g}"))
