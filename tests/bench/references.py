"""Which statements are chosen for results: by a model, and by the order of the sheet.

`make bench-references` prints the order; with `--base-url` a model at an OpenAI-compatible address is asked,
too: `python -m tests.bench.references --base-url http://127.0.0.1:8080/v1 --model qwen2.5-coder-1.5b`. Each
result has its chosen statements, what was left out, the tokens of prompt and reply, and the seconds. At the
end each way has a score: SQLite computes the value of a statement a second time from the rows, where its kind
has one definition, and a statement that names neither a column nor a value of the result is nonsense.
"""

import argparse
import asyncio
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from statistics import mean

from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.figures import DataSpan
from graph.ports import Analysed, Question
from graph.state import Column, Reference, Rows
from tests.support.model_settings import SCRIPTED

RESULTS = Path(__file__).parents[1] / "corpus" / "references"
"""The results of a shop, and results of many shapes, such as cross tables, cohorts, stocks and targets."""
TODAY = date(2026, 11, 23)
"""The last day of the shop: its last month is not whole."""


@dataclass(frozen=True)
class Result:
    question: str
    sql: str
    rows: Rows


class NoDatabase:
    """Knows nothing of the data behind a statement."""

    async def span(self, sql: str) -> DataSpan | None:
        return None

    async def keys(self, sql: str) -> frozenset[str]:
        return frozenset()


def results() -> Iterator[Result]:
    lines = [line for file in sorted(RESULTS.glob("*.jsonl")) for line in file.open(encoding="utf-8")]
    for kept in map(json.loads, lines):
        columns = [Column(name=each["name"], type=each["type"]) for each in kept["columns"]]
        rows = Rows(columns=columns, rows=kept["rows"], row_count=len(kept["rows"]), truncated=False)
        yield Result(kept["question"], kept["sql"], rows)


async def ask(analyst: FiguresAnalyst | ModelAnalyst, result: Result) -> tuple[Analysed, float]:
    begun = time.monotonic()
    question = Question(text=result.question)
    read = await analyst.analyse(question, result.sql, result.rows, emit=lambda _: None)
    return read, time.monotonic() - begun


COMPUTED = {
    "total": "SELECT sum(value) FROM used",
    "average": "SELECT avg(value) FROM used",
    "value": "SELECT max(value) FROM used HAVING min(value) = max(value)",
    "share": "SELECT value FROM used WHERE value = :value",
    "below": "SELECT count(*) FROM used WHERE value < 0",
    "missing": "SELECT count(*) - count(value) FROM used",
}
"""The value of a statement of each kind, from the cells that it uses."""
RANKS = {"highest": 0, "lowest": 0, "second": 1}
"""How many other values lie beyond that of the statement."""


def judge(result: Result, reference: Reference, text: str) -> str:
    """Returns true, false or nonsense; unchecked for a kind without one definition."""
    rows, columns = result.rows["rows"], [column["name"] for column in result.rows["columns"]]
    names = [word for name in columns for word in name.lower().split("_") if word]
    names += [cell.lower() for row in rows for cell in row if isinstance(cell, str) and cell]
    kind, cells = reference["key"].split("_")[0], reference["cells"]
    if kind != "note" and not any(name in text.lower() for name in names):
        return "nonsense"
    if kind not in COMPUTED | RANKS or len({cell["column"] for cell in cells}) != 1:
        return judge_steps(result, reference, text)
    own = columns.index(cells[0]["column"])
    labels = [at for at, column in enumerate(result.rows["columns"]) if column["type"] == "text"]
    of = {"used": [rows[cell["row"]] for cell in cells], "whole": rows}
    said = re.search(r"\d+", reference["how"])
    value = float(reference["value"] or "nan")
    with closing(sqlite3.connect(":memory:")) as computing:
        for table, kept in of.items():
            computing.execute(f"CREATE TABLE {table} (value{''.join(f', l{at}' for at in labels)})")
            marks = ", ".join("?" * (1 + len(labels)))
            values = [[row[own], *(row[at] for at in labels)] for row in kept]
            computing.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        if kind in COMPUTED:
            ((found,),) = computing.execute(COMPUTED[kind], {"value": value}).fetchall() or [(None,)]
            return "true" if found is not None and is_same(found, value) else "false"
        beyond = RANKS[kind] + max(0, len(rows) - int(said[0]) if said else 0)
        sums = [f"SELECT sum(value) FROM {table} GROUP BY l{at}" for table in of for at in labels]
        for sql in ("SELECT value FROM whole", *sums):
            numbers = {float(found) for (found,) in computing.execute(sql) if found is not None}
            if len(numbers) > 1 and any(is_same(each, value) for each in numbers):
                above = sum(each > value and not is_same(each, value) for each in numbers)
                below = sum(each < value and not is_same(each, value) for each in numbers)
                ends = {"highest": above, "lowest": below, "second": min(above, below)}
                if ends[kind] <= beyond:
                    return "true"
    return "false" if len(cells) == len(rows) or not re.search("[=≥<]|: ", reference["how"]) else "unchecked"


