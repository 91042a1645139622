"""The result in the form that claims are checked against: columns by role, each read on first use."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import overload

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from app.core.words import singular
from app.modules.analysis.claims.numbers import written_numbers
from app.modules.analysis.claims.periods import PartialDate, cell_period
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.words import amount, title
from graph.state import ClaimSource, Rows

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_SAMPLE = 40
_LIKELY = 4
_MANY_LABELS = 2_000
_MOST_FIELD = 10_000
"""An upper bound, not reached, for the fields of a period."""

_MOST_KEYS = 1_000
_GROUPED = r"\bgroup\s+by\s+(?:1\b|[\w.\"`\[]*\b{name}\b)"
NO_LABEL = "(none)"
"""The text that KAI writes for an empty label."""

PUNCTUATION = " .,;:!?()[]\"'„“”»«-–"
_NUMERIC = ("integer", "number")
_NEVER_ADDED = re.compile(
    r"\b(?:avg|average|mean|median|rate|ratio|share|percent|percentage|pct|price|"
    r"distinct|unique|min|max|minimum|maximum|"
    r"rank|age|year|month|day|quarter|growth|change|margin|score|rating|per)\b"
)
_SHARES = re.compile(r"\b(?:rate|ratio|share|percent|percentage|pct|growth|change|margin|yoy|mom)\b|%")
_GENERIC = frozenset(
    [
        "total",
        "sum",
        "count",
        "number",
        "num",
        "of",
        "avg",
        "average",
        "mean",
        "median",
        "max",
        "min",
        "maximum",
        "minimum",
        "cnt",
        "n",
        "no",
        "the",
        "in",
        "by",
        "per",
        "amount",
        "value",
        "id",
        "first",
        "last",
    ]
)
_PLAIN_WORDS = frozenset(
    [
        "and",
        "are",
        "did",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "list",
        "many",
        "month",
        "much",
        "our",
        "show",
        "than",
        "that",
        "the",
        "their",
        "there",
        "these",
        "this",
        "time",
        "top",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "with",
        "year",
        "day",
        "quarter",
        "week",
        "revenue",
        "sale",
        "highest",
        "lowest",
        "most",
        "least",
    ]
)
_AGGREGATE_ALIAS = (
    r"(?:avg|median|count\s*\(\s*distinct|min|max)\s*\([^()]*\)\s*(?:,\s*\d+\s*\))?\s+as\s+[\"`\[]?(\w+)"
)
_SYNONYMS = {
    "revenue": "umsatz sales turnover income earnings umsätze erlös",
    "sales": "umsatz revenue umsätze verkäufe",
    "total": "revenue sales umsatz",
    "order": "bestellung auftrag",
    "customer": "kunde kundin client",
    "country": "land länder nation",
    "category": "kategorie",
    "month": "monat",
    "year": "jahr",
    "invoice": "rechnung",
    "track": "titel song stück",
    "quantity": "menge stück unit",
    "unit": "stück einheit",
    "price": "preis",
    "employee": "mitarbeiter mitarbeiterin",
    "product": "produkt item",
    "city": "stadt städte",
    "name": "",
    "day": "tag",
    "week": "woche",
    "quarter": "quartal",
    "region": "region",
    "population": "bevölkerung einwohner",
    "spent": "spending spend ausgabe ausgegeben",
    "cost": "kosten",
    "profit": "gewinn",
}


class ClaimColumn:
    """A column of the result. `words` are the words of its name in the singular, `called` with synonyms."""

    def __init__(
        self, rows: Rows, index: int, averaged: Set[str], *, measure: NumericColumn | None, grouped: bool
    ) -> None:
        self._rows = rows
        self.index = index
        self.name = rows["columns"][index]["name"]
        self.type = rows["columns"][index]["type"]
        self.title = title(self.name)
        self.words = [stem(word) for word in re.findall(r"[^\W\d_]+", self.title)]
        self.core = [word for word in self.words if word not in _GENERIC]
        also = {stem(each) for word in self.core for each in _SYNONYMS.get(word, "").split()}
        if not self.core:
            also |= {stem(each) for word in self.words for each in _SYNONYMS.get(word, "").split()}
        self.called = frozenset({*self.core, *also})
        self._measure = measure
        self._averaged = self.name.lower() in averaged
        self._grouped = grouped

    @cached_property
    def cells(self) -> Sequence[JsonValue]:
        """The cells in row order, taken from the figures if these have read them."""
        return self._measure.cells if self._measure is not None else self._head(len(self._rows["rows"]))

    def _head(self, many: int) -> list[JsonValue]:
        return list(map(itemgetter(self.index), self._rows["rows"][:many]))

    @cached_property
    def _texts(self) -> list[str | None] | None:
        """The different cells in order of occurrence; None if any is neither text nor null."""
        try:
            different = dict.fromkeys(self.cells)
        except TypeError:  # a JSON list is no key
            return None
        texts = [each for each in different if each is None or isinstance(each, str)]
        return texts if len(texts) == len(different) else None

    @cached_property
    def sample(self) -> list[JsonValue]:
        rows = self._rows["rows"]
        step = max(1, len(rows) // _SAMPLE)
        return [row[self.index] for row in rows[::step] if row[self.index] is not None]

    @cached_property
    def is_key(self) -> bool:
        if self.words[-1:] == ["id"] or self.name.endswith(("Id", "ID")) or self.words[-1:] == ["key"]:
            return True
        return self.index == 0 and self.type == "integer" and self._grouped and self._is_unique

    @cached_property
    def _is_unique(self) -> bool:
        return not self._is_long and len({str(each) for each in self.cells}) == len(self.cells)

    @property
    def _is_long(self) -> bool:
        return len(self._rows["rows"]) > _MOST_KEYS

    @cached_property
    def is_time(self) -> bool:
        if self.type in ("date", "datetime"):
            return True
        if self.type == "integer":
            return "year" in self.words and all(cell_period(each) for each in self.sample)
        sample = self.sample
        return self.type == "text" and bool(sample) and all(cell_period(each) is not None for each in sample)

    @cached_property
    def is_number(self) -> bool:
        if self._measure is not None:
            return True
        if self.type in _NUMERIC:
            return not self.is_time
        found = [each for each in self.sample if isinstance(each, int | float) and not isinstance(each, bool)]
        return self.type not in ("boolean", "date", "datetime", "time") and len(found) > len(self.sample) // 2

    @cached_property
    def is_label(self) -> bool:
        return not self.is_number and not self.is_time

    @cached_property
    def is_measure(self) -> bool:
        return self.is_number and not self.is_key

    @cached_property
    def additive(self) -> bool:
        if self._measure is not None and (self._measure.additive or self._measure.kind != "plain"):
            return self._measure.additive
        return self.is_measure and not self._averaged and _NEVER_ADDED.search(self.title) is None

    @cached_property
    def is_share(self) -> bool:
        return self.is_measure and _SHARES.search(self.title) is not None

    @cached_property
    def values(self) -> Floats:
        """The cells as floats, in row order; NaN for anything but a finite number."""
        try:
            found = np.fromiter(self.cells, dtype=object, count=len(self.cells)).astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            found = np.array([_number(cell) for cell in self.cells], dtype=np.float64)
        found[~np.isfinite(found)] = np.nan
        return found

    def at(self, row: int) -> float:
        """One cell as a number, without reading the column; NaN if it is not a number."""
        return _number(self._rows["rows"][row][self.index])

    @cached_property
    def order(self) -> Places:
        """The rows that have a number, sorted by it, lowest first."""
        return np.argsort(self.values, kind="stable")[: len(self.present)]

    @cached_property
    def total(self) -> float:
        return float(self.present.sum())

    @cached_property
    def mean(self) -> float:
        return float(self.present.mean()) if len(self.present) else float("nan")

    @cached_property
    def median(self) -> float:
        return float(np.median(self.present)) if len(self.present) else float("nan")

    @cached_property
    def present(self) -> Floats:
        return self.values[~np.isnan(self.values)]

    @cached_property
    def sorted(self) -> Floats:
        return np.sort(self.present)

    @cached_property
    def commonest(self) -> tuple[float, int]:
        """The most frequent value and its number of rows; (NaN, 0) without values."""
        values, counts = np.unique(self.sorted, return_counts=True)
        at = int(counts.argmax()) if len(counts) else -1
        return (float(values[at]), int(counts[at])) if at >= 0 else (float("nan"), 0)

    @cached_property
    def nulls(self) -> int:
        return list(self.cells).count(None)

    @cached_property
    def distinct(self) -> int:
        if self._texts is not None:
            return len(self._texts) - (None in self._texts)
        return len({str(cell) for cell in self.cells if cell is not None})

    @cached_property
    def labels(self) -> set[str]:
        """The different texts of the column."""
        if self._texts is not None:
            return {cell for cell in self._texts if cell is not None}
        return {cell for cell in set(map(_hashable, self.cells)) if isinstance(cell, str)}

    @cached_property
    def has_many_labels(self) -> bool:
        """True if there are too many labels to compare each; often known from the first rows."""
        if "labels" not in self.__dict__:
            try:
                if len(set(self._head(_MANY_LABELS + _MANY_LABELS // 4)) - {None}) > _MANY_LABELS:
                    return True
            except TypeError:  # a JSON list is no key
                pass
        return len(self.labels) > _MANY_LABELS

    @cached_property
    def period_codes(self) -> tuple[Places, list[PartialDate | None]]:
        """Return each row's index into the list of periods, and that list."""
        if self._texts is not None:
            return self._placed({cell: at for at, cell in enumerate(self._texts)}), [
                *map(cell_period, self._texts)
            ]
        known: dict[str | int | None, int] = {}
        codes = [known.setdefault(_hashable(cell), len(known)) for cell in self.cells]
        return np.array(codes, dtype=np.intp), [cell_period(cell) for cell in known]

    @cached_property
    def periods(self) -> list[PartialDate | None]:
        codes, periods = self.period_codes
        return [periods[code] for code in codes.tolist()]

    @cached_property
    def codes(self) -> tuple[Places, list[object]]:
        """Return each row's index into the list of labels, and that list; labels as they are compared."""
        known: dict[JsonValue, int] = {}
        if self._texts is not None:
            places: dict[JsonValue, int] = {
                cell: known.setdefault(_compared(cell), len(known)) for cell in self._texts
            }
            return self._placed(places), [*known]
        codes = [known.setdefault(_compared(cell), len(known)) for cell in self.cells]
        return np.array(codes, dtype=np.intp), [*known]

    def _placed(self, places: Mapping[JsonValue, int]) -> Places:
        return np.fromiter(map(places.__getitem__, self.cells), dtype=np.intp, count=len(self.cells))

    def rows_of(self, keys: Set[str]) -> dict[str, Places]:
        """The rows of each of these labels, which are given as `label_key` returns them."""
        codes, known = self.codes
        return {key: np.flatnonzero(codes == (known.index(key) if key in known else -1)) for key in keys}


