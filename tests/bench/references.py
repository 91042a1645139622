"""Which statements are chosen for results: by a model, and by the order of the sheet.

`make bench-references` prints the order; with `--base-url` a model at an OpenAI-compatible address is asked,
too: `python -m tests.bench.references --base-url http://127.0.0.1:8080/v1 --model qwen2.5-coder-1.5b`. Each
result has its chosen statements, what was left out, the tokens of prompt and reply, and the seconds.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel
from app.modules.analysis.analyst import FiguresAnalyst, ModelAnalyst
from app.modules.analysis.figures import DataSpan
from graph.ports import Analysed, Question
from graph.state import Column, Rows
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


def show(name: str, read: Analysed, seconds: float) -> None:
    text = read.analysis.text
    print(f"  {name}, {read.tokens_used} tokens, {seconds:.1f} s")
    for each in read.analysis.references:
        print(f"    {each['key']}: {text[slice(*each['span'])]}")
    for reason in read.analysis.left_out:
        print(f"    (left out) {reason}")


async def measure(given: Sequence[Result], base_url: str | None, model: str) -> None:
    figures = FiguresAnalyst("sqlite", NoDatabase(), TODAY)
    settings = replace(SCRIPTED, base_url=base_url, model=model, temperature=0, total_timeout_seconds=300)
    asked = None if base_url is None else LanguageModel(settings, ModelCalls(CollectorRegistry()))
    tokens = resolved = 0
    for result in given:
        print(result.question)
        show("order", *await ask(figures, result))
        if asked is not None:
            read, seconds = await ask(ModelAnalyst(asked, figures), result)
            show(model, read, seconds)
            tokens += read.tokens_used
            resolved += not read.analysis.left_out
    if asked is not None:
        await asked.close()
        mean = tokens / len(given)
        print(f"{resolved} of {len(given)} replies resolve, with {mean:.0f} tokens each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", help="address of a model, such as http://127.0.0.1:8080/v1")
    parser.add_argument("--model", default="local", help="name of the model at that address")
    parser.add_argument("--last", type=int, help="number of results")
    given = parser.parse_args()
    asyncio.run(measure([*results()][: given.last], given.base_url, given.model))


if __name__ == "__main__":
    main()
