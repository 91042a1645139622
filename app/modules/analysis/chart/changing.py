"""A reader's choice applied to the proposed plan of a picture."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.values.numbers import as_double
from app.modules.analysis.chart.choice import NO_SERIES, ChartChoice, ChosenMark, ChosenValue, Sort
from app.modules.analysis.chart.plan import NotDrawable, Plan
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.figures.aggregates import Aggregate
from app.modules.analysis.figures.calendar import UNITS, CalendarUnit

_OF_SERIES: Sequence[ChosenMark] = ("stacked", "percent", "heat")
_OF_PARTS: Sequence[ChosenMark] = ("arc", "percent")
_OF_ONE_SERIES: Sequence[ChosenMark] = ("arc", "combo", "histogram", "point", "map")
_COMPUTED: Sequence[ChosenMark] = ("line", "area", "bar")
_TAKEN_OVER = ("limit", "share", "labels", "color", "format", "unit", "title", "computed")


def change(plan: Plan | None, choice: ChartChoice, table: ChartTable) -> Plan:
    """The plan with what a reader has chosen; None is for rows that no picture was proposed for.

    Raises `NotDrawable` with the reason and a cure.
    """
    if not table.rows["rows"]:
        raise NotDrawable("There are no rows to draw.")
    _check_columns(choice, table)
    base = plan or _plain(choice, table)
    mark = choice.mark or _usual_mark(base, choice, table)
    across = _across(base, choice, table, mark=mark)
    if (choice.computed or base.computed) is not None:
        _check_time_axis(across, table)
    values = _values(base, choice, table, mark=mark, across=across)
    series = _series(base, choice, table, mark=mark, across=across, several=len(values) > 1)
    time = _time(base, choice, table, across=across)
    values = [_together(each, table, mark=mark, across=across, series=series, time=time) for each in values]
    changed = replace(
        base,
        mark=mark,
        across=across,
        values=values,
        series=series,
        time=time,
        sort=choice.sort or _sort(base, across, values[0], table=table),
        facet=base.facet and series is not None if choice.facet is None else choice.facet,
        refused=base.refused if choice.mark is None else "",
        **{name: given for name in _TAKEN_OVER if (given := getattr(choice, name)) is not None},
    )
    _check(changed, choice, table)
    return changed


def _check_columns(choice: ChartChoice, table: ChartTable) -> None:
    chosen = [choice.across, choice.series, *(each.column for each in choice.values or ())]
    for at in chosen:
        if at is not None and at >= table.width:
            raise NotDrawable(f"There is no column {at}: the result has {table.width}, counted from 0.")
    for value in choice.values or ():
        if value.how != "count" and not table.has_numbers(value.column):
            raise NotDrawable(
                f"{_named(value.column, table)} has no numbers. Choose another column, or count its rows."
            )


def _plain(choice: ChartChoice, table: ChartTable) -> Plan:
    """A plan for rows without a proposal: their times or names, and the first numbers."""
    across = choice.across if choice.across is not None else table.names_time()
    if across is None:
        across = next((at for at in range(table.width) if not table.is_numeric(at)), 0)
    numbers = [at for at in table.numbers() if at != across]
    value = ChosenValue(column=numbers[0]) if numbers else ChosenValue(column=across, how="count")
    return Plan(
        mark="line" if table.is_timed(across) and numbers else "bar",
        across=across,
        values=[value],
        time=table.unit(across),
        sort="value" if value.how == "count" else "rows",
    )


def _usual_mark(base: Plan, choice: ChartChoice, table: ChartTable) -> ChosenMark:
    """The mark of the plan, unless other columns are chosen that it does not suit."""
    across = base.across if choice.across is None else choice.across
    if across is None:
        return base.mark
    if choice.computed is not None and base.mark not in _COMPUTED:
        return "line"
    if across != base.across or base.mark == "histogram":
        is_timed = table.is_timed(across)
        if base.mark in ("line", "area", "combo", "histogram", "map") and not is_timed:
            return "bar"
        if base.mark in ("bar", "histogram", "map", "arc") and is_timed:
            return "line"
    if base.mark in _OF_SERIES and choice.series == NO_SERIES and base.series is not None:
        return "bar"
    return base.mark


def _across(base: Plan, choice: ChartChoice, table: ChartTable, *, mark: ChosenMark) -> int | None:
    if mark == "histogram":
        return None
    if choice.across is not None:
        return choice.across
    values = [each.column for each in choice.values or base.values]
    if mark == "point" and base.mark != "point":
        other = next((at for at in table.numbers() if at not in values), None)
        if other is not None:
            return other
    if base.across is not None and base.across not in values and (mark == "point" or base.mark != "point"):
        return base.across
    fitting = [table.names_time(), *(at for at in range(table.width) if not table.is_numeric(at))]
    return next((at for at in fitting if at is not None), base.across or 0)


def _values(
    base: Plan, choice: ChartChoice, table: ChartTable, *, mark: ChosenMark, across: int | None
) -> list[ChosenValue]:
    proposed = [each for each in base.values if each.column != across or each.how == "count"]
    values = [*(choice.values or proposed)]
    numbers = [at for at in table.numbers() if at != across]
    if not values:
        values = [ChosenValue(column=at) for at in numbers[:1]]
    if not values:
        raise NotDrawable("There is no second column of numbers. Choose another column across.")
    if mark == "combo" and len(values) < 2:
        used = values[0].column
        values += [ChosenValue(column=at) for at in numbers if at != used][:1]
        if len(values) < 2:
            raise NotDrawable("Two panels need two columns of numbers, and there is one.")
    if mark in ("arc", "heat", "histogram", "map") or choice.computed is not None:
        return values[:1]
    return values


def _series(
    base: Plan,
    choice: ChartChoice,
    table: ChartTable,
    *,
    mark: ChosenMark,
    across: int | None,
    several: bool,
) -> int | None:
    chosen = base.series if choice.series is None else choice.series
    needs = mark in _OF_SERIES and not (several and mark != "heat")
    if mark in _OF_ONE_SERIES and not (mark == "point" and choice.series is not None):
        chosen = NO_SERIES
    if mark == base.mark == "percent" and choice.across is None:
        needs = False
    if (several and not needs) or chosen in (NO_SERIES, across):
        chosen = None
    wants_facets = choice.facet is True and choice.series != NO_SERIES
    if chosen is None and ((needs and choice.series != NO_SERIES) or wants_facets) and not several:
        chosen = next((at for at in table.colours() if at != across), None)
    if chosen is None and needs and mark != "percent":
        kind = "A heat map" if mark == "heat" else "A stack of bars"
        raise NotDrawable(f"{kind} needs a second column of names. Choose one as the series.")
    return chosen


def _time(base: Plan, choice: ChartChoice, table: ChartTable, *, across: int | None) -> CalendarUnit | None:
    """The unit of the periods: never finer than that of the rows."""
    if across is None:
        return None
    own = table.unit(across)
    if choice.time is None:
        return base.time if across == base.across else own
    if own is None:
        raise NotDrawable(
            f"{_named(across, table)} has no days, weeks, months or years that could be put together. "
            "Choose a column that has."
        )
    if UNITS.index(choice.time) < UNITS.index(own):
        raise NotDrawable(
            f"{_named(across, table)} has {own}s: they cannot be split into {choice.time}s. "
            "Choose a coarser unit, or ask for one."
        )
    return choice.time


def _together(
    value: ChosenValue,
    table: ChartTable,
    *,
    mark: ChosenMark,
    across: int | None,
    series: int | None,
    time: CalendarUnit | None,
) -> ChosenValue:
    """The value with the way its rows become one. None where each place has one row."""
    if mark in ("histogram", "point") or across is None:
        return value if value.how == "count" else _set_how(value, None)
    if value.how == "count":
        return value
    # A heat map places rows by their names: those of a year beside a column of months have one place.
    has_repeats = table.repeats(across, series, None if mark == "heat" else time)
    if value.how == "none" and has_repeats:
        raise NotDrawable(
            f"Several rows have the same {table.name(across)}. Choose how they become one, or a series."
        )
    if not has_repeats:
        return _set_how(value, None)
    if value.how in (None, "none"):
        return _set_how(value, "sum" if table.adds(value.column, across=across) else "mean")
    return value


def _set_how(value: ChosenValue, how: Aggregate | None) -> ChosenValue:
    return value.model_copy(update={"how": how})


def _sort(base: Plan, across: int | None, value: ChosenValue, *, table: ChartTable) -> Sort:
    if across == base.across or across is None or table.is_timed(across):
        return base.sort
    return "rows" if value.how is None else "value"


def _check(plan: Plan, choice: ChartChoice, table: ChartTable) -> None:
    """Raises `NotDrawable` for a plan that would mislead."""
    is_timed = plan.across is not None and table.is_timed(plan.across)
    if plan.computed is not None:
        _check_computed(plan)
    if plan.mark in ("line", "area") and not is_timed and not plan.is_ordered_lines:
        raise NotDrawable("Lines are drawn over time. Choose a column of times across, or bars.")
    if plan.mark == "combo" and not is_timed:
        raise NotDrawable("Two panels share an axis of time. Choose a column of times across.")
    if plan.share and plan.mark in ("histogram", "point", "map", "combo", "heat"):
        raise NotDrawable("Shares of a total are drawn as bars, lines, areas or a pie. Choose one of these.")
    if plan.mark in _OF_PARTS or plan.share:
        _check_parts(plan, table)
    if plan.mark in ("stacked", "area") and (plan.series is not None or len(plan.values) > 1):
        _check_sums(plan, table, "Values on top of each other are read as a total")
    if plan.facet and plan.series is None:
        raise NotDrawable("Small pictures need a series. Choose a column of names for it.")
    if choice.color is not None and (plan.series is not None or len(plan.values) > 1):
        raise NotDrawable("A colour of your own is for a chart without series. Choose no series.")
    if choice.limit is not None and is_timed and plan.series is None:
        raise NotDrawable("A limit is for names, and there are only periods. Choose a series, or names.")


def _check_parts(plan: Plan, table: ChartTable) -> None:
    _check_sums(plan, table, "Shares are parts of a whole")
    for value in plan.values:
        if value.how == "count":
            continue
        numbers = [found for cell in table.cells(value.column) if (found := as_double(cell)) is not None]
        if any(each < 0 for each in numbers) or not any(numbers):
            raise NotDrawable(
                f"Shares are parts of a whole, and values of {table.name(value.column)} are not all above "
                "zero. Choose bars."
            )


def _check_sums(plan: Plan, table: ChartTable, why: str) -> None:
    for value in plan.values:
        adds = table.adds(value.column, across=None if value.how is None else plan.across)
        if value.how not in ("sum", "count") and not (value.how is None and adds):
            cause = (
                f"values of {table.name(value.column)} cannot be added up"
                if value.how is None
                else f"a {value.how} is none"
            )
            raise NotDrawable(f"{why}, and {cause}. Choose bars or lines.")


def _check_time_axis(across: int | None, table: ChartTable) -> None:
    if across is None or not table.is_timed(across):
        name = "This" if across is None else _named(across, table)
        raise NotDrawable(f"{name} is no time axis. Choose a column of days, weeks, months or years.")


def _check_computed(plan: Plan) -> None:
    if plan.series is not None:
        raise NotDrawable("This is computed for one series. Choose no series.")
    if plan.mark not in _COMPUTED:
        raise NotDrawable("This is computed for lines, areas and bars. Choose one of these.")
    if plan.share:
        raise NotDrawable("This is computed for values, not for shares. Choose one of both.")


def _named(at: int, table: ChartTable) -> str:
    name = table.name(at)
    return name[:1].upper() + name[1:]
