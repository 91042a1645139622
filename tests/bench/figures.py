"""What the figures and the facts of the largest results cost. `make bench-figures` runs it.

Processor time of this process, the least of several runs: other work on the machine does not count.
"""

import random
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta

from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import figures
from graph.state import Column, Rows

ROWS, COLUMNS, RUNS = 10_000, 60, 5
SUMS = ", ".join(f'SUM(m{at}) AS "m{at} amount"' for at in range(COLUMNS - 2))
SHAPES: dict[str, tuple[Callable[[int], str], str]] = {
    "ranking": (lambda at: f"name {at}", f"SELECT name, day, {SUMS} FROM t GROUP BY name ORDER BY 3 DESC"),
    "grouped series": (lambda at: f"name {at % 5}", f"SELECT name, day, {SUMS} FROM t GROUP BY 1, 2"),
    "list": (lambda at: f"name {at}", "SELECT * FROM t"),
}


def result(name: Callable[[int], str]) -> Rows:
    numbers = random.Random(1)
    columns = [Column(name="name", type="text"), Column(name="day", type="date")]
    columns += [Column(name=f"m{at} amount", type="number") for at in range(COLUMNS - 2)]
    rows: Rows = {"columns": columns, "rows": [], "row_count": ROWS, "truncated": False, "cut_by": None}
    for at in range(ROWS):
        day = str(date(2000, 1, 1) + timedelta(days=at // 5))
        rows["rows"].append([name(at), day, *(round(numbers.random() * 1000, 2) for _ in columns[2:])])
    return rows


def milliseconds(sql: str, rows: Rows) -> float:
    start = time.process_time()
    question = "m7 amount by name"
    fact_sheet(
        FactTable(
            question=question,
            rows=rows,
            found=figures(question, sql, "sqlite", rows=rows),
            wording=Wording("en"),
        )
    )
    return (time.process_time() - start) * 1000


def main() -> None:
    for shape, (name, sql) in SHAPES.items():
        rows = result(name)
        least = min(milliseconds(sql, rows) for _ in range(RUNS))
        sys.stdout.write(f"{shape}: {ROWS:,} rows of {COLUMNS} columns in {least:.0f} ms\n")


if __name__ == "__main__":
    main()
