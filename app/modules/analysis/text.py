"""The built-in analysis: a few plain sentences computed from the rows, without a model."""

from collections.abc import Sequence
from decimal import Decimal

from pydantic import JsonValue

from app.modules.analysis.figures import Direction, Figures, NumericColumn
from app.modules.analysis.figures.calendar import Period
from app.modules.analysis.figures.course import Course, Partial, PeriodValue
from app.modules.analysis.figures.names import is_calendar_or_key, is_numeric
from app.modules.analysis.figures.numbers import exact
from app.modules.analysis.figures.ranking import RankedValue, Ranking, led, named_cell
from app.modules.analysis.words import amount, change, label, share, title
from app.modules.cuts import cut_sentence
from graph.state import Column, Rows

_MAX_SUMMARY = 300
_SUMMARY_ROWS = 3
_NAMED = 3
_NAMED_COLUMNS = 8
_SPREADS = 3
_LISTED_SPREADS = 2
_NO_ROWS = (
    "No rows match. If there should be some, check the filters: a value may be spelled otherwise, or the "
    "period be empty."
)


def describe(rows: Rows, found: Figures) -> str:
    """Describe the rows in a few sentences of Markdown; a notice comes first when rows are missing."""
    sentences = _sentences(rows, found) or ([_counted(rows)] if rows["rows"] else [])
    return " ".join(filter(None, [cut_notice(rows, found), *sentences]))


def cut_notice(rows: Rows, found: Figures) -> str:
    """The sentence that opens an analysis of a partial result; empty when all rows are at hand."""
    at_hand = len(rows["rows"])
    count = rows["row_count"]
    cut = f"The result was cut off at {count:,} rows" if found.cut else ""
    if at_hand < count:
        only = f"only the first {at_hand:,} of {count:,} rows are at hand: all figures here are of these."
        return f"{cut}, and {only}" if cut else _capital(only)
    if not rows["rows"] and found.cut:
        return "The result was cut off before its first row, which is too large to be kept."
    if rows["truncated"] and not found.cut:
        return cut_sentence(rows)
    return f"{cut}: all figures here are of these rows only." if cut else ""


def results_summary(rows: Rows) -> str:
    """One line about a result for later turns: row count, columns, first rows. Below 300 characters."""
    names = ", ".join(column["name"] for column in rows["columns"])
    head = "; ".join(", ".join(map(label, row)) for row in rows["rows"][:_SUMMARY_ROWS])
    line = f"{rows['row_count']} rows of {names}" + (f": {head}" if head else "")
    return line if len(line) < _MAX_SUMMARY else line[: _MAX_SUMMARY - 2] + "…"


def _sentences(rows: Rows, found: Figures) -> list[str]:
    match found.shape:
        case "empty":
            return [] if found.cut else [_NO_ROWS]
        case "single":
            return _single(rows, found)
        case "list":
            return _listing(rows, found)
        case "measures":
            return [_counted(rows), *_spreads(found)]
        case "series":
            return _series(found)
        case "grouped series":
            return _grouped_series(rows, found)
        case "ranking":
            return _ranking(rows, found)
        case "matrix":
            return _matrix(rows, found)


# One row


def _single(rows: Rows, found: Figures) -> list[str]:
    (row,) = rows["rows"]
    end = _kept_end(found)
    if found.main is not None and found.label is not None and found.limit == 1 and end is not None:
        return [*_first_of_all(row, rows["columns"], found, main=found.main, end=end), *_partial(found)]
    pairs = [_pair(cell, column) for cell, column in zip(row, rows["columns"], strict=True)]
    more = _more_columns(len(pairs))
    named = _capital(", ".join(pairs[:_NAMED_COLUMNS]))
    sentences = [f"**{named}**{more}{'.' if more else ''}"]
    if all(cell is None for cell in row):
        sentences.append("There was no value to compute it from.")
    return [*sentences, *_partial(found)]


