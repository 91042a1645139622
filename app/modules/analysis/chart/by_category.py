"""Bars and slices: a measure by the names of a column, and by those of a second one."""

from app.modules.analysis.chart.drawing import MAX_SERIES, Drawing, Mark, Point, axis
from app.modules.analysis.chart.leaders import selection
from app.modules.analysis.chart.values import Cell, name, numbered, plotted, summed
from app.modules.analysis.figures import Figures, Measure
from app.modules.analysis.words import title
from graph.state import Rows

MAX_CATEGORIES = 30
KEPT_CATEGORIES = 20
MAX_SLICES = 8


def bars(rows: Rows, found: Figures, main: Measure, label: int, wish: Mark | None) -> Drawing | None:
    """The measure asked for, by a label: a pie if it is wished for and true. None without two names."""
    cells, how = _cells(rows, main, label)
    if len(cells) < 2:
        return None
    mark: Mark = "bar"
    if wish == "arc":
        refusal = _no_pie(cells, main)
        mark = "bar" if refusal else "arc"
        how += [refusal] if refusal else []
    most, kept = (MAX_SLICES, MAX_SLICES - 1) if mark == "arc" else (MAX_CATEGORIES, KEPT_CATEGORIES)
    if len(cells) > most:
        cells, said = selection(found, main).of_places(cells, kept, rows["columns"][label]["name"])
        how.append(said)
    return Drawing(
        mark=mark,
        across=axis(rows, label, "nominal"),
        value=axis(rows, main.column, "quantitative"),
        points=[Point(cell.across, plotted(cell.value)) for cell in summed(cells)],
        how=how,
        lying=mark == "bar",
    )


def matrix(rows: Rows, found: Figures, main: Measure, label: int, group: int) -> Drawing | None:
    """The measure asked for, by two labels: bars of several colours."""
    names = [(name(row[label]), name(row[group])) for row in rows["rows"]]
    labels, groups = len({each for each, _ in names}), len({each for _, each in names})
    if groups > MAX_SERIES >= labels:
        label, group, names = group, label, [(second, first) for first, second in names]
        labels, groups = groups, labels
    how: list[str] = []
    if len(set(names)) < len(names):
        if not main.additive:
            return None
        how.append("Rows with the same names are added up.")
    cells = [
        Cell(first, row[main.column], second)
        for (first, second), row in zip(names, rows["rows"], strict=True)
    ]
    chosen = selection(found, main)
    if groups > MAX_SERIES:
        cells, said = chosen.of_series(cells, MAX_SERIES, rows["columns"][group]["name"])
        how.append(said)
    if labels > MAX_CATEGORIES:
        cells, said = chosen.of_places(cells, KEPT_CATEGORIES, rows["columns"][label]["name"])
        how.append(said)
    return Drawing(
        mark="bar",
        across=axis(rows, label, "nominal"),
        value=axis(rows, main.column, "quantitative"),
        series=axis(rows, group, "nominal"),
        points=[Point(cell.across, plotted(cell.value), cell.series) for cell in summed(cells)],
        how=how,
        lying=True,
        stacked=main.additive,
    )


def _cells(rows: Rows, main: Measure, label: int) -> tuple[list[Cell], list[str]]:
    """A cell a name. Rows of one name are added up; where that means nothing, they are numbered."""
    names = [name(row[label]) for row in rows["rows"]]
    how: list[str] = []
    if len(set(names)) < len(names):
        column = title(rows["columns"][label]["name"])
        how = [f"Rows with the same {column} are {'added up' if main.additive else 'numbered'}."]
    if not main.additive:
        names = numbered(names)
    return summed(Cell(each, row[main.column]) for each, row in zip(names, rows["rows"], strict=True)), how


def _no_pie(cells: list[Cell], main: Measure) -> str:
    """Why the values are no parts of a whole; empty if they are."""
    if not main.additive:
        return f"Bars instead of a pie, as values of {title(main.name)} cannot be added up."
    values = [plotted(cell.value) for cell in cells]
    if any(value is None or value < 0 for value in values) or not any(values):
        return f"Bars instead of a pie, as not all values of {title(main.name)} are above zero."
    return ""
