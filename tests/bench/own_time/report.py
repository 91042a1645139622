"""Figures of a benchmark as one table, as JSON, and as a page of the documentation."""

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "performance.md"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured value: the median of several rounds. `limit` names what it is divided by, if anything."""

    name: str
    value: float
    unit: str
    lowest: float
    highest: float
    reach: str = ""
    limit: str = ""
    ratio: float | None = None


def figure(
    name: str, rounds: Sequence[float], unit: str, *, reach: str = "", limit: str = "", floor: float = 0
) -> Figure:
    """Returns the figure of these rounds, with its ratio to `floor` if that is known."""
    value = statistics.median(rounds)
    return Figure(
        name=name,
        value=value,
        unit=unit,
        lowest=min(rounds),
        highest=max(rounds),
        reach=reach,
        limit=limit,
        ratio=value / floor if floor else None,
    )


def table(figures: Sequence[Figure]) -> str:
    """Returns the figures as a table in Markdown, which also reads well in a terminal."""
    lines = ["| | median | lowest to highest | reach | ratio to its limit |", "|---|---|---|---|---|"]
    for each in figures:
        ratio = "" if each.ratio is None else f"{each.ratio:.1f} x {each.limit}"
        spread = f"{_number(each.lowest)} to {_number(each.highest)}"
        value = f"{_number(each.value)} {each.unit}"
        lines.append(f"| {each.name} | {value} | {spread} | {each.reach} | {ratio} |")
    return "\n".join(lines)


def write_page(figures: Sequence[Figure], measured_with: str) -> None:
    """Replace the figures of docs/performance.md."""
    write_part("measured", f"{measured_with}\n\n{table(figures)}")


def write_part(name: str, text: str) -> None:
    """Replace the part of docs/performance.md between the two comments of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = PAGE.read_text().partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def conditions() -> str:
    """Returns a sentence on the day and the machine."""
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {cores} cores "
        f"that client, model and server share; the load of the machine was {load:.1f}."
    )


def save(figures: Sequence[Figure], path: Path) -> None:
    path.write_text(json.dumps([asdict(each) for each in figures], indent=1))


def load(path: Path) -> list[Figure]:
    return [Figure(**each) for each in json.loads(path.read_text())]


def compared(old: Sequence[Figure], new: Sequence[Figure]) -> str:
    """Returns a table of the figures that both have. A difference within the spreads may be chance."""
    was = {each.name: each for each in old}
    lines = ["| | old | new | new / old | |", "|---|---|---|---|---|"]
    for each in new:
        if (before := was.get(each.name)) is None:
            continue
        ratio = f"{each.value / before.value:.2f}" if before.value else ""
        is_clear = each.lowest > before.highest or each.highest < before.lowest
        note = "" if is_clear else "within the spread"
        values = f"{_number(before.value)} {before.unit} | {_number(each.value)} {each.unit}"
        lines.append(f"| {each.name} | {values} | {ratio} | {note} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"