class OrderedValues(Sequence[tuple[object, float]]):
    """Labels or periods with their values, in a given order; pairs are created on access."""

    def __init__(self, keys: Sequence[object], values: Floats, order: Places) -> None:
        self._keys = keys
        self._values = values
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, at: int) -> tuple[object, float]: ...

    @overload
    def __getitem__(self, at: slice) -> list[tuple[object, float]]: ...

    def __getitem__(self, at: int | slice) -> tuple[object, float] | list[tuple[object, float]]:
        if isinstance(at, slice):
            return [(self._keys[each], float(self._values[each])) for each in self._order[at].tolist()]
        place = int(self._order[at])
        return self._keys[place], float(self._values[place])

    def __iter__(self) -> Iterator[tuple[object, float]]:
        return iter(self[:])


def _is_grouped(rows: Rows, sql: str) -> bool:
    """Return True if the statement groups by the result's first column."""
    name = re.escape(rows["columns"][0]["name"])
    return re.search(_GROUPED.format(name=name), sql[:20_000], re.IGNORECASE) is not None


class ClaimTable:
    """The columns of a result, with facts from its figures, question and statement, and caches."""

    def __init__(self, rows: Rows, question: str, sql: str, *, found: Figures | None) -> None:
        self.rows = rows
        self.question = question
        self.sql = sql
        self.size = len(rows["rows"])
        self.summed = found is None or found.summed
        """True if the rows of one label belong together, so that they may be added up."""
        course = found.course if found is not None else None
        self.said_days = {each.day.isoformat() for each in course.partial} if course is not None else set()
        """Days on which the data begins or ends within a period."""
        self.gaps = {str(each) for each in course.gaps} if course is not None else set()
        self._main = found.main.column if found is not None and found.main is not None else None
        measures = {each.column: each for each in found.measures} if found is not None else {}
        averaged = {each.lower() for each in re.findall(_AGGREGATE_ALIAS, sql, re.IGNORECASE)}
        self.columns = [
            ClaimColumn(
                rows,
                index,
                averaged,
                measure=measures.get(index),
                grouped=index == 0 and _is_grouped(rows, sql),
            )
            for index in range(len(rows["columns"]))
        ]
        self.cache: dict[object, list[tuple[tuple[object, ...], float]]] = {}
        self.groups: dict[object, dict[object, float]] = {}
        self.orders: dict[object, OrderedValues] = {}
        self.outstanding: dict[tuple[int, bool, bool], list[tuple[float, ClaimSource]]] = {}
        self._time_codes: dict[tuple[str, ...], tuple[Places, list[object]]] = {}

    @cached_property
    def asked_numbers(self) -> frozenset[float]:
        """The numbers of the question and the statement."""
        asked = [number.readings for number in written_numbers(self.question[:8_000])]
        compared = re.findall(
            r"(?:[<>=]|between|and|limit|like)\s*'?(\d+(?:\.\d+)?)", self.sql[:20_000], re.IGNORECASE
        )
        years = re.findall(
            r"(?<!\d)((?:19|20)\d\d)(?!\d)",
            " ".join([self.sql[:20_000], *(each.name for each in self.columns)]),
        )
        return frozenset(
            {
                *(value for readings in asked for value, _ in readings),
                *map(float, compared),
                *map(float, years),
            }
        )

    @cached_property
    def entities(self) -> frozenset[str]:
        """The nouns that may stand for a row: words of the question and of the statement's table names."""
        tables = re.findall(r"\b(?:from|join)\s+[\"`\[]?(\w+)", self.sql, re.IGNORECASE)
        words = [word for name in (*tables, self.question) for word in re.findall(r"[^\W\d_]+", title(name))]
        return frozenset(stem(each) for each in words if len(each) > 2) - _GENERIC - _PLAIN_WORDS

    @cached_property
    def measures(self) -> list[ClaimColumn]:
        return [each for each in self.columns if each.is_measure and each not in self.parts]

    @cached_property
    def labels(self) -> list[ClaimColumn]:
        return [each for each in self.columns if each.is_label]

    def spelled(self, texts: set[str]) -> dict[int, set[str]]:
        """The texts that are cells, by index of each column with many labels, in one pass over the rows."""
        many = [each for each in self.labels if each.has_many_labels]
        if not many:
            return {}
        apart = set(texts).isdisjoint
        cells = itemgetter(*(each.index for each in (*many, many[0])))  # one index alone gives no tuple
        try:
            found = [row for row in map(cells, self.rows["rows"]) if not apart(row)]
        except TypeError:  # a JSON list is no key
            return {each.index: texts & each.labels for each in many}
        return {each.index: {row[at] for row in found} & texts for at, each in enumerate(many)}

    @cached_property
    def times(self) -> list[ClaimColumn]:
        return [each for each in self.columns if each.is_time][:3]

    @cached_property
    def parts(self) -> list[ClaimColumn]:
        """Columns that hold a part of a date: a month's number next to a year."""
        return [
            each
            for each in self.columns
            if each.is_number and each.words[-1:] in (["month"], ["quarter"], ["day"])
        ]

    @cached_property
    def time_rows(self) -> list[PartialDate | None]:
        """The period of each row; a year and a month in two columns are combined."""
        if not self.times:
            if not self.parts:
                return [None] * self.size
            found: list[PartialDate | None] = [PartialDate()] * self.size
        else:
            found = self.times[0].periods
        for part in self.parts:
            name = part.words[-1]  # a day's number is the largest of them
            found = [
                period
                if period is None or not isinstance(cell, int) or not 1 <= cell <= 31
                else period._replace(**{name: cell}).whole()
                for period, cell in zip(found, part.cells, strict=True)
            ]
        return found

    @cached_property
    def time_fields(self) -> dict[str, Places]:
        """Year, half, quarter, month and day of each row; -1 where there is none."""
        if self.times and not self.parts:
            codes, periods = self.times[0].period_codes
            table = _fields_of(periods)[codes]
        else:
            table = _fields_of(self.time_rows)
        return {name: table[:, at] for at, name in enumerate(PartialDate._fields)}

    def rows_in(self, period: PartialDate) -> Places:
        found = np.ones(self.size, dtype=bool)
        for name, value in zip(PartialDate._fields, period, strict=True):
            if value is not None:
                found &= self.time_fields[name] == value
        return (
            np.flatnonzero(found) if any(each is not None for each in period) else np.array([], dtype=np.intp)
        )

    def time_codes(self, grain: tuple[str, ...]) -> tuple[Places, list[object]]:
        """Return each row's index into the periods at a grain, and those periods (None if unknown)."""
        if not grain:
            return np.zeros(self.size, dtype=np.intp), [None]
        if grain not in self._time_codes:
            fields = [self.time_fields[each] for each in grain]
            whole = np.zeros(self.size, dtype=np.int64)  # one number sorts faster than its parts
            for each in fields:
                whole = whole * _MOST_FIELD + (each + 1)
            _, firsts, codes = np.unique(whole, return_index=True, return_inverse=True)
            keys = zip(*(each[firsts].tolist() for each in fields), strict=True)
            self._time_codes[grain] = codes.reshape(-1), [None if -1 in key else key for key in keys]
        return self._time_codes[grain]

    @property
    def has_time(self) -> bool:
        return bool(self.times or self.parts)

    @cached_property
    def likely(self) -> list[ClaimColumn]:
        """The measures to try when a sentence names none: at most four, the main one first."""
        main = [self.main] if self.main is not None else []
        return list(dict.fromkeys([*main, *self.measures]))[:_LIKELY]

    @cached_property
    def main(self) -> ClaimColumn | None:
        """The main measure of the figures, else the one that the question names, else the first."""
        if self._main is not None and self.columns[self._main].is_measure:
            return self.columns[self._main]
        asked = {stem(word) for word in re.findall(r"[^\W\d_]+", self.question)}
        named = [each for each in self.measures if each.called & asked]
        return next(iter(named or self.measures), None)

    def described(self, row: int) -> str:
        """The name of a row: its first label, else its time, else its number."""
        for column in (*self.labels, *self.times):
            cell = column.cells[row]
            if cell is not None:
                return str(cell)[:60]
        return f"row {row + 1}"


