"""The plan that the shape of the rows and the wording of the question propose."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.core.language import language_of
from app.core.values.numbers import as_double
from app.modules.analysis.chart.choice import ChosenMark, ChosenValue, Sort
from app.modules.analysis.chart.kinds import MAX_SERIES
from app.modules.analysis.chart.leaders import MOST_NAMES, band_of, clock_minutes, weekday_number
from app.modules.analysis.chart.plan import Plan
from app.modules.analysis.chart.table import ChartTable
from app.modules.analysis.chart.timeline import MOST_PLACES
from app.modules.analysis.chart.world_map import are_places
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.aggregates import Aggregate
from app.modules.analysis.figures.calendar import month_number
from app.modules.analysis.figures.names import is_key
from app.modules.analysis.figures.requested_measures import is_named_whole, naming
from app.modules.analysis.formats import unit_of_column
from app.modules.analysis.words import title

_WISHES: Sequence[tuple[str, ChosenMark]] = (
    (r"\bpie\b|\bdonut\b|\bdoughnut\b|kreisdiagramm|tortendiagramm|camembert|gráfico circular", "arc"),
    (r"\bscatter|streudiagramm|dispersión|nuage de points", "point"),
    (r"\bhistogram", "histogram"),
    (r"\bheat ?map|mapa de calor|carte de chaleur", "heat"),
    (r"\b(?:on|as|in) (?:a|the) (?:world )?map\b|\bworld map\b|\bmap of\b", "map"),
    (r"(?:land|welt)karte|\b(?:auf|in) (?:einer|der) karte\b|\bals karte\b", "map"),
    (r"\b(?:sur|comme) une carte\b|\bcarte du monde\b", "map"),
    (r"\b(?:en (?:un|el)|como(?: un)?) mapa\b|\bmapamundi\b", "map"),
    (r"\bstacked\b|gestapelt|apilad|empilé", "stacked"),
    (r"\bline (?:chart|graph)|\bas a line\b|liniendiagramm|gráfico de líneas|courbe", "line"),
    (r"\bbars?\b|\bbar chart|\bcolumns? chart|balken|säulen|\bbarras\b|\bbarres\b", "bar"),
)
_PARTS = re.compile(
    r"\bshares?\b|\bproportions?\b|\bsplit\b|\bbreakdown\b|\bmake up\b|\bparts? of\b|\bmix\b|anteil"
    r"|aufteilung|\bproporci|\breparto\b|\bpart de\b|\brépartition\b|percentage of",
    re.IGNORECASE,
)
_RELATED = re.compile(
    r"\bcorrelat|\brelationship\b|\brelation\b|\bversus\b|\bvs\b|\bdepend|zusammenhang|\bcorrél|\brelación\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\byear\b|\bjahr\b|jahr$|\baño\b|\bannée\b")
_LEVELS = ("average", "extreme")
"""Kinds of measures that stay within the values that they are made of."""
_AVERAGE = {"avg", "average", "mean", "durchschnitt", "promedio", "media", "moyenne"}
_MOST_PARTS = 5
_MOST_BESIDE = 12
_MIN_SCATTERED = 8
_MIN_SPREAD = 12
_MIN_DISTINCT = 5
_LEAST_COURSE = 6
_MOST_GROUPS = 4
_MOST_GROUPED_NAMES = 6
_SPARSE = 0.8
_MOST_HOLES = 2
_SATURDAY = 5
_WEEKEND = 3
"""Steps from a Friday to a Monday."""
_ALIKE = 20
"""Values of one unit share an axis if the largest of one is at most so many times that of the other."""
_MOST_BARS = 3
_STEPS = re.compile(
    r"\b(?:step|stage|phase|schritt|stufe|paso|etapa|étape|period|zeitraum|periode|periodo|période)$"
)
_RUNNING = re.compile(r"\b(?:cumulative|running|cumul\w*|kumuliert\w*|laufende\w*|acumulad\w*)\b")


def propose(question: str, table: ChartTable) -> Plan | None:
    """Return None when a picture would say no more than the figures or the table."""
    wish = next((mark for pattern, mark in _WISHES if re.search(pattern, question.lower())), None)
    found = table.found
    main = found.main
    if main is None or len(table.rows["rows"]) < 2 or main.count < 2:
        return None
    if _RELATED.search(question) and wish is None and len(found.measures) > 1 and found.time is None:
        wish = "point"
    if found.shape == "list" and wish is None:
        return None
    if wish is None and _are_years(main):
        return None
    plan = _proposed(question, table, main, wish=wish)
    if plan is None:
        return None
    asked = [each.column for each in found.measures if is_named_whole(question, each.name)]
    return replace(plan, asked=asked, language=language_of(question))


def _proposed(
    question: str, table: ChartTable, main: NumericColumn, *, wish: ChosenMark | None
) -> Plan | None:
    found = table.found
    if found.time is not None:
        return _over_time(question, table, main, time=found.time, wish=wish)
    moments = _moments(table)
    if moments is not None:
        mark: ChosenMark = "bar" if wish == "bar" else "line"
        return Plan(mark=mark, across=moments, values=[ChosenValue(column=main.column)])
    if wish == "histogram" or (found.label is None and len(found.measures) == 1):
        return _histogram(main)
    if found.label is None or (wish == "point" and len(found.measures) > 1):
        return _points(table)
    if found.group is not None:
        return _by_two(question, table, main, wish=wish)
    return _by_name(question, table, main, label=found.label, wish=wish)


def _over_time(
    question: str, table: ChartTable, main: NumericColumn, *, time: int, wish: ChosenMark | None
) -> Plan | None:
    found = table.found
    unit = table.unit(time)
    series = found.label if found.label != time else None
    periods = len(table.times(time, unit))
    if periods == 1 and series is not None:
        return _by_name(question, table, main, label=series, wish=wish)
    values = [ChosenValue(column=main.column)]
    if table.repeats(time, series, unit):
        if not (main.additive and main.adds_over_time):
            return None
        values = [ChosenValue(column=main.column, how="sum")]
    is_cohort = series is not None and _is_count(table, series)
    # A heat map places rows by their names: those of a year beside a column of months have one place.
    if wish in (None, "heat") and is_cohort and (values[0].how or not table.repeats(time, series, None)):
        return Plan(mark="heat", across=series, values=values, series=time, sort="natural")
    mark: ChosenMark = "line"
    if wish in ("bar", "stacked"):
        adds = series is None or main.additive
        mark = "bar" if series is None else "stacked" if adds else "line"
    elif series is None and values[0].how is None:
        together, others = _beside(question, found, main)
        values += [ChosenValue(column=each.column) for each in others]
        mark = "line" if together else "combo"
        is_few = periods == 2 and unit is not None  # two points of a line say no more than their slope
        if wish is None and not others and (is_few or _is_sparse(table, main, time)):
            mark = "bar"
    return Plan(mark=mark, across=time, values=values, series=series, time=unit)


def _is_sparse(table: ChartTable, main: NumericColumn, time: int) -> bool:
    """True for sums over time that lack rows again and again: their lines would be splinters."""
    periods = sorted({each for each in table.periods(time) or () if each is not None})
    if len(periods) < 2 or not (main.additive and main.adds_over_time):
        return False
    steps = [before.steps_to(after) for before, after in pairwise(periods)]
    is_of_weekdays = periods[0].unit == "day" and max(each.start.weekday() for each in periods) < _SATURDAY
    holes = sum(step > (_WEEKEND if is_of_weekdays else 1) for step in steps)
    places = sum(steps) + 1
    most = places * 5 / 7 if is_of_weekdays else places
    return holes > _MOST_HOLES and len(periods) < _SPARSE * most and places <= MOST_PLACES


def _beside(question: str, found: Figures, main: NumericColumn) -> tuple[bool, list[NumericColumn]]:
    """The measures drawn with the main one, and if they share its axis."""
    others = [each for each in found.measures if each is not main and each.count > 1]
    if naming(question, main.name) > 0 and len(others) > 1:
        others = [each for each in others if naming(question, each.name) > 0]
    alike = [each for each in others if _is_alike(main, each)]
    if alike and len(alike) == len(others) and len(others) < MAX_SERIES:
        return True, alike
    different = [each for each in others if not _is_alike(main, each)]
    return not different, different[:1]


def _is_alike(one: NumericColumn, other: NumericColumn) -> bool:
    units = [unit_of_column(each.name, each.known, is_ratio=each.kind == "ratio") for each in (one, other)]
    are_levels = [each.kind in _LEVELS for each in (one, other)]
    if units[0] != units[1] or are_levels[0] != are_levels[1]:
        return False
    if not all(are_levels) and one.is_rate != other.is_rate:
        return False
    if units[0] is None and one.kind != other.kind and not all(are_levels):
        return False
    if units[0] is None and all(are_levels) and not _share_a_word(one, other):
        return False
    sizes = sorted(float(max(abs(each.maximum), abs(each.minimum))) for each in (one, other))
    return sizes[0] > 0 and sizes[1] <= _ALIKE * sizes[0]


def _share_a_word(one: NumericColumn, other: NumericColumn) -> bool:
    words = [{*title(each.name).split()} - _AVERAGE for each in (one, other)]
    return bool(words[0] & words[1])


def _moments(table: ChartTable) -> int | None:
    """The column of times that differ in every row, when no other column names the rows."""
    types = [column["type"] for column in table.rows["columns"]]
    label = table.found.label
    for at in range(len(types)) if label is None else [label]:
        if types[at] in ("date", "datetime"):
            cells = table.cells(at)
            return at if len({each for each in cells if isinstance(each, str)}) == len(cells) else None
    return None


def _histogram(main: NumericColumn) -> Plan | None:
    if main.count < _MIN_SPREAD or len(set(main.known)) < _MIN_DISTINCT:
        return None
    return Plan(mark="histogram", across=None, values=[ChosenValue(column=main.column)])


def _points(table: ChartTable) -> Plan | None:
    """The main measure against the next one; a third is the size, and few names or levels are colours."""
    found = table.found
    if len(found.measures) < 2:
        return None
    levels = [each for each in found.measures if _has_few_levels(each)]
    level = levels[0].column if levels and len(found.measures) - len(levels) >= 2 else None
    main, across, *others = [each for each in found.measures if level is None or each not in levels]
    pairs = sum(x is not None and y is not None for x, y in zip(across.values, main.values, strict=True))
    if pairs < _MIN_SCATTERED:
        return None
    values = [ChosenValue(column=main.column)]
    values += [ChosenValue(column=each.column) for each in others[:1] if each.count and each.minimum >= 0]
    few = [at for at in table.colours() if len({str(cell) for cell in table.cells(at)}) <= MAX_SERIES]
    series = few[0] if few else level
    return Plan(mark="point", across=across.column, values=values, series=series)


def _has_few_levels(measure: NumericColumn) -> bool:
    """True for whole numbers such as a number of doors, in which points would stand in rows."""
    levels = set(measure.known)
    return 1 < len(levels) <= MAX_SERIES and all(value == int(value) for value in levels)


def _by_two(question: str, table: ChartTable, main: NumericColumn, *, wish: ChosenMark | None) -> Plan | None:
    """Two columns of names: grouped bars if both have few, else a heat map with the longer one as lines."""
    found = table.found
    label, group = found.label or 0, found.group or 0
    for name, other in ((label, group), (group, label)):
        if wish is None and _says_of(table, name, other):
            return _by_name(question, table, main, label=name, wish=wish)
    how: Aggregate | None = None
    if table.repeats(label, group, None):
        if not (main.additive and found.summed):
            return None
        how = "sum"
    counts = {at: len({str(cell) for cell in table.cells(at)}) for at in (label, group)}
    if counts[group] > counts[label]:
        label, group = group, label
    values = [ChosenValue(column=main.column, how=how)]
    sort: Sort = "rows" if found.sorted_by is not None else "value"
    adds = main.additive and all(value >= 0 for value in main.known)
    few = counts[group] <= _MOST_GROUPS
    if adds and few and _PARTS.search(question):
        return Plan(mark="percent", across=label, values=values, series=group, sort=sort)
    if adds and counts[group] <= MAX_SERIES and wish == "stacked":
        return Plan(mark="stacked", across=label, values=values, series=group, sort=sort)
    is_small = few and counts[label] <= _MOST_GROUPED_NAMES and wish != "heat"
    if counts[group] <= MAX_SERIES and (is_small or wish == "bar"):
        return Plan(mark="bar", across=label, values=values, series=group, sort=sort)
    # From left to right goes what has an order, else the shorter one.
    across, lines = (label, group) if _has_order(table, label) else (group, label)
    return Plan(mark="heat", across=across, values=values, series=lines, sort=sort)


def _by_name(
    question: str, table: ChartTable, main: NumericColumn, *, label: int, wish: ChosenMark | None
) -> Plan | None:
    found = table.found
    cells = table.cells(label)
    if len({str(cell) for cell in cells}) < 2:
        return None
    repeated = len({str(cell) for cell in cells}) < len(cells)
    how: Aggregate | None = "sum" if repeated and main.additive and found.summed else None
    values = [ChosenValue(column=main.column, how=how)]
    names = len(set(map(str, cells))) if how else len(cells)
    positive = main.additive and main.missing == 0 and main.minimum >= 0 and main.sum > 0
    sort: Sort = "natural" if _has_order(table, label) else "value"
    has_steps = _STEPS.search(table.name(label).lower()) or _RUNNING.search(table.name(main.column).lower())
    if found.sorted_descending is not None or (has_steps and sort == "value"):
        sort = "rows"
    beside = _side_by_side(question, found)
    if beside and how is None and wish in (None, "line") and sort == "natural" and _is_course(table, label):
        return Plan(mark="line", across=label, values=beside, sort=sort)
    if beside and how is None and wish in (None, "bar") and names <= _MOST_BESIDE:
        return Plan(mark="bar", across=label, values=beside, sort=sort)
    refused = ""
    if wish == "arc":
        if positive and names <= MAX_SERIES:
            return Plan(mark="arc", across=label, values=values, sort="value")
        refused = "no adding" if not main.additive else "no parts" if not positive else "many parts"
    if wish is None and positive and found.whole and names <= _MOST_PARTS and _PARTS.search(question):
        return Plan(mark="percent", across=label, values=values, sort="value")
    bars = Plan(mark="bar", across=label, values=values, sort=sort, refused=refused)
    is_cut = found.whole and found.limit is None and names > MOST_NAMES  # bars leave countries out
    if (wish == "map" or (wish is None and is_cut)) and are_places(bars, table):
        return replace(bars, mark="map")
    return replace(bars, refused="no places") if wish == "map" else bars


def _side_by_side(question: str, found: Figures) -> list[ChosenValue]:
    """The measures that the result compares, such as two years, or the few of one kind that are asked for."""
    pair = found.comparison
    if pair is not None:
        compared = [found.measures[pair.before], found.measures[pair.after]]
        return [ChosenValue(column=each.column) for each in compared]
    first, *others = found.measures
    is_asked = all(naming(question, each.name) > 0 for each in found.measures)
    if not others or len(others) >= _MOST_BARS or not is_asked:
        return []
    if not all(_is_alike(first, each) for each in others):
        return []
    return [ChosenValue(column=each.column) for each in found.measures]


def _are_years(main: NumericColumn) -> bool:
    """True for years such as those of a foundation: a bar as long as a year says nothing."""
    is_year = bool(_YEAR.search(title(main.name)))
    return is_year and all(value == int(value) and 1000 <= value <= 2200 for value in main.known)


def _says_of(table: ChartTable, label: int, group: int) -> bool:
    """True if each name has one row, so that the other column only says more of it."""
    names = [str(cell) for cell in table.cells(label)]
    return len(set(names)) == len(names) > len({str(cell) for cell in table.cells(group)})


def _has_order(table: ChartTable, at: int) -> bool:
    """True for names that have an order of their own: numbers, months, weekdays, times of day, bands."""
    cells = [cell for cell in table.cells(at) if cell is not None]
    if table.rows["columns"][at]["type"] == "integer":
        distinct = {as_double(cell) for cell in cells}
        return len(distinct) > 2 and all(value is not None and abs(value) < 1000 for value in distinct)
    texts = {str(cell) for cell in cells}
    if not texts:
        return False
    readings = (weekday_number, month_number, clock_minutes)
    return any(all(read(each) is not None for each in texts) for read in readings) or _are_bands(texts)


def _are_bands(names: set[str]) -> bool:
    """True for names such as "0-17" and "75+" that divide a range of numbers."""
    bands = [band_of(each) for each in names]
    known = sorted(each for each in bands if each is not None)
    if len(known) < len(names) or len(known) < 2:
        return False
    return all(first < last for first, last in known) and all(
        before[1] <= after[0] for before, after in pairwise(known)
    )


def _is_course(table: ChartTable, at: int) -> bool:
    """True for names that are times which come again: months of the year, or times of day."""
    texts = {str(cell) for cell in table.cells(at) if cell is not None}
    return len(texts) >= _LEAST_COURSE and (
        all(month_number(each) is not None for each in texts)
        or all(clock_minutes(each) is not None for each in texts)
    )


def _is_count(table: ChartTable, at: int) -> bool:
    """True for a series of small numbers in sequence, such as months since an order; keys are names."""
    column = table.rows["columns"][at]
    if column["type"] != "integer" or is_key(column["name"]):
        return False
    distinct = {as_double(cell) for cell in table.cells(at)}
    known = {int(each) for each in distinct if each is not None}
    return len(known) == len(distinct) > 2 and max(known) - min(known) < 2 * len(known) and max(known) < 1000
