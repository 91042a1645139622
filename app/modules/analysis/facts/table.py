"""A result as the makers of facts read it: names of its rows and measures, and facts with their cells."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from pydantic import JsonValue

from app.core.values.numbers import as_decimal
from app.core.words import plural
from app.modules.analysis.facts.fact import MOST_CELLS, Fact, FactKind
from app.modules.analysis.facts.wording import (
    Amount,
    Counted,
    MeasureName,
    Names,
    Points,
    Slot,
    TitledName,
    Wording,
)
from app.modules.analysis.figures import Figures, NumericColumn
from app.modules.analysis.figures.calendar import Period, month_number, read_periods
from app.modules.analysis.figures.names import (
    calendar_title,
    is_calendar,
    is_calendar_or_key,
    is_dated,
    is_plural,
    names_no_count,
)
from app.modules.analysis.formats import Formats, Unit, decimals_of, unit_of_column, without_unit
from app.modules.analysis.words import label, plain_label, title, word_set
from graph.state import Rows

Cells = Sequence[tuple[int, str]]

_LONGEST_KEY = 60
_LONGEST_LABEL = 200
_NAMED = 3
_LONGEST_YES = 10
_MIDNIGHT = re.compile(r"[T ]00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$")
_SHORTEST_NAME = 3
_NUMBER_OF = re.compile(r"^(?:number of|(?:an)?zahl(?: der| von)?|n[uú]mero de|cantidad de|nombre de) ")
_SHORT_COUNTS = frozenset({"n", "c", "cnt", "ct", "num"})
_PLAIN_NAME = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]{3,})*")
_NO_THINGS = word_set("""
    dim fact tbl stg src raw tmp vw view mart table data list log history stock inventory feedback traffic
    information content weather music equipment energy news media census payroll attendance production
    consumption usage demand software hardware population
""")
_FLAGS = word_set("""
    active consent enabled flag paid cancelled canceled damaged verified aktiv bezahlt einwilligung
    storniert beschädigt beschaedigt activo consentimiento pagado cancelado dañado actif consentement payé
    paye annulé annule endommagé endommage