def figure(value: float) -> str:
    """Format a value as KAI writes it; "none" if it is not finite."""
    return amount(Decimal(repr(round(value, 9)))) if math.isfinite(value) else "none"


def _compared(cell: JsonValue) -> str | int | float:
    """A cell as it is compared with a label; numbers stay numbers."""
    if isinstance(cell, str) and cell != NO_LABEL:
        return cell.lower().strip(PUNCTUATION)
    return NO_LABEL if cell is None else cell if isinstance(cell, str | int | float) else label_key(str(cell))


def label_key(text: str) -> str:
    """A label in lower case and without punctuation at its ends, as labels are compared."""
    return text.lower().strip(PUNCTUATION)


def stem(word: str) -> str:
    """A word in lower case and in the singular, as far as its ending tells."""
    word = word.lower()
    if len(word) > 4 and word.endswith(("ungen", "ien")):
        return word[:-2] if word.endswith("ungen") else word[:-1]
    return singular(word)


def _hashable(cell: JsonValue) -> str | int | None:
    return cell if isinstance(cell, str | int) else None


def _fields_of(periods: Sequence[PartialDate | None]) -> Places:
    fields = [
        (-1,) * len(PartialDate._fields)
        if each is None
        else tuple(-1 if part is None else part for part in each)
        for each in periods
    ]
    return np.array(fields, dtype=np.intp).reshape(len(periods), len(PartialDate._fields))


def _number(cell: JsonValue) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return float("nan")
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return float("nan")