def _first_of_all(
    row: Sequence[JsonValue],
    columns: Sequence[Column],
    found: Figures,
    *,
    main: NumericColumn,
    end: Direction,
) -> list[str]:
    """Sentences on the single row of a statement with LIMIT 1; a group is named by all its dimensions."""
    value = _cell(row[main.column], columns[main.column])
    by = list(found.dimensions) or [at for at in (found.label,) if at is not None]
    name = " / ".join(named_cell(row[at], columns[at]) for at in by)
    picked = f"Of the at most {found.within:,} rows picked before, " if found.within is not None else ""
    sentences = [f"{picked}**{name}** has {_superlative(main, end)}: {value}."]
    others = [at for at in range(len(columns)) if at not in (*by, main.column)]
    if others:
        named = ", ".join(_pair(row[at], columns[at]) for at in others[:_NAMED_COLUMNS])
        sentences.append(f"{_capital(named)}.")
    if isinstance(row[main.column], int) or main.kind == "plain":
        sentences.append("The statement keeps one row, so a tie would not show.")
    return sentences


def _partial(found: Figures) -> list[str]:
    """A sentence for each period that the data covers only in part."""
    return [f"{partial.period} is partial: {_why(partial)}." for partial in found.partial]


def _why(partial: Partial) -> str:
    begun = {"begins": "the data begins on", "ends": "the data ends on", "running": "it still runs on"}
    return f"{begun[partial.reason]} {partial.day}"


def _kept_end(found: Figures) -> Direction | None:
    """The end of the scale that the statement sorts first; None if the question asks for the other end."""
    if found.sorted_descending is None:
        return None
    kept: Direction = "highest" if found.sorted_descending else "lowest"
    return kept if found.direction in (None, kept) else None


# Rows without a measure in question


def _listing(rows: Rows, found: Figures) -> list[str]:
    known = [measure for measure in found.measures if is_numeric(measure.name)]
    return [_counted(rows), *_by_date(rows, found), *map(_spread, known[:_LISTED_SPREADS])]


def _by_date(rows: Rows, found: Figures) -> list[str]:
    """A sentence on the first and the last row of a list that is sorted by a date."""
    by = found.sorted_by
    name = found.label
    if by is None or name is None or by == name or rows["columns"][by]["type"] not in ("date", "datetime"):
        return []
    (start, first), (end, last) = [(row[name], row[by]) for row in (rows["rows"][0], rows["rows"][-1])]
    if first is None or last is None or first == last:
        return []
    column = rows["columns"][by]
    extreme = "latest" if found.order_descending else "earliest"
    leads = f"**{label(start)}** has the {extreme} {title(column['name'])}: {_cell(first, column)}"
    if found.within is not None:
        leads = f"Of the rows shown, {leads}"
    return [f"{leads}; {label(end)} is last of the {rows['row_count']:,} shown with {_cell(last, column)}."]


def _counted(rows: Rows) -> str:
    names = [title(column["name"]) for column in rows["columns"]]
    named = ", ".join(names[:_NAMED_COLUMNS]) + _more_columns(len(names))
    count = rows["row_count"]
    return f"{count:,} {'row' if count == 1 else 'rows'} with {named}."


def _more_columns(count: int) -> str:
    more = count - _NAMED_COLUMNS
    return f" and {more} more {'column' if more == 1 else 'columns'}" if more > 0 else ""


def _spreads(found: Figures) -> list[str]:
    return [_spread(measure) for measure in found.measures[:_SPREADS]]


def _spread(measure: NumericColumn) -> str:
    name = _capital(title(measure.name))
    if measure.minimum == measure.maximum:
        return f"{name} is {amount(measure.minimum)} in all of them.{_missing(measure)}"
    text = f"{name} goes from {amount(measure.minimum)} to {amount(measure.maximum)}"
    average = f", {amount(measure.mean)} on average" if measure.averaged else ""
    return f"{text}{average}.{_missing(measure)}"


def _missing(measure: NumericColumn) -> str:
    return (
        f" {measure.missing:,} {_rows(measure.missing)} no {title(measure.name)}." if measure.missing else ""
    )


def _rows(count: int) -> str:
    return "row has" if count == 1 else "rows have"


# One label, or two


def _ranking(rows: Rows, found: Figures) -> list[str]:
    main = found.main
    ranking = found.ranking
    if main is None or ranking is None:
        return []
    others = [sentence for other in found.measures[1:_SPREADS] for sentence in _led(rows, found, other)]
    return [*_ends(rows, found, main, ranking=ranking), *_partial(found), *_nulls(ranking, main), *others]