def judge_steps(result: Result, reference: Reference, text: str) -> str:
    """Judges what compares cells: changes, distances, ranges, orders, rises, and counts of all rows."""
    rows, columns = result.rows["rows"], [column["name"] for column in result.rows["columns"]]
    kind, used, said = reference["key"].split("_")[0], reference["cells"], reference["value"]
    value = None if said is None else float(said)
    if kind == "count" and not used and value is not None:
        return "true" if value == len(rows) else "false"
    found = [(rows[cell["row"]][0], rows[cell["row"]][columns.index(cell["column"])]) for cell in used]
    cells = [(first, float(number)) for first, number in found if isinstance(number, int | float)]
    numbers = [number for _, number in cells]
    if len(cells) < max(2, len(found)) or reference["cell_count"] > len(found):
        return "unchecked"
    steps = sorted(cells, key=lambda cell: (cell[0] if isinstance(cell[0], int | float) else 0, str(cell[0])))
    in_order = [number for _, number in steps]
    half = len(numbers) // 2
    match kind:
        case "total" if value is not None:
            verdict = is_same(sum(numbers[:half]), value)
        case "change" if value is not None:
            verdict = is_same(sum(in_order[half:]) - sum(in_order[:half]), value)
        case "gap" if value is not None and half == 1:
            verdict = is_same(abs(numbers[0] - numbers[1]), value)
        case "span":
            written = [re.sub(r"\D", "", each) for each in re.findall(r"\d+(?:[.,\s]\d+)*", text)]
            ends = [re.sub(r"\D", "", f"{number:.2f}") for number in (min(numbers), max(numbers))]
            verdict = {end.rstrip("0") for end in ends} <= {each.rstrip("0") for each in written}
        case "order":
            verdict = numbers in (sorted(numbers), sorted(numbers, reverse=True))
        case "rises" if value is not None:
            pairs = list(pairwise(in_order))
            verdict = value in (sum(a < b for a, b in pairs), sum(a > b for a, b in pairs))
        case _:
            return "unchecked"
    return "true" if verdict else "false"


def is_same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(1, abs(other))


@dataclass
class Score:
    """The verdicts on the statements of one way to choose, and what it took."""

    verdicts: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    resolved: int = 0

    def add(self, name: str, result: Result, read: Analysed, seconds: float) -> None:
        """Counts and prints the statements of one result."""
        text = read.analysis.text
        print(f"  {name}, {read.tokens_used} tokens, {seconds:.1f} s")
        for each in read.analysis.references:
            said = text[slice(*each["span"])]
            verdict = judge(result, each, said)
            self.verdicts[verdict] += 1
            print(f"    {verdict} {each['key']}: {said}")
        for reason in read.analysis.left_out:
            print(f"    (left out) {reason}")
        self.tokens.append(read.tokens_used)
        self.seconds.append(seconds)
        self.resolved += not read.analysis.left_out

    def summary(self, name: str) -> str:
        counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(self.verdicts.items()))
        return (
            f"{name}: {self.resolved} of {len(self.tokens)} replies resolve; statements: {counted};"
            f" {mean(self.tokens):.0f} tokens and {mean(self.seconds):.2f} s each"
        )


async def measure(given: Sequence[Result], base_url: str | None, model: str) -> None:
    figures = FiguresAnalyst("sqlite", NoDatabase(), TODAY)
    settings = replace(SCRIPTED, base_url=base_url, model=model, temperature=0, total_timeout_seconds=300)
    asked = None if base_url is None else LanguageModel(settings, ModelCalls(CollectorRegistry()))
    ways: dict[str, FiguresAnalyst | ModelAnalyst] = {"order": figures}
    if asked is not None:
        ways[model] = ModelAnalyst(asked, figures)
    scores = {name: Score() for name in ways}
    for result in given:
        print(result.question)
        for name, analyst in ways.items():
            scores[name].add(name, result, *await ask(analyst, result))
    if asked is not None:
        await asked.close()
    for name, score in scores.items():
        print(score.summary(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="address of a model, such as http://127.0.0.1:8080/v1")
    parser.add_argument("--model", default="local", help="name of the model at that address")
    parser.add_argument("--last", type=int, help="number of results")
    given = parser.parse_args()
    asyncio.run(measure([*results()][: given.last], given.base_url, given.model))


if __name__ == "__main__":
    main()