""")
_YES_OR_NO = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"0", "1"})


@dataclass(frozen=True, kw_only=True)
class FactTable:
    """The rows with their figures, and the words in which facts speak of them."""

    question: str
    rows: Rows
    found: Figures
    wording: Wording
    _periods: dict[int, Sequence[Period | None]] = field(default_factory=dict, repr=False)
    _units: dict[int, Unit | None] = field(default_factory=dict, repr=False)
    _decimals: dict[int, int | None] = field(default_factory=dict, repr=False)
    _moments: dict[int, bool] = field(default_factory=dict, repr=False)
    _flags: dict[int, bool] = field(default_factory=dict, repr=False)

    # Words

    def period(self, period: Period) -> str:
        return self.wording.format(period)

    def title(self, at: int) -> str:
        """A column's name as words, as Markdown; a count without a name is that of its table's rows."""
        return self._limited(self.wording.formats, at, self._title(self.wording.formats, at))

    def measure(self, measure: NumericColumn) -> MeasureName:
        return MeasureName(self.title(measure.column), self._things(measure))

    def _things(self, measure: NumericColumn) -> str | None:
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
        return self._limited(self.wording.formats, measure.column, self.wording.formats.noun(things))

    def _is_sum_of_counts(self, measure: NumericColumn) -> bool:
        if measure.kind not in ("sum", "plain") or names_no_count(measure.name):
            return False
        is_whole = all(value == value.to_integral_value() for value in measure.known)
        return is_whole and self.unit(measure) is None

    @property
    def listed_things(self) -> str | None:
        """The plural of what the rows are, if each is a row of one table with a plain name."""
        words = title(self.found.statement.listed or "")
        language = self.wording.language
        if not _PLAIN_NAME.fullmatch(words) or _NO_THINGS & set(words.split(" ")):
            return None
        if language != "en" and not is_plural(words, language, counted=True):
            return None
        return label(self.wording.formats.noun(plural(words) if language == "en" else words))

    def _title(self, formats: Formats, at: int) -> str:
        name = self.rows["columns"][at]["name"]
        counted = self.found.statement.counted or ""
        things = plural(title(counted)) if len(counted) >= _SHORTEST_NAME else None
        if at in self.found.statement.row_counts and name.lower() in _SHORT_COUNTS:
            name = "count"
        counts = self.found.statement.things.get(at)
        if counts is not None and counts.things is not None:
            is_number = name == "count" or name.lower().startswith("number")
            name = f"number of {counts.things}" if is_number else counts.things
        measure = next((each for each in self.found.measures if each.column == at), None)
        if measure is not None:
            name = without_unit(name, self.unit(measure))
        return label(formats.title(name, things))

    def _limited(self, formats: Formats, at: int, name: str) -> str:
        """The name of a count, and what the counted things have or lack by the statement."""
        counts = self.found.statement.things.get(at)
        return name if counts is None else label(formats.limited(name, counts.having, counts.lacking))

    def amount(self, value: Decimal, measure: NumericColumn) -> Amount:
        return Amount(value, measure.name, self.unit(measure), self._places(measure))

    def _places(self, measure: NumericColumn) -> int | None:
        if measure.column not in self._decimals:
            self._decimals[measure.column] = decimals_of(measure.name, measure.known)
        return self._decimals[measure.column]

    def unit(self, measure: NumericColumn) -> Unit | None:
        if measure.column not in self._units:
            is_ratio = measure.kind == "ratio"
            self._units[measure.column] = unit_of_column(measure.name, measure.known, is_ratio=is_ratio)
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

    @property
    def dimensions(self) -> list[int]:
        """The columns that name a row."""
        return [at for at in (self.found.label, self.found.group, self.found.time) if at is not None]

    def named(self, row: int, by: Sequence[int]) -> str:
        """The name of a row by its columns, as Markdown."""
        names = [self.cell_name(row, at) for at in by]
        return type(names[0])(" / ".join(names))

    def cell_name(self, row: int, at: int) -> str:
        """A cell as a name. A period goes by its words, a number or yes and no by their column's name too."""
        cell = self.rows["rows"][row][at]
        column = self.rows["columns"][at]
        period = self.periods(at)[row]
        if period is not None and not self._is_moment(at, period):
            return self.period(period)
        flag = self._flag(row, at)
        if flag is not None:
            return TitledName(f"{label(_flagged(title(column['name'])))} = {self.wording.formats.cell(flag)}")
        if at in self._yes_or_no:
            return TitledName(f"{self.title(at)} = {label(cell)}")
        if cell is None:
            return self.wording.formats.cell(cell)
        if isinstance(cell, bool):
            return TitledName(f"{self.title(at)} = {self.wording.formats.cell(cell)}")
        month = month_number(cell) if calendar_title(column["name"]) == "month" else None
        if month is not None:
            return TitledName(self.wording.formats.month(month))
        is_datetime = isinstance(cell, str) and column["type"] == "datetime"
        name = label(_MIDNIGHT.sub("", str(cell)) if is_datetime else cell)
        is_number = column["type"] in ("integer", "number", "boolean")
        is_number = is_number or (name.isdecimal() and is_calendar(column["name"]))
        return TitledName(f"{self.title(at)} {name}") if is_number else name

    def pair(self, row: int, at: int, measure: NumericColumn) -> str:
        """A cell as a name, with the row's value of a measure."""
        value = self.amount(measure.values[row] or measure.minimum, measure)
        return self.wording.say("pair", label=self.cell_name(row, at), value=value)

    def is_flag(self, at: int) -> bool:
        """Return True for a column of yes and no: a boolean, or one such as `is_active` of only 0 and 1."""
        return self.rows["columns"][at]["type"] == "boolean" or self._is_numeric_flag(at)

    def _is_numeric_flag(self, at: int) -> bool:
        if at not in self._flags:
            self._flags[at] = _holds_flags(self.rows, at)
        return self._flags[at]

    def _flag(self, row: int, at: int) -> bool | None:
        """The cell of a flag that holds only 0 and 1; None of other columns."""
        cell = self.rows["rows"][row][at]
        return bool(cell) if self._is_numeric_flag(at) and cell is not None else None

    @cached_property
    def _yes_or_no(self) -> frozenset[int]:
        """The columns that hold only yes and no, or their like, as texts."""
        return frozenset(at for at in range(len(self.rows["columns"])) if _holds_yes_or_no(self.rows, at))

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
        if at in self.found.roles.unread_weeks:
            return none
        is_date = column["type"] in ("date", "datetime")
        if not is_date and (not is_dated(column["name"]) or column["type"] == "boolean"):
            return none
        partial = [each.period.unit for each in self.found.partial]
        try:
            unit, name = partial[0] if partial else None, calendar_title(column["name"])
            return read_periods([row[at] for row in self.rows["rows"]], unit, name=name) or none
        except (ValueError, OverflowError):
            return none

    def _is_moment(self, at: int, period: Period) -> bool:
        """Return True if the cells of a column are times of a day, of which a period says too little."""
        if at not in self._moments:
            self._moments[at] = any(_has_time(row[at]) for row in self.rows["rows"])
        return period.unit != "hour" and self._moments[at]

    def cell_text(self, row: int, at: int) -> str:
        """A cell as a value."""
        cell = self.rows["rows"][row][at]
        column = self.rows["columns"][at]
        if (flag := self._flag(row, at)) is not None:
            return self.wording.formats.cell(flag)
        value = as_decimal(cell) if column["type"] in ("integer", "number") else None
        if value is not None and not is_calendar_or_key(column["name"]):
            name = column["name"]
            values = [each for row in self.rows["rows"] if (each := as_decimal(row[at])) is not None]
            return self.wording.format(
                Amount(value, name, unit_of_column(name, values), decimals_of(name, values))
            )
        period = self.periods(at)[row]
        if period is not None and (column["type"] in ("date", "datetime") or is_calendar(column["name"])):
            return label(cell) if self._is_moment(at, period) else self.period(period)
        return self.wording.formats.cell(cell)

    # Cells and computations

    def cells(self, rows: Iterable[int], measure: NumericColumn) -> list[tuple[int, str]]:
        """The cells of a measure that have a value."""
        return [(row, measure.name) for row in rows if measure.values[row] is not None]

    def how(self, name: str, measure: str, count: int) -> str:
        """The computation over so many rows, with the simple conditions of the statement."""
        text = self.wording.say(f"how.{name}", measure=measure, rows=Counted(count, "row"))
        if not self.found.statement.conditions:
            return text
        return self.wording.say("how.where", how=text, conditions=", ".join(self.found.statement.conditions))

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
        """Make a fact by the statement `name`."""
        unique = list(dict.fromkeys(cells))
        return Fact(
            key=key_of([kind, *key]),
            kind=kind,
            statement=self.wording.say(name, **slots),
            headline=self.wording.headline(name, **slots),
            how=how,
            value=value,
            cells=tuple(unique[:MOST_CELLS]),
            cell_count=len(unique),
            columns=tuple(columns),
            labels=tuple(labels),
        )

    def measure_fact(
        self,
        kind: FactKind,
        name: str,
        measure: NumericColumn,
        *,
        slots: Mapping[str, Slot],
        rows: Sequence[int],
        how: str,
        counted: int | None = None,
        value: Decimal | None = None,
        key: Sequence[str] = (),
        columns: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> Fact:
        """Make a fact of a measure in rows. It is computed from as many rows, or from those `counted`.

        Its key is the measure's name unless another is given; `columns` are those beside the measure.
        """
        title = self.measure(measure)
        return self.fact(
            kind,
            name,
            {"measure": title, **slots},
            key=key or [measure.name],
            how=self.how(how, title, len(rows) if counted is None else counted),
            cells=self.cells(rows, measure),
            value=value,
            columns=[measure.name, *columns],
            labels=labels,
        )


def _holds_flags(rows: Rows, at: int) -> bool:
    """Return True for a column that is named as yes or no, or is a boolean, and has only 0 and 1."""
    column, cells = rows["columns"][at], [each[at] for each in rows["rows"]]
    name = title(column["name"])
    is_named = _flagged(name) != name or name.split(" ")[-1] in _FLAGS
    is_flag = column["type"] == "boolean" or (column["type"] in ("integer", "number") and is_named)
    return is_flag and all(cell is None or (cell in (0, 1) and not isinstance(cell, bool)) for cell in cells)


def _holds_yes_or_no(rows: Rows, at: int) -> bool:
    """Return True for a column of texts that are only yes and no, or their like."""
    if rows["columns"][at]["type"] in ("boolean", "integer", "number"):
        return False
    cells = set[str]()
    for row in rows["rows"]:
        if row[at] is not None:
            cells.add(str(row[at])[:_LONGEST_YES].strip().lower())
        if len(cells) > len("01"):
            return False
    return any(cells <= pair for pair in _YES_OR_NO)


def _flagged(name: str) -> str:
    """The name of a yes or no without its verb: "is active" is "active"."""
    return re.sub(r"^(?:is|has|was|ist|hat|es|tiene|est|a) (?=\w)", "", name)


def names(shown: Sequence[str | Period], *, bold: bool = False) -> Names:
    """At most four names; of more, the first three and the number of the others."""
    if len(shown) > _NAMED + 1:
        return Names(shown[:_NAMED], len(shown) - _NAMED, bold=bold)
    return Names(shown, bold=bold)


def key_of(parts: Sequence[str]) -> str:
    """ASCII snake_case of the parts, at most 60 characters."""
    text = unicodedata.normalize("NFKD", " ".join(parts)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:_LONGEST_KEY].strip("_")


def _has_time(cell: JsonValue) -> bool:
    return isinstance(cell, str) and ":" in cell and "00:00:00" not in cell


def is_named(name: str, question: str) -> bool:
    """Return True if the question has the name as whole words."""
    if not name or name.casefold() not in question.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE) is not None
