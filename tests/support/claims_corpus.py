"""Analyses with true and false claims: prose with places where one plausible mistake can be made.

`{expression|format}` is a number computed from the result, `[[true||false]]` words that are right and wrong.
Each text gives one true analysis and, per place, one that is false in that place alone.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from graph.state import Column, Rows

FOLDER = Path(__file__).parents[1] / "corpus" / "claims"

_PLACE = re.compile(
    r"\[\[(?P<true>[^\[\]]*)\|\|(?P<false>[^\[\]]*)\]\]|\{(?P<code>(?:[^{}|]|"
    r"\|(?=\|))+)\|(?P<format>[^{}|]+)\}"
)


@dataclass(frozen=True)
class Result:
    question: str
    sql: str
    rows: Rows


@dataclass(frozen=True)
class CorpusAnalysis:
    """`false` is the span that is not true; None when all of it is. `name` tells the text and the place."""

    name: str
    text: str
    result: Result
    false: tuple[int, int] | None
    held_out: bool


@cache
def results() -> dict[str, Result]:
    kept = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    return {
        name: Result(
            each["question"],
            each["sql"],
            Rows(
                columns=[Column(name=column, type=kind) for column, kind in each["columns"]],
                rows=each["rows"],
                row_count=len(each["rows"]),
                truncated=False,
            ),
        )
        for name, each in kept.items()
    }


def analyses(file: str = "prose.txt") -> Iterator[CorpusAnalysis]:
    for section in re.split(r"^=== ", (FOLDER / file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        for at, template in enumerate(re.split(r"^---\n", body, flags=re.MULTILINE)):
            yield from _written(f"{name.strip()}/{at}", template.strip(), results()[name.strip()])


def is_held_out(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def _written(name: str, template: str, result: Result) -> Iterator[CorpusAnalysis]:
    places = list(_PLACE.finditer(template))
    held_out = is_held_out(name)
    true = [_true(each, result) for each in places]
    yield CorpusAnalysis(name, _filled(template, places, true)[0], result, None, held_out)
    for at, place in enumerate(places):
        wrong = _false(place, result, f"{name}#{at}")
        if wrong is None:
            continue
        text, spans = _filled(template, places, [*true[:at], wrong, *true[at + 1 :]])
        yield CorpusAnalysis(f"{name}#{at}", text, result, spans[at], held_out)


def _filled(
    template: str, places: list[re.Match[str]], words: list[str]
) -> tuple[str, list[tuple[int, int]]]:
    text, spans, taken = "", list[tuple[int, int]](), 0
    for place, word in zip(places, words, strict=True):
        text += template[taken : place.start()]
        spans.append((len(text), len(text) + len(word)))
        text += word
        taken = place.end()
    return text + template[taken:], spans


def _true(place: re.Match[str], result: Result) -> str:
    if place["true"] is not None:
        return place["true"]
    return _formatted(_value(place["code"], result), place["format"])


def _false(place: re.Match[str], result: Result, name: str) -> str | None:
    """A plausible mistake, chosen by the place's name: another row's value, ten times as much."""
    if place["false"] is not None:
        return place["false"]
    right, form = _value(place["code"], result), place["format"]
    written = _formatted(right, form)
    choice = hashlib.sha256(name.encode()).digest()[1]
    wrong = list(_mistakes(place["code"], right, result, percent=form.endswith("%")))
    wrong = [each for each in wrong if abs(each - right) > 0.02 * abs(right) and each * right > 0]
    for shift in range(len(wrong)):
        text = _formatted(wrong[(choice + shift) % len(wrong)], form)
        if text != written:
            return text
    return None


def _mistakes(code: str, right: float, result: Result, *, percent: bool) -> Iterator[float]:
    labels = [cell for row in result.rows["rows"] for cell in row if isinstance(cell, str)]
    named = next((label for label in labels if repr(label) in code or f"'{label}'" in code), None)
    if named is not None:
        column = next(at for row in result.rows["rows"] for at, cell in enumerate(row) if cell == named)
        others = [
            row[column]
            for row in result.rows["rows"]
            if f"'{row[column]}'" not in code and row[column] != named
        ]
        for other in others[:3]:
            yield _value(code.replace(f"'{named}'", repr(other), 1), result)
    if isinstance(right, int):
        yield right + 3
    elif percent:
        yield right + 0.11
    else:
        yield right * 10
        yield right * 0.83


def _value(code: str, result: Result) -> float:
    return cast("float", eval(code, {"__builtins__": {"sum": sum}}, _Figures(result.rows).names()))  # noqa: S307 - our own corpus


def _formatted(value: float, form: str) -> str:
    german = form.startswith("de")
    spec = form.removeprefix("de")
    if spec.endswith("d"):
        value = int(value)
    text = format(value, spec)
    return text.translate(str.maketrans(",.", ".,")) if german else text


class _Figures:
    """What the expressions of a text may use."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows["rows"]
        kinds = [column["type"] for column in rows["columns"]]
        names = [column["name"] for column in rows["columns"]]
        self.measures = [
            at for at, kind in enumerate(kinds) if kind in ("integer", "number") and names[at] != "year"
        ]

    def names(self) -> dict[str, object]:
        functions: list[Callable[..., float]] = [
            self.v,
            self.tot,
            self.mean,
            self.mx,
            self.mn,
            self.sh,
            self.ch,
            self.d,
            self.r,
            self.top,
            self.cnt,
        ]
        return {**{each.__name__: each for each in functions}, "n": len(self.rows), "rows": self.rows}

    def _cells(self, m: int) -> list[float]:
        found = [row[self.measures[m]] for row in self.rows]
        return [each for each in found if isinstance(each, int | float)]

    def v(self, *labels: JsonValue, m: int = 0) -> float:
        rows = [row for row in self.rows if all(label in row for label in labels)]
        return sum(cast("float", row[self.measures[m]]) for row in rows)

    def tot(self, m: int = 0) -> float:
        return sum(self._cells(m))

    def mean(self, m: int = 0) -> float:
        return self.tot(m) / len(self._cells(m))

    def mx(self, m: int = 0) -> float:
        return max(self._cells(m))

    def mn(self, m: int = 0) -> float:
        return min(self._cells(m))

    def sh(self, *labels: JsonValue, m: int = 0) -> float:
        return self.v(*labels, m=m) / self.tot(m)

    def ch(self, one: JsonValue, other: JsonValue, m: int = 0) -> float:
        return self.v(other, m=m) / self.v(one, m=m) - 1

    def d(self, one: JsonValue, other: JsonValue, m: int = 0) -> float:
        return self.v(one, m=m) - self.v(other, m=m)

    def r(self, one: JsonValue, other: JsonValue, m: int = 0) -> float:
        return self.v(one, m=m) / self.v(other, m=m)

    def top(self, many: int, m: int = 0) -> float:
        return sum(sorted(self._cells(m), reverse=True)[:many]) / self.tot(m)

    def cnt(self, value: float, m: int = 0) -> float:
        return self._cells(m).count(value)
