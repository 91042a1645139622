"""A result as the makers of facts read it: names of its rows and measures, and facts with their cells."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

from pydantic import JsonValue

from app.core.words import plural
from app.modules.analysis.facts.fact import MOST_CELLS, Fact, FactKind
from app.modules.analysis.facts.wording import Amount, Counted, Names, Points, Slot, TitledName, Wording
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.calendar import Period, read_periods
from app.modules.analysis.figures.names import (
    is_calendar,
    is_calendar_or_key,
    is_dated,
    is_plural,
    is_ratio,
    names_no_count,
)
from app.modules.analysis.figures.numbers import exact
from app.modules.analysis.formats import Formats, Unit, unit_of
from app.modules.analysis.words import label, plain_label, title
from graph.state import Rows

Cells = Sequence[tuple[int, str]]

_LONGEST_KEY = 60
_LONGEST_LABEL = 200
_MOST_HEADLINE_WORDS = 12
_NAMED = 3
_LONGEST_YES = 10
_MIDNIGHT = re.compile(r"[T ]00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$")
_SHORTEST_NAME = 3
_NUMBER_OF = re.compile(r"^(?:number of|(?:an)?zahl(?: der| von)?|n[uú]mero de|cantidad de|nombre de) ")
_SHORT_COUNTS = frozenset({"n", "c", "cnt", "ct", "num"})
_YES_OR_NO = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"0", "1"})


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows with their figures, and the words in which facts speak of them."""

    question: str
    rows: Rows
    found: Figures
    wording: Wording
    _periods: dict[int, Sequence[Period | None]] = field(default_factory=dict, repr=False)
    _units: dict[int, Unit | None] = field(default_factory=dict, repr=False)
    _decimals: dict[int, int | None] = field(default_factory=dict, repr=False)

    # Words

    def period(self, period: Period) -> str:
        return self.wording.format(period)

    def title(self, at: int) -> str:
        """A column's name as words, as Markdown; a count without a name is that of its table's rows."""
        return self._title(self.wording.formats, at)

    def measure(self, measure: NumericColumn) -> str:
        return self.title(measure.column)

    def things(self, measure: NumericColumn) -> str | None:
        """The plural of what a count or a sum of counts counts, such as "orders"; None for other measures."""
        name = self._title(Formats("en"), measure.column)
        numbered = _NUMBER_OF.sub("", name)
        things = numbered.removeprefix("total ")
        is_count = measure.kind in ("count", "distinct")
        counted = is_count or numbered != name
        if things == "rows" or not is_plural(things, self.wording.language, counted=counted):
            return None
        if not is_count and not self._is_sum_of_counts(measure):
            return None
        return self.wording.formats.noun(things)

    def numbered(self, measure: NumericColumn) -> str | None:
        """What is counted by a measure that is called "number of orders", say; None for other measures."""
        name = self._title(Formats("en"), measure.column)
        things = _NUMBER_OF.sub("", name)
        return self.wording.formats.noun(things) if things != name else None

    def _is_sum_of_counts(self, measure: NumericColumn) -> bool:
        if measure.kind not in ("sum", "plain") or names_no_count(measure.name):
            return False
        is_whole = all(value == value.to_integral_value() for value in measure.known)
        return is_whole and self.unit(measure) is None

    def _title(self, formats: Formats, at: int) -> str:
        name = self.rows["columns"][at]["name"]
        counted = self.found.counted or ""
        things = plural(title(counted)) if len(counted) >= _SHORTEST_NAME else None
        if at in self.found.row_counts and name.lower() in _SHORT_COUNTS:
            name = "count"
        return label(formats.title(name, things))

    def amount(self, value: Decimal, measure: NumericColumn) -> Amount:
        return Amount(value, measure.name, self.unit(measure), self._places(measure))

    def _places(self, measure: NumericColumn) -> int | None:
        """The decimals of a measure whose values have three or four, such as exchange rates."""
        if self.unit(measure) is not None:
            return None
        if measure.column not in self._decimals:
            most = max((-int(each.normalize().as_tuple().exponent) for each in measure.known), default=0)
            is_fine = most in (3, 4) and measure.maximum >= 1 and not measure.additive
            self._decimals[measure.column] = most if is_fine else None
        return self._decimals[measure.column]

    def unit(self, measure: NumericColumn) -> Unit | None:
        if measure.column not in self._units:
            is_part = measure.kind == "ratio" and is_ratio(measure.name)
            ratio = "ratio" if is_part and all(0 <= each <= 1 for each in measure.known) else None
            self._units[measure.column] = ratio or unit_of(measure.name, measure.known)
        return self._units[measure.column]

    def are_written_alike(self, one: Decimal, other: Decimal, measure: NumericColumn) -> bool:
        return self.wording.format(self.amount(one, measure)) == self.wording.format(
            self.amount(other, measure)
        )

    def difference(self, value: Decimal, measure: NumericColumn) -> Points | Amount:
        """The difference of two values: between percentages in points."""
        unit = self.unit(measure)
        if unit in ("percent", "ratio"):
            return Points(value * 100 if unit == "ratio" else value)
        return self.amount(value, measure)

    # Names of rows

    def named(self, row: int, by: Sequence[int]) -> str:
        """The name of a row by its columns, as Markdown."""
        names = [self.cell_name(row, at) for at in by]
        return type(names[0])(" / ".join(names))

    def cell_name(self, row: int, at: int) -> str:
        """A cell as a name. A period goes by its words, a number or yes and no by their column's name too."""
        cell = self.rows["rows"][row][at]
        column = self.rows["columns"][at]
        period = self.periods(at)[row]
        if period is not None and not _has_time(cell):
            return self.period(period)
        if at in self._yes_or_no:
            return TitledName(f"{self.title(at)} = {label(cell)}")
        if cell is None:
            return self.wording.formats.cell(cell)
        if isinstance(cell, bool):
            return TitledName(f"{self.title(at)} = {self.wording.formats.cell(cell)}")
        is_datetime = isinstance(cell, str) and column["type"] == "datetime"
        name = label(_MIDNIGHT.sub("", str(cell)) if is_datetime else cell)
        is_number = column["type"] in ("integer", "number", "boolean")
        is_number = is_number or (name.isdecimal() and is_calendar(column["name"]))
        return TitledName(f"{self.title(at)} {name}") if is_number else name

    @cached_property
    def _yes_or_no(self) -> frozenset[int]:
        """The columns that hold only yes and no, or their like, as texts."""
        found = set[int]()
        for at, column in enumerate(self.rows["columns"]):
            if column["type"] in ("boolean", "integer", "number"):
                continue
            cells = set[str]()
            for row in self.rows["rows"]:
                if row[at] is not None:
                    cells.add(str(row[at])[:_LONGEST_YES].strip().lower())
                if len(cells) > len("01"):
                    break
            if any(cells <= pair for pair in _YES_OR_NO):
                found.add(at)
        return frozenset(found)

    def raw(self, row: int, by: Sequence[int]) -> str:
        """The name of a row as it is written in the cells."""
        return " / ".join(plain_label(self.rows["rows"][row][at], _LONGEST_LABEL) for at in by)

    def telling_apart(self, by: Sequence[int], name: str) -> int | None:
        """The first column of texts whose labels differ in all rows of one name; None without one."""
        rows = [row for row in range(len(self.rows["rows"])) if self.raw(row, by) == name]
        for at, column in enumerate(self.rows["columns"]):
            if at in by or column["type"] != "text" or any(self.is_unnamed(row, [at]) for row in rows):
                continue
            if len({self.raw(row, [at]) for row in rows}) == len(rows):
                return at
        return None

    def is_unnamed(self, row: int, by: Sequence[int]) -> bool:
        """Return True if a cell that names the row is empty."""
        cells = (self.rows["rows"][row][at] for at in by)
        return any(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in cells)

    def periods(self, at: int) -> Sequence[Period | None]:
        """The period of each row by a column; None for each if the column has no periods."""
        if at not in self._periods:
            self._periods[at] = self._read_periods(at)
        return self._periods[at]

    def _read_periods(self, at: int) -> Sequence[Period | None]:
        none: list[Period | None] = [None] * len(self.rows["rows"])
        if at == self.found.time:
            return self.found.periods
        column = self.rows["columns"][at]
        is_date = column["type"] in ("date", "datetime")
        if not is_date and (not is_dated(column["name"]) or column["type"] == "boolean"):
            return none
        partial = [each.period.unit for each in self.found.partial]
        cells = [row[at] for row in self.rows["rows"]]
        try:
            return read_periods(cells, partial[0] if partial else None) or none
        except (ValueError, OverflowError):
            return none

    def cell_text(self, row: int, at: int) -> str:
        """A cell as a value."""
        cell = self.rows["rows"][row][at]
        column = self.rows["columns"][at]
        value = exact(cell) if column["type"] in ("integer", "number") else None
        if value is not None and not is_calendar_or_key(column["name"]):
            values = [each for row in self.rows["rows"] if (each := exact(row[at])) is not None]
            return self.wording.format(Amount(value, column["name"], unit_of(column["name"], values)))
        period = self.periods(at)[row]
        if period is not None and (column["type"] in ("date", "datetime") or is_calendar(column["name"])):
            return label(cell) if _has_time(cell) else self.period(period)
        return self.wording.formats.cell(cell)

    # Cells and computations

    def cells(self, rows: Iterable[int], measure: NumericColumn) -> list[tuple[int, str]]:
        """The cells of a measure that have a value."""
        return [(row, measure.name) for row in rows if measure.values[row] is not None]

    def how(self, name: str, measure: str, count: int) -> str:
        """The computation over so many rows, with the simple conditions of the statement."""
        text = self.wording.say(f"how.{name}", measure=measure, rows=Counted(count, "row"))
        if not self.found.conditions:
            return text
        return self.wording.say("how.where", how=text, conditions=", ".join(self.found.conditions))

    def fact(
        self,
        kind: FactKind,
        name: str,
        slots: Mapping[str, Slot],
        *,
        key: Sequence[str],
        how: str,
        cells: Cells,
        value: Decimal | str | None = None,
        columns: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> Fact:
        """Make a fact by the statement `name`; its headline has no bold names."""
        plain = {
            slot: replace(each, bold=False) if isinstance(each, Names) else each
            for slot, each in slots.items()
        }
        headline = self.wording.say_or_none(f"{name}.headline", **plain)
        unique = list(dict.fromkeys(cells))
        return Fact(
            key=key_of([kind, *key]),
            kind=kind,
            statement=self.wording.say(name, **slots),
            headline=headline if headline and len(headline.split(" ")) <= _MOST_HEADLINE_WORDS else None,
            how=how,
            value=value,
            cells=tuple(unique[:MOST_CELLS]),
            cell_count=len(unique),
            columns=tuple(columns),
            labels=tuple(labels),
        )


def names(shown: Sequence[str | Period], *, bold: bool = False) -> Names:
    """At most four names; of more, the first three and the number of the others."""
    if len(shown) > _NAMED + 1:
        return Names(shown[:_NAMED], len(shown) - _NAMED, bold=bold)
    return Names(shown, bold=bold)


def key_of(parts: Sequence[str]) -> str:
    """ASCII snake_case of the parts, at most 60 characters."""
    text = unicodedata.normalize("NFKD", " ".join(parts)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:_LONGEST_KEY].strip("_")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _has_time(cell: JsonValue) -> bool:
    return isinstance(cell, str) and ":" in cell and "00:00:00" not in cell


def is_named(name: str, question: str) -> bool:
    """Return True if the question has the name as whole words."""
    if not name or name.casefold() not in question.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE) is not None