def _led(rows: Rows, found: Figures, measure: NumericColumn) -> list[str]:
    """A sentence on the label with the highest value of another measure."""
    by = [at for at in (found.label, found.group) if at is not None]
    leaders = led(rows, measure.values, by, additive=measure.additive, summed=found.summed)
    if not leaders:
        return []
    of = f" of the {len(rows['rows']):,} shown" if found.limit is not None else ""
    value = amount(leaders[0].value)
    return [f"By {title(measure.name)}, {_plain(leaders)} {_are(leaders)} highest{of} with {value}."]


def _ends(rows: Rows, found: Figures, main: NumericColumn, *, ranking: Ranking) -> list[str]:
    """Sentences on the end of the ranking asked for, on the entry next to it, and on the other end."""
    if len(ranking) == 1:
        (only,) = ranking.highest
        return [f"**{only.label}** has {title(main.name)} {amount(only.value)}."]
    if ranking.maximum == ranking.minimum:
        of = " shown" if found.limit is not None else ""
        return [f"All {len(ranking):,}{of} have the same {title(main.name)}: {amount(ranking.maximum)}."]
    rising = _begins_low(found)
    leaders, others = (ranking.lowest, ranking.highest) if rising else (ranking.highest, ranking.lowest)
    end: Direction = "lowest" if rising else "highest"
    shown = found.limit is not None and (_kept_end(found) != end or found.within is not None)
    best = f"{_superlative(main, end)}{_over(found, ranking)}: {amount(leaders[0].value)}"
    first = f"{_bold(leaders)} {_have(leaders)} {best}"
    sentences = [f"{_among(rows, ranking)}, {first}" if shown else first]
    sentences[0] += f"{_share(found, main, ranking, leader=leaders[0])}."
    after = ranking.after(leaders, rising=rising)
    if after and after[0].value != others[0].value:
        sentences.append(
            f"{_plain(after)} {'follows' if len(after) == 1 else 'follow'} with {amount(after[0].value)}."
        )
    other = "highest" if rising else "lowest"
    of = f" of the {len(ranking):,} shown" if found.limit is not None else ""
    sentences.append(f"{_plain(others)} {_are(others)} {other}{of} with {amount(others[0].value)}.")
    return sentences


def _over(found: Figures, ranking: Ranking) -> str:
    """The phrase that says over which periods or rows a sum was taken; empty if it is clear."""
    if not ranking.summed:
        return ""
    if found.course is not None:
        count = len(found.course.points)
        return f" over the {count:,} {found.course.unit}{'' if count == 1 else 's'}"
    return "" if found.grouped else ", summed over its rows"


def _begins_low(found: Figures) -> bool:
    if found.direction is not None:
        return found.direction == "lowest"
    return found.limit is not None and found.sorted_descending is False


def _among(rows: Rows, ranking: Ranking) -> str:
    count = rows["row_count"]
    return f"In the {count:,} rows shown" if ranking.summed else f"Of the {count:,} shown"


def _share(found: Figures, main: NumericColumn, ranking: Ranking, *, leader: RankedValue) -> str:
    if ranking.total is None or main.minimum < 0 or ranking.total <= 0:
        return ""
    part = share(leader.value, ranking.total)
    if found.whole:
        return f", {part} of the total of {amount(ranking.total)}"
    return f", {part} of the total of the {len(ranking):,} shown, {amount(ranking.total)}"


def _nulls(ranking: Ranking, main: NumericColumn) -> list[str]:
    if not ranking.missing:
        return []
    return [f"{ranking.missing:,} {'has' if ranking.missing == 1 else 'have'} no {title(main.name)}."]


def _matrix(rows: Rows, found: Figures) -> list[str]:
    main = found.main
    ranking = found.ranking
    second = found.second
    if main is None or ranking is None:
        return []
    sentences = _ends(rows, found, main, ranking=ranking)
    if second is not None and found.label is not None and found.group is not None and len(second) > 1:
        by = title(rows["columns"][found.group]["name"])
        leader = second.highest
        sentences.append(
            f"By {by}, {_plain(leader)} {'leads' if len(leader) == 1 else 'lead'} with "
            f"{amount(leader[0].value)}{_share_of(second, main, leader[0])}."
        )
    return [*sentences, *(_partial(found) if not found.periods else []), *_nulls(ranking, main)]


def _share_of(ranking: Ranking, main: NumericColumn, leader: RankedValue) -> str:
    if ranking.total is None or main.minimum < 0 or ranking.total <= 0:
        return ""
    return f" ({share(leader.value, ranking.total)})"


