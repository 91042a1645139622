"""Bar and pie charts: a measure by the labels of one column or of two."""

from app.modules.analysis.chart.drawing import MAX_SERIES, Drawing, Mark, Point, axis
from app.modules.analysis.chart.leaders import selection
from app.modules.analysis.chart.values import PlottedCell, name, numbered, plotted, summed
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.words import title
from graph.state import Rows

MAX_CATEGORIES = 30
KEPT_CATEGORIES = 20
MAX_SLICES = 8


def bars(rows: Rows, found: Figures, main: NumericColumn, *, label: int, wish: Mark | None) -> Drawing | None:
    """The main measure by a label column: bars, or a pie if `wish` asks for one and the values allow it.

    Returns None with fewer than two names.
    """
    cells = _cells(rows, found, main, label=label)
    how = list[str]()
    if len(cells) < 2:
        return None
    mark: Mark = "bar"
    if wish == "arc":
        refusal = _no_pie(cells, main)
        mark = "bar" if refusal else "arc"
        how += [refusal] if refusal else []
    most, kept = (MAX_SLICES, MAX_SLICES - 1) if mark == "arc" else (MAX_CATEGORIES, KEPT_CATEGORIES)
    drawn = cells
    if len(cells) > most:
        drawn, said = selection(found, main).of_places(cells, kept, rows["columns"][label]["name"])
        how.append(said)
    how = [*_repeated(rows, label, cells, drawn=drawn), *how]
    return Drawing(
        mark=mark,
        across=axis(rows, label, "nominal"),
        value=axis(rows, main.column, "quantitative"),
        points=[Point(cell.across, plotted(cell.value)) for cell in summed(drawn)],
        how=how,
        lying=mark == "bar",
        adds=main.additive,
    )


def matrix(rows: Rows, found: Figures, main: NumericColumn, *, label: int, group: int) -> Drawing | None:
    """The main measure by two label columns: bars in several colours.

    Returns None when names repeat and their rows may not be added up.
    """
    names = [(name(row[label]), name(row[group])) for row in rows["rows"]]
    labels = len({each for each, _ in names})
    groups = len({each for _, each in names})
    if groups > MAX_SERIES >= labels:
        label, group, names = group, label, [(second, first) for first, second in names]
        labels, groups = groups, labels
    how: list[str] = []
    if len(set(names)) < len(names):
        if not (main.additive and found.summed):
            return None
        how.append("Rows with the same names are added up.")
    cells = [
        PlottedCell(first, row[main.column], second)
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
        adds=main.additive and found.summed,
    )


def _cells(rows: Rows, found: Figures, main: NumericColumn, *, label: int) -> list[PlottedCell]:
    """One cell for each name. Rows with the same name are added up if they may be, else numbered."""
    names = [name(row[label]) for row in rows["rows"]]
    if not (main.additive and found.summed):
        names = numbered(names)
    return summed(PlottedCell(each, row[main.column]) for each, row in zip(names, rows["rows"], strict=True))


def _repeated(rows: Rows, label: int, cells: list[PlottedCell], *, drawn: list[PlottedCell]) -> list[str]:
    """A sentence when rows with the same name were added up, or when numbered names are drawn."""
    names = {name(row[label]) for row in rows["rows"]}
    column = title(rows["columns"][label]["name"])
    if len(cells) < len(rows["rows"]):
        return [f"Rows with the same {column} are added up."]
    if not {cell.across for cell in cells}.isdisjoint({cell.across for cell in drawn} - names):
        return [f"Rows with the same {column} are numbered."]
    return []


def _no_pie(cells: list[PlottedCell], main: NumericColumn) -> str:
    """The reason why the values are not parts of a whole, as a sentence; empty if they are."""
    if not main.additive:
        return f"Bars instead of a pie, as values of {title(main.name)} cannot be added up."
    values = [plotted(cell.value) for cell in cells]
    if any(value is None or value < 0 for value in values) or not any(values):
        return f"Bars instead of a pie, as not all values of {title(main.name)} are above zero."
    return ""
