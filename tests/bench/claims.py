"""How long claims take to check: `python -m tests.bench.claims`. Milliseconds of CPU, the best of five."""

import random
import time

from app.modules.analysis.claims.check import check_claims
from graph.state import Column, Rows
from tests.support.claims_corpus import results

TEXT = (
    "**Name 5 1** has the highest amount with 93,123.2, 12 % more than Name 7 1. In March 2023 it fell "
    "from 45 to 12. The total is 5,000,123 and the average 5,555. "
)
KINDS = (("day", "date"), ("label", "text"), ("amount", "number"))


def made(rows: int, columns: int) -> Rows:
    """Dates, labels of their own, and amounts."""
    chance = random.Random(1)
    named = [Column(name=f"{KINDS[at % 3][0]}{at}", type=KINDS[at % 3][1]) for at in range(columns)]

    def cell(row: int, at: int) -> str | float:
        if at % 3 == 0:
            return f"20{20 + row % 6}-{1 + row % 12:02d}-{1 + row % 28:02d}"
        return f"Name {row * 7919 % rows} {at}" if at % 3 == 1 else chance.random() * 1e5

    cells = [[cell(row, at) for at in range(columns)] for row in range(rows)]
    return Rows(columns=named, rows=[[*row] for row in cells], row_count=rows, truncated=False)


def best_ms(text: str, rows: Rows) -> float:
    times: list[float] = []
    for _ in range(5):
        started = time.process_time()
        check_claims(text, rows)
        times.append(time.process_time() - started)
    return 1_000 * min(times)


def main() -> None:
    chance = random.Random(2)
    numbers = " ".join(f"Value {chance.random() * 1e5:,.2f} in {2020 + at % 6}." for at in range(5_000))
    wide, thousand = made(10_000, 60), made(50, 20)
    for name, text, rows in (
        ("12 claims, 1,000 cells", TEXT, thousand),
        ("12 claims, 10,000 x 60", TEXT, wide),
        ("no claims, 10,000 x 60", "All is well.", wide),
        ("5,000 numbers, 10,000 x 60", numbers, wide),
        ("5,000 numbers, 12 rows", numbers, results()["month_revenue"].rows),
    ):
        print(f"{name:30} {best_ms(text, rows):7.1f} ms")


if __name__ == "__main__":
    main()