# Time


def _series(found: Figures) -> list[str]:
    main = found.main
    course = found.course
    if main is None or course is None:
        return []
    if len(course.points) == 1:
        (point,) = course.points
        return [f"{_capital(title(main.name))} is {amount(point.value)} in {point.period}."]
    sentences = _course_of(found, main, course)
    if found.months is not None and len(found.months.full) > 1:
        sentences += [_by_months(main, found.months)]
    sentences += _yearly(main, found.months or course)
    sentences += _total(found, main, course)
    sentences += [text for other in found.measures[1:_SPREADS] for text in _also_moved(other, found, course)]
    return [*sentences, *_gaps(found, course), *_missing_points(main)]


def _course_of(found: Figures, main: NumericColumn, course: Course) -> list[str]:
    """Sentences on change and extremes; the extremes come first when the question asks for one."""
    moved = _moved(main, course)
    extremes = _extremes(main, course, found.direction)
    return [*moved, *extremes] if found.direction is None else [*extremes, *moved]


def _moved(main: NumericColumn, course: Course, of_all: str = "") -> list[str]:
    """Sentences on the change from the first to the last full period; partial ones are only named."""
    name = _capital(f"{of_all}{title(main.name)}")
    full = course.full
    left_out = [_left_out(course, partial) for partial in course.partial]
    if len(full) < 2:
        only = [f"The only full {course.unit} is {_at_period(point)}." for point in full]
        return [*left_out, *(only or [f"There is no full {course.unit} to compare."])]
    first = full[0]
    last = full[-1]
    if first.value == last.value:
        text = f"{name} is {amount(first.value)} both in {first.period} and in {last.period}"
    else:
        direction = "rose" if last.value > first.value else "fell"
        text = f"{name} {direction} from {_at(first)} to {_at(last)}{_relative(first, last)}"
    whole = f", the first and the last full {course.unit}" if course.partial else ""
    return [f"{text}{whole}.", *left_out]


def _also_moved(other: NumericColumn, found: Figures, course: Course) -> list[str]:
    """A sentence on another measure's change between the first and last full period."""
    if len(course.full) < 2:
        return []
    values = dict(zip(found.periods, other.values, strict=True))
    start = course.full[0].period
    end = course.full[-1].period
    first = values.get(start)
    last = values.get(end)
    if first is None or last is None or first == last:
        return []
    direction = "rose" if last > first else "fell"
    between = f"from {_at(PeriodValue(start, first))} to {_at(PeriodValue(end, last))}"
    relative = f", {change(first, last)}" if first > 0 else ""
    return [f"{_capital(title(other.name))} {direction} {between}{relative}."]


def _at(point: PeriodValue) -> str:
    return f"{amount(point.value)} ({point.period})"


def _relative(first: PeriodValue, last: PeriodValue) -> str:
    return f", {change(first.value, last.value)}" if first.value > 0 else ""


def _left_out(course: Course, partial: Partial) -> str:
    (point,) = [each for each in course.points if each.period == partial.period]
    return f"{_at_period(point)} is partial and left out: {_why(partial)}."


def _at_period(point: PeriodValue) -> str:
    return f"{point.period} ({amount(point.value)})"


def _extremes(main: NumericColumn, course: Course, asked: Direction | None) -> list[str]:
    """A sentence on the highest and lowest full period; the one that the question asks for comes first."""
    peaks = course.peaks
    troughs = course.troughs
    high = amount(peaks[0].value)
    low = amount(troughs[0].value)
    if high == low:
        return []
    full = f" full {course.unit}" if course.partial and course.full else ""
    if asked is None:
        are = ["is" if len(points) == 1 else "are" for points in (peaks, troughs)]
        lowest = f"the lowest{'' if are[0] == are[1] else f' {are[1]}'} {_when(troughs)} with {low}"
        return [f"The highest{full} {are[0]} {_when(peaks)} with {high}, {lowest}."]
    (led, value), (rest, other) = ((peaks, high), (troughs, low))
    if asked == "lowest":
        (led, value), (rest, other) = (rest, other), (led, value)
    have = "has" if len(led) == 1 else "have"
    of = f" of the{full}s" if full else ""
    opposite = "lowest" if asked == "highest" else "highest"
    first = f"**{_when(led)}** {have} {_superlative(main, asked)}{of}: {value}"
    return [f"{first}; the {opposite} is {other} ({_when(rest)})."]


