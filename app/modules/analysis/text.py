"""The built-in reading: a few plain sentences that the rows themselves bear out."""

from app.modules.analysis.figures import Figures, Measure
from app.modules.analysis.figures.numbers import number
from app.modules.analysis.words import amount, label, share, title
from graph.state import Rows

_MAX_SUMMARY = 300
_SUMMARY_ROWS = 3


def describe(rows: Rows, found: Figures) -> str:
    """One to four sentences of Markdown."""
    if not rows["rows"]:
        return "No rows match. Check the filters: a value may be spelled otherwise, or the period be empty."
    if len(rows["rows"]) == 1:
        return _single(rows)
    if found.main is None:
        return " ".join([_listing(rows), *_caveats(rows, found)])
    if found.time is not None and found.label is None:
        sentences = _over_time(rows, found.main, found.time)
    elif found.label is not None:
        sentences = _ranking(rows, found.main, found.label, whole=found.complete)
    else:
        sentences = [_listing(rows), _spread(found.main)]
    return " ".join([*sentences, *_caveats(rows, found)])


def results_summary(rows: Rows) -> str:
    """One line for the conversation's memory: the columns, how many rows, and the first of them."""
    names = ", ".join(column["name"] for column in rows["columns"])
    head = "; ".join(", ".join(map(label, row)) for row in rows["rows"][:_SUMMARY_ROWS])
    line = f"{rows['row_count']} rows of {names}" + (f": {head}" if head else "")
    return line if len(line) < _MAX_SUMMARY else line[: _MAX_SUMMARY - 2] + "…"


def _single(rows: Rows) -> str:
    (row,) = rows["rows"]
    pairs = [
        f"{title(column['name'])}: {_value(cell)}" for column, cell in zip(rows["columns"], row, strict=True)
    ]
    text = ", ".join(pairs)
    return f"**{text[:1].upper()}{text[1:]}**"


def _value(cell: object) -> str:
    value = number(cell)  # type: ignore[arg-type]
    return label(cell) if value is None else amount(value)  # type: ignore[arg-type]


def _listing(rows: Rows) -> str:
    return (
        f"{rows['row_count']:,} rows with {', '.join(title(column['name']) for column in rows['columns'])}."
    )


def _spread(measure: Measure) -> str:
    return (
        f"{title(measure.name).capitalize()} goes from {amount(measure.minimum)} to "
        f"{amount(measure.maximum)}, {amount(measure.mean)} on average."
    )


def _ranking(rows: Rows, measure: Measure, by: int, *, whole: bool) -> list[str]:
    ranked = sorted(
        (
            (value, label(row[by]))
            for row in rows["rows"]
            if (value := number(row[measure.column])) is not None
        ),
        key=lambda pair: -pair[0],
    )
    (first, leader), (last, least) = ranked[0], ranked[-1]
    if first == last:
        return [f"All {len(ranked)} have the same {title(measure.name)}: {amount(first)}."]
    total = float(measure.total) if measure.total is not None and whole and measure.minimum >= 0 else None
    of = f", {share(first, total)} of the {amount(float(total))} shown" if total else ""
    sentences = [f"**{leader}** has the highest {title(measure.name)}: {amount(first)}{of}."]
    if len(ranked) > 2:
        second, runner = ranked[1]
        sentences.append(f"{runner} follows with {amount(second)}.")
    sentences.append(f"{least} is lowest with {amount(last)}.")
    return sentences


def _over_time(rows: Rows, measure: Measure, time: int) -> list[str]:
    series = [
        (str(row[time]), value)
        for row in rows["rows"]
        if row[time] is not None and (value := number(row[measure.column])) is not None
    ]
    series.sort()
    if len(series) < 2:
        return [_listing(rows)]
    (start, first), (end, last) = series[0], series[-1]
    peak, low = max(series, key=lambda point: point[1]), min(series, key=lambda point: point[1])
    name = title(measure.name).capitalize()
    moved = f"{name} {_direction(first, last)} from {amount(first)} ({label(start)})"
    arrived = f"to {amount(last)} ({label(end)}){_change(first, last)}."
    highest = f"The highest is {amount(peak[1])} ({label(peak[0])})"
    return [f"{moved} {arrived}", f"{highest}, the lowest {amount(low[1])} ({label(low[0])})."]


def _direction(first: float, last: float) -> str:
    return "rose" if last > first else "fell" if last < first else "stayed"


def _change(first: float, last: float) -> str:
    return f", {(last - first) / first:+.0%}" if first > 0 and last != first else ""


def _caveats(rows: Rows, found: Figures) -> list[str]:
    shown, caveats = len(rows["rows"]), list[str]()
    if rows["truncated"]:
        caveats.append(f"The result was cut off at {rows['row_count']:,} rows.")
    if not found.complete and found.main is not None:
        caveats.append(f"These figures cover the first {shown:,} rows.")
    return caveats
