"""The role of each column of a result: measure, label, group or time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from pydantic import JsonValue

from app.core.values.numbers import as_double
from app.modules.analysis.figures.calendar import Period, month_number, period_of, read_periods
from app.modules.analysis.figures.measure import NumericColumn
from app.modules.analysis.figures.names import (
    calendar_title,
    is_additive,
    is_calendar,
    is_calendar_or_key,
    is_dated,
    is_key,
    is_level,
    is_numeric,
    is_open,
    is_ratio,
    part_of_year,
)
from app.modules.analysis.figures.requested_measures import measure_asked_for, naming
from app.modules.analysis.figures.statement import ColumnKind, Output, StatementReading
from app.modules.analysis.figures.winners import Winners
from app.modules.analysis.words import title
from graph.state import Rows

_NUMBERS = ("integer", "number")
_TIMES = ("date", "datetime")
_ADDED = ("count", "sum")
_COUNTED = ("count", "distinct", "ratio", "change")
_SAMPLE = 200
_MIXED_NUMBERS = 0.8
_CROSSED = 1.5
_TELLING = 0.5


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """The roles of a result's columns, which are zero-based. `measures` has the most important first.

    `time` is the column of `periods`, one for each row. `dimensions` are the columns that name a group.
    `picked_periods` are the periods of the rows, also when they are only a selection and `time` is None.
    `summed` is true when the rows of one label belong together, `asked` when the question or the sort order
    names the first measure. `constants` are the columns that the statement itself fills with a constant,
    `unread_weeks` those of weeks whose numbering is unknown. `winners` is true of rows that have the first
    value of their `group` each, or of their label without one.
    """

    measures: Sequence[NumericColumn]
    label: int | None
    group: int | None
    time: int | None
    periods: Sequence[Period | None]
    dimensions: Sequence[int]
    picked_periods: Sequence[Period | None]
    sorted_by: int | None
    summed: bool
    asked: bool
    constants: frozenset[int] = frozenset()
    winners: bool = False
    unread_weeks: frozenset[int] = frozenset()


def roles_of(
    question: str, statement: StatementReading, rows: Rows, *, keys: frozenset[str] = frozenset()
) -> ColumnRoles:
    outputs = _aligned(statement, rows)
    sorted_by = _sorted_by(statement, outputs)
    names = [column["name"] for column in rows["columns"]]
    measured = [at for at in range(len(names)) if _is_measure(at, outputs[at], rows, keys=keys)]
    described = [at for at in range(len(names)) if at not in measured and _describes(at, outputs[at], rows)]
    time, periods = _time(described, outputs, rows)
    others = [at for at in described if at != time and not _is_part_of_time(at, time, names)]
    label, group = _label_and_group(question, others, rows, grouped=statement.grouped)
    measures = [_measure(at, rows, outputs[at], statement=statement) for at in measured]
    if time is None and any(is_calendar(names[at]) for at in described):
        # The stocks of months of no year, say, do not add up either.
        measures = [replace(each, additive=each.additive and not each.is_level) for each in measures]
    asked_for = _asked_for(question, sorted_by, measures, groups=[names[at] for at in described])
    ordered = [*asked_for, *(role for role in measures if role not in asked_for)]
    main = ordered[0] if ordered else None
    limited = statement.limit is not None and rows["row_count"] >= statement.limit
    # A top ten of groups is not a time series, and its rows do not add up to totals.
    picked = statement.selective or (limited and main is not None and main.column == sorted_by)
    dimensions = [at for at in described if not is_key(names[at])] if statement.grouped else []
    if time is not None and not _orders(time, periods, label, rows=rows, grouped=statement.grouped):
        time = None
        periods = []
    picked_periods = periods
    if time is not None and picked:
        label, group = (time, None) if label is None else (label, time)
        time = None
        periods = []
    elif time is not None and label is not None:
        label, group = _beside_time(label, periods)
    winners = statement.winners is not None and bool(statement.winners.groups)
    if statement.winners is not None and winners:
        label, group, ordered = _winning(statement.winners, described, ordered, outputs=outputs, rows=rows)
        time = None
        periods = []
    return ColumnRoles(
        measures=ordered,
        label=label,
        group=group,
        time=time,
        periods=periods,
        dimensions=dimensions,
        picked_periods=picked_periods if statement.grouped else [],
        sorted_by=sorted_by,
        summed=not picked
        and _belong_together(label, group, time, rows=rows, grouped=statement.grouped, main=main),
        asked=main in asked_for or (main is not None and naming(question, main.name) > 0),
        constants=frozenset(
            at for at, output in enumerate(outputs) if output is not None and output.kind == "constant"
        ),
        winners=winners and bool(ordered),
        unread_weeks=frozenset(
            at for at, output in enumerate(outputs) if output is not None and output.weeks == "unknown"
        ),
    )


def _winning(
    winners: Winners,
    described: Sequence[int],
    measures: Sequence[NumericColumn],
    *,
    outputs: Sequence[Output | None],
    rows: Rows,
) -> tuple[int | None, int | None, list[NumericColumn]]:
    """The label of the winners, the column of their groups, and the measure by which they won.

    There is none if they are the first by something else, such as a date: no value is a group's highest then.
    """
    names = [output.name.lower() if output is not None else "" for output in outputs]
    groups = [at for at in described if names[at] in winners.groups]
    labels = [at for at in described if at not in groups and _label_rank(at, rows) == 0]
    won = [role for role in measures if names[role.column] == winners.by]
    if not groups or not won:
        return next(iter([*labels, *groups]), None), None, []
    return (labels[0], groups[0], won) if labels else (groups[0], None, won)


def _aligned(statement: StatementReading, rows: Rows) -> list[Output | None]:
    """The statement's output for each column of the result; None for all when they do not correspond.

    First and last name are two outputs, but one column of the result.
    """
    outputs = list(statement.outputs or ())
    columns = rows["columns"]
    titles = [title(output.name) for output in outputs]
    if len(outputs) == len(columns) + 1 and {"first name", "last name"} <= set(titles):
        first, last = sorted((titles.index("first name"), titles.index("last name")))
        merged = outputs.pop(first)
        outputs.pop(last - 1)
        outputs.insert(0, merged)
    return list(outputs) if len(outputs) == len(columns) else [None] * len(columns)


def _is_measure(at: int, output: Output | None, rows: Rows, *, keys: frozenset[str]) -> bool:
    kind = output.kind if output else "plain"
    sources = output.sources if output else [rows["columns"][at]["name"]]
    if kind in ("plain", "extreme") and len(sources) == 1 and sources[0].lower() in keys:
        return False
    if kind in ("key", "rank", "constant"):
        return False
    column = rows["columns"][at]
    if column["type"] not in _NUMBERS and not _holds_numbers(at, rows):
        return False
    if kind in ("count", "sum", "average", "distinct", "ratio", "window", "running", "moving", "change"):
        return True
    return not is_calendar_or_key(column["name"]) and not _is_flag(at, rows)


def _is_flag(at: int, rows: Rows) -> bool:
    """Return True if an integer column holds only 0 and 1, as SQLite stores booleans."""
    cells = (row[at] for row in rows["rows"])
    return rows["columns"][at]["type"] == "integer" and all(cell in (0, 1, None) for cell in cells)


def _holds_numbers(at: int, rows: Rows) -> bool:
    """Return True if the cells of a text column are mostly numbers, as SQLite allows."""
    if rows["columns"][at]["type"] != "text":
        return False
    cells = [row[at] for row in rows["rows"][:_SAMPLE] if row[at] is not None]
    true_numbers = sum(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    if true_numbers:
        return sum(as_double(cell) is not None for cell in cells) >= _MIXED_NUMBERS * len(cells)
    named = is_numeric(rows["columns"][at]["name"])
    return bool(cells) and named and all(as_double(cell) is not None for cell in cells)


def _describes(at: int, output: Output | None, rows: Rows) -> bool:
    kind = output.kind if output else "plain"
    return kind not in ("extreme", "rank") and rows["columns"][at]["type"] not in ("binary", "json")


def _time(
    described: Sequence[int], outputs: Sequence[Output | None], rows: Rows
) -> tuple[int | None, list[Period | None]]:
    names = [calendar_title(column["name"]) for column in rows["columns"]]
    for at in described:
        output = outputs[at]
        cells = [row[at] for row in rows["rows"]]
        if not _may_be_time(at, names[at], cells, rows=rows):
            continue
        unit, weeks = (output.unit, output.weeks) if output else (None, None)
        periods = read_periods(cells, unit, weeks, name=names[at])
        if periods is None or all(period is None for period in periods):
            continue
        parts = {part_of_year(names[other], names[at]): other for other in reversed(described)}
        part = "month" if "month" in parts else "quarter"
        if periods and part in parts:
            combined = _combined(periods, [row[parts[part]] for row in rows["rows"]], part)
            periods = combined or periods
        return at, periods
    return None, []


def _may_be_time(at: int, name: str, cells: Sequence[JsonValue], *, rows: Rows) -> bool:
    kind = rows["columns"][at]["type"]
    if kind in _TIMES:
        return True
    first = next((cell for cell in cells if cell is not None), None)
    if kind not in ("text", *_NUMBERS) or first is None or isinstance(first, bool):
        return False
    if kind in _NUMBERS or str(first).isdecimal():
        return is_dated(name)
    return any(sign.isdecimal() for sign in str(first))


def _combined(
    years: Sequence[Period | None], parts: Sequence[JsonValue], name: str
) -> list[Period | None] | None:
    """Combine a column of years with one of months or quarters (`name`); None if a cell is neither."""
    combined: list[Period | None] = []
    for year, part in zip(years, parts, strict=True):
        at = month_number(part) if part is not None else None
        if year is None or at is None or (name == "quarter" and at > 4):
            return None
        month = at if name == "month" else at * 3 - 2
        combined.append(period_of(year.start.replace(month=month), "month" if name == "month" else "quarter"))
    return combined


def _is_part_of_time(at: int, time: int | None, names: Sequence[str]) -> bool:
    if time is None:
        return False
    name, year = calendar_title(names[at]), calendar_title(names[time])
    return part_of_year(name, year) is not None or (is_calendar(name) and year.endswith("year"))


def _label_and_group(
    question: str, others: Sequence[int], rows: Rows, *, grouped: bool
) -> tuple[int | None, int | None]:
    """Choose the label, names before numbers and keys, and a group if the labels repeat.

    Of several names, the one that the question names is the label. If the rows are not groups and the first
    name does not tell them apart, a name that does is the label.
    """

    def importance(at: int) -> tuple[bool, int, float, int]:
        name = rows["columns"][at]["name"]
        return is_key(name), _label_rank(at, rows), -naming(question, name), at

    ranked = sorted(others, key=importance)
    if not ranked:
        return None, None
    count = len(rows["rows"])
    label = ranked[0]
    if _distinct(label, rows) == count:
        return label, None
    texts = [at for at in ranked[1:] if _label_rank(at, rows) == 0]
    crossing = [at for at in ranked[1:] if _distinct(at, rows) < count]
    if grouped:
        return label, next(iter(crossing or texts), None)
    telling = [at for at in texts if _distinct(at, rows) == count]
    if telling and _distinct(label, rows) < _TELLING * count:
        return telling[0], None
    return label, max(texts, key=lambda at: _distinct(at, rows), default=None)


def _label_rank(at: int, rows: Rows) -> int:
    kind = rows["columns"][at]["type"]
    return 0 if kind == "text" else 1 if kind == "boolean" else 3 if kind in _TIMES else 2


def _distinct(at: int, rows: Rows) -> int:
    """The number of different values in a column."""
    return len({cell if isinstance(cell, str) else str(cell) for cell in map(itemgetter(at), rows["rows"])})


def _orders(
    time: int, periods: Sequence[Period | None], label: int | None, *, rows: Rows, grouped: bool
) -> bool:
    """Return True if the rows are a time series, and not events with a date among other columns.

    Times that are finer than their periods, such as several of one day, are none.
    """
    known = [period for period in periods if period is not None]
    if _distinct(time, rows) - (None in periods) > len(set(known)):
        return False
    if len(set(known)) == len(known):
        return grouped or label is None or _distinct(label, rows) == 1 < len(rows["rows"])
    if label is None:
        return False
    pairs = {(period, str(row[label])) for period, row in zip(periods, rows["rows"], strict=True)}
    return grouped or (len(pairs) == len(rows["rows"]) and _distinct(label, rows) < len(rows["rows"]))


def _beside_time(label: int, periods: Sequence[Period | None]) -> tuple[int | None, int | None]:
    """The label and group of a time series: (None, None) when each period has one row, else the label."""
    known = [period for period in periods if period is not None]
    if len(set(known)) == len(known):
        return None, None
    return label, None


def _belong_together(
    label: int | None,
    group: int | None,
    time: int | None,
    *,
    rows: Rows,
    grouped: bool,
    main: NumericColumn | None,
) -> bool:
    """Return True if rows with the same label are about the same thing and may be added up.

    Groups with the same name are different things, such as two customers with one name, unless they differ in
    their period or in a group that most names share. Rows without grouping are different things if a further
    name or a date tells them apart, or if few labels repeat and the measure is already computed.
    """
    if label is not None and group is None and time is None and _distinct(label, rows) == len(rows["rows"]):
        return False
    if not grouped:
        many = label is None or len(rows["rows"]) >= _CROSSED * _distinct(label, rows)
        return group is None and time is None and (many or main is None or main.kind == "plain")
    if label is None or (group is None and time is None):
        return False
    others = [at for at in (group, time) if at is not None]
    places = {(str(row[label]), *(str(row[at]) for at in others)) for row in rows["rows"]}
    if len(places) < len(rows["rows"]):
        return False
    return time is not None or len(rows["rows"]) >= _CROSSED * _distinct(label, rows)


def _measure(at: int, rows: Rows, output: Output | None, *, statement: StatementReading) -> NumericColumn:
    kind: ColumnKind = output.kind if output else "plain"
    name = rows["columns"][at]["name"]
    named = [name, *(output.sources if output else ())]
    additive = (kind in _ADDED and not is_ratio(name)) or (kind == "plain" and is_additive(name))
    additive = additive and not statement.added_up
    # Each of the open rows that a count counts stands in one period.
    is_level_now = any(map(is_level, named)) or (kind not in _COUNTED and any(map(is_open, named)))
    return NumericColumn(
        column=at,
        name=name,
        kind=kind,
        additive=additive,
        is_level=is_level_now,
        cells=list(map(itemgetter(at), rows["rows"])),
        truncated=kind == "plain" and output is not None and bool(statement.bounded & _lower(output.sources)),
    )


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


def _asked_for(
    question: str, sorted_by: int | None, measures: Sequence[NumericColumn], *, groups: Sequence[str]
) -> list[NumericColumn]:
    """The measure that the question or the sort order asks for, if there is one."""
    first = measure_asked_for(
        question,
        [role.name for role in measures],
        sorted_by=next((role.name for role in measures if role.column == sorted_by), None),
        rates={role.name for role in measures if role.is_rate},
        counts={role.name for role in measures if role.kind == "count"},
        groups=groups,
    )
    return [role for role in measures if role.name == first][:1]


def _sorted_by(statement: StatementReading, outputs: Sequence[Output | None]) -> int | None:
    """The column of the result by which the statement sorts first; None when unknown."""
    if statement.order is None or statement.outputs is None or statement.order >= len(statement.outputs):
        return None
    wanted = statement.outputs[statement.order]
    return next((at for at, output in enumerate(outputs) if output is wanted), None)
