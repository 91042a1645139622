"""How long claims take to check, alone and with the figures of the same rows. `make bench-claims` runs it.

Milliseconds of processor time, the least of several runs.
"""

import random
import time
from collections.abc import Callable

from app.modules.analysis.claims.check import check_claims
from app.modules.analysis.figures import figures
from graph.state import Column, Rows
from tests.support.claims_corpus import results

TEXT = (
    "**Name 5 1** has the highest amount with 93,123.2, 12 % more than Name 7 1. In March 2023 it fell "
    "from 45 to 12. The total is 5,000,123 and the average 5,555. "
)
SQL = "SELECT * FROM readings"
RUNS = 10
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


def together(text: str, rows: Rows) -> None:
    question = "amount2 by label1"
    found = figures(question, SQL, "sqlite", rows=rows)
    check_claims(text, rows, question=question, sql=SQL, found=found)


def best_ms(check: Callable[[str, Rows], object], text: str, rows: Rows) -> float:
    times: list[float] = []
    for _ in range(RUNS):
        started = time.process_time()
        check(text, rows)
        times.append(time.process_time() - started)
    return 1_000 * min(times)


def main() -> None:
    chance = random.Random(2)
    numbers = " ".join(f"Value {chance.random() * 1e5:,.2f} in {2020 + at % 6}." for at in range(5_000))
    bare = " ".join(f"Value {chance.random() * 1e5:,.2f} is there." for _ in range(5_000))
    wide, thousand = made(10_000, 60), made(50, 20)
    for name, check, text, rows in (
        ("12 claims, 1,000 cells", check_claims, TEXT, thousand),
        ("12 claims, 10,000 x 60", check_claims, TEXT, wide),
        ("no claims, 10,000 x 60", check_claims, "All is well.", wide),
        ("5,000 numbers, 10,000 x 60", check_claims, numbers, wide),
        ("5,000 numbers, 12 rows", check_claims, numbers, results()["month_revenue"].rows),
        ("figures and 12 claims, 10,000 x 60", together, TEXT, wide),
        ("figures and no claims, 10,000 x 60", together, "All is well.", wide),
        ("figures and 5,000 numbers, 10,000 x 60", together, numbers, wide),
        ("figures and 5,000 without a date, 10,000 x 60", together, bare, wide),
    ):
        print(f"{name:46} {best_ms(check, text, rows):7.1f} ms")


if __name__ == "__main__":
    main()