def _when(points: Sequence[PeriodValue]) -> str:
    return _listed([str(point.period) for point in points])


def _by_months(main: NumericColumn, months: Course) -> str:
    first = months.full[0]
    last = months.full[-1]
    if first.value == last.value:
        return f"By full months, it is {amount(first.value)} in {first.period} and in {last.period}."
    direction = "rose" if last.value > first.value else "fell"
    return (
        f"By full months, it {direction} from {_at(first)} to {_at(last)}{_relative(first, last)}; "
        f"the highest month is {_when(months.peaks)} with {amount(months.peaks[0].value)}."
    )


def _yearly(main: NumericColumn, course: Course) -> list[str]:
    """Sentences on the latest two years of full periods: their sums, and the extremes they share."""
    year = course.year
    sentences = list[str]()
    if year is None:
        return []
    length = 12 if course.unit == "month" else 4
    if year.latest is not None and year.before is not None:
        compared = f", {change(year.before, year.latest)} on the {length} before" if year.before > 0 else ""
        sentences.append(
            f"The {length} {course.unit}s to {year.last} sum to {amount(year.latest)}{compared}."
        )
    shared = [
        f"{_of_the_year(period)} is the {end} {course.unit}"
        for end, period in (("highest", year.high), ("lowest", year.low))
        if period is not None
    ]
    if shared:
        text = f"{' and '.join(shared)} in both of the latest 2 years of {length} full {course.unit}s."
        sentences.append(text)
    return sentences


def _of_the_year(period: Period) -> str:
    return f"{period.start:%B}" if period.unit == "month" else f"Q{(period.start.month + 2) // 3}"


def _total(found: Figures, main: NumericColumn, course: Course) -> list[str]:
    if not main.adds_over_time or len(course.points) < 2:
        return []
    total = amount(sum((point.value for point in course.points), Decimal(0)))
    count = f"{len(course.points):,} {course.unit}s"
    return [f"The total of the {count} {'is' if found.whole else 'shown is'} {total}."]


def _gaps(found: Figures, course: Course) -> list[str]:
    """A sentence on periods without a row. Missing days count only if the statement groups rows."""
    if not course.gaps or not (found.grouped or course.unit != "day"):
        return []
    count = len(course.gaps)
    named = _listed([str(gap) for gap in course.gaps])
    return [f"{count:,} {course.unit}{' has' if count == 1 else 's have'} no row: {named}."]


def _missing_points(main: NumericColumn) -> list[str]:
    return [_missing(main).strip()] if main.missing else []


def _grouped_series(rows: Rows, found: Figures) -> list[str]:
    main = found.main
    ranking = found.ranking
    course = found.course
    if main is None or ranking is None:
        return []
    sentences = _ends(rows, found, main, ranking=ranking)
    if course is not None and len(course.points) > 1:
        sentences += _moved(main, course, "all together, ")
        sentences += _extremes(main, course, None)
        sentences += _yearly(main, course)
    return [*sentences, *(_gaps(found, course) if course else _partial(found)), *_missing_points(main)]


# Words


def _superlative(main: NumericColumn, end: Direction) -> str:
    name = title(main.name)
    things = name.removeprefix("number of ")
    if main.kind in ("count", "distinct") and things.endswith("s"):
        return f"the {'most' if end == 'highest' else 'fewest'} {things}"
    return f"the {end} {name}"


def _bold(entries: Sequence[RankedValue]) -> str:
    return _listed([f"**{entry.label}**" for entry in entries])


def _plain(entries: Sequence[RankedValue]) -> str:
    return _listed([entry.label for entry in entries])


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _have(entries: Sequence[RankedValue]) -> str:
    return "has" if len(entries) == 1 else "share"


def _are(entries: Sequence[RankedValue]) -> str:
    return "is" if len(entries) == 1 else "are"


def _pair(cell: JsonValue, column: Column) -> str:
    return f"{title(column['name'])}: {_cell(cell, column)}"


def _cell(cell: JsonValue, column: Column) -> str:
    value = exact(cell) if column["type"] in ("integer", "number") else None
    return label(cell) if value is None or is_calendar_or_key(column["name"]) else amount(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
