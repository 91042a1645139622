"""Facts of tables made by chance, computed a second time by SQL.

Each statement of a sheet, in four languages, may hold only figures that SQLite computes from the same rows,
and names only of those rows. `FACT_TABLES=2000` tries more than 200 tables.
"""

import os
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest

from app.core.language import LANGUAGES, Language
from app.modules.analysis.facts import Fact
from app.modules.analysis.facts.sheet import fact_sheet
from app.modules.analysis.facts.table import FactTable
from app.modules.analysis.facts.wording import Wording
from app.modules.analysis.figures import DataSpan, Figures, figures
from app.modules.analysis.figures.calendar import CalendarUnit, Period
from app.modules.analysis.formats import Formats
from graph.state import Column, Rows

TABLES = int(os.environ.get("FACT_TABLES", "200"))
LABELS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ivy", "Juniper")
GROUPS = ("web", "shop", "phone")
PER_YEAR: Mapping[str, int] = {"week": 52, "month": 12, "quarter": 4, "year": 1}
_NUMBER = re.compile(r"\d[\d.,\u202f\xa0]*\d|\d")


@dataclass(frozen=True)
class Shape:
    """A statement over the table `t`; `by` are the columns that name its rows."""

    question: str
    sql: str
    by: Sequence[str] = ()
    values: tuple[int, int] = (0, 10_000)
    """The range of the amounts in `t`."""
    nulls: bool = False
    is_partial: bool = False
    measures: Sequence[str] = ("revenue",)
    time: CalendarUnit | None = None
    days: int = 900
    gaps: float = 0.0
    are_rows: bool = False
    """True if rows of one name are not added up."""


REVENUE = "SELECT label, SUM(amount) AS revenue FROM t GROUP BY label"
BY_LABEL = ("label",)


def series(unit: CalendarUnit, **more: object) -> Shape:
    sql = f"SELECT {unit}, SUM(amount) AS revenue FROM t GROUP BY {unit} ORDER BY {unit}"
    return Shape(f"revenue by {unit}", sql, time=unit, **more)  # type: ignore[arg-type]


SHAPES: Mapping[str, Shape] = {
    "ranking": Shape("revenue per label", f"{REVENUE} ORDER BY 2 DESC", BY_LABEL),
    "lowest first": Shape("Which label has the lowest revenue?", f"{REVENUE} ORDER BY 2", BY_LABEL),
    "ties": Shape("revenue per label", REVENUE, BY_LABEL, values=(0, 1)),
    "nulls": Shape("revenue per label", REVENUE, BY_LABEL, nulls=True),
    "negative": Shape("revenue per label", REVENUE, BY_LABEL, values=(-500, 400)),
    "top": Shape("Top 4 labels by revenue", f"{REVENUE} ORDER BY revenue DESC LIMIT 4", BY_LABEL),
    "bottom": Shape("Worst 4 labels by revenue", f"{REVENUE} ORDER BY revenue LIMIT 4", BY_LABEL),
    "top of ties": Shape(
        "Top 3 labels by revenue", f"{REVENUE} ORDER BY revenue DESC LIMIT 3", BY_LABEL, values=(0, 1)
    ),
    "limit without order": Shape("revenue per label", f"{REVENUE} ORDER BY label LIMIT 4", BY_LABEL),
    "having": Shape("labels above 90", f"{REVENUE} HAVING SUM(amount) > 90", BY_LABEL),
    "count": Shape(
        "orders per label",
        "SELECT label, COUNT(*) AS orders FROM t GROUP BY label",
        BY_LABEL,
        measures=("orders",),
    ),
    "average": Shape(
        "average amount per label",
        "SELECT label, AVG(amount) AS average_amount FROM t GROUP BY label",
        BY_LABEL,
        measures=("average_amount",),
    ),
    "scale": Shape(
        "average amount by units",
        "SELECT units, AVG(amount + 2500 * units) AS average_amount FROM t GROUP BY units ORDER BY units",
        ("units",),
        measures=("average_amount",),
    ),
    "two measures": Shape(
        "revenue and units per label",
        "SELECT label, SUM(amount) AS revenue, SUM(units) AS units FROM t GROUP BY label",
        BY_LABEL,
        measures=("revenue", "units"),
    ),
    "matrix": Shape(
        "revenue by label and channel",
        "SELECT label, channel, SUM(amount) AS revenue FROM t GROUP BY label, channel",
        ("label", "channel"),
    ),
    "single": Shape(
        "revenue", "SELECT SUM(amount) AS revenue, SUM(units) AS units FROM t", measures=("revenue", "units")
    ),
    "first of all": Shape("best label", f"{REVENUE} ORDER BY revenue DESC LIMIT 1", BY_LABEL),
    "list": Shape(
        "amounts",
        "SELECT id, label, channel, amount, units FROM t",
        ("label", "channel"),
        measures=("amount", "units"),
        days=30,
        are_rows=True,
    ),
    "numbers": Shape(
        "amount and units", "SELECT amount, units FROM t", measures=("amount", "units"), days=30
    ),
    "days": series("day", days=500),
    "days with gaps": series("day", days=500, gaps=0.3),
    "weeks": series("week"),
    "months": series("month", days=1100),
    "partial months": series("month", is_partial=True),
    "months with gaps": series("month", gaps=0.97),
    "quarters": series("quarter", is_partial=True),
    "years": series("year", days=1500, is_partial=True),
    "negative months": series("month", values=(-500, 400)),
    "latest months": Shape(
        "latest 5 months",
        "SELECT month, SUM(amount) AS revenue FROM t GROUP BY month ORDER BY month DESC LIMIT 5",
        time="month",
    ),
    "courses": Shape(
        "How did the average amount of each channel develop?",
        "SELECT month, channel, AVG(amount) AS average_amount FROM t GROUP BY month, channel",
        ("channel",),
        measures=("average_amount",),
        time="month",
        is_partial=True,
    ),
    "grouped months": Shape(
        "monthly revenue by channel",
        "SELECT month, channel, SUM(amount) AS revenue FROM t GROUP BY month, channel",
        ("channel",),
        time="month",
        is_partial=True,
    ),
}


@dataclass
class Trial:
    """A result, its rows again as table `r`, and all that its facts may say."""

    shape: Shape
    database: sqlite3.Connection
    rows: Rows
    found: Figures
    known: dict[str, set[Decimal]] = field(default_factory=dict)
    names: dict[Language, list[str]] = field(default_factory=dict)

    def figures_of(self, measure: str) -> set[Decimal]:
        if measure not in self.known:
            self.known[measure] = all_figures(self, measure)
        return self.known[measure]

    def names_of(self, formats: Formats) -> list[str]:
        """The names of periods that statements may hold, the longest first."""
        if formats.language not in self.names:
            periods: set[Period] = set()
            gaps = self.found.course.gaps if self.found.course is not None else []
            for period in [*self.found.periods, *gaps]:
                if period is not None:
                    periods |= {period, period.within("month" if period.unit == "day" else "year")}
                    periods.add(period.within("year"))
            names = {formats.period(each) for each in periods}
            names |= {formats.day(each.day) for each in self.found.partial}
            self.names[formats.language] = sorted(names, key=len, reverse=True)
        return self.names[formats.language]

    def values(self, sql: str) -> list[Decimal]:
        return [exactly(value) for (value,) in self.database.execute(sql) if value is not None]

    def value(self, sql: str) -> Decimal:
        return self.values(sql)[0]


def exactly(value: object) -> Decimal:
    """A value of SQLite; of a double 15 digits, as those beyond are noise."""
    return Decimal(f"{value:.15g}") if isinstance(value, float) else Decimal(str(value))


def filled(shape: Shape, chance: Random) -> sqlite3.Connection:
    """A database with a table `t` of days, labels and amounts."""
    database = sqlite3.connect(":memory:")
    columns = "id, label, channel, day, week, month, quarter, year, amount INTEGER, units INTEGER"
    database.execute(f"CREATE TABLE t ({columns})")
    start = date(2023, 1, 1) + timedelta(days=chance.randint(0, 400) if shape.is_partial else 0)
    labels = LABELS[: chance.randint(2, len(LABELS))]
    days = shape.days if shape.time is not None else min(shape.days, 60)
    for at in range(chance.randint(days // 3, days)):
        day = start + timedelta(days=at)
        if at and chance.random() < shape.gaps:
            continue
        for _ in range(chance.randint(1, 2)):
            label = None if shape.nulls and chance.random() < 0.2 else chance.choice(labels)
            amount = None if shape.nulls and chance.random() < 0.3 else chance.randint(*shape.values)
            year, week, _ = day.isocalendar()
            database.execute(
                "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(at, label, chance.choice(GROUPS), day.isoformat(), f"{year}-W{week:02}"),
                    *(f"{day:%Y-%m}", f"{day.year}-Q{(day.month + 2) // 3}", str(day.year)),
                    *(amount, chance.randint(1, 9)),
                ),
            )
    return database


def trial_of(shape: Shape, chance: Random) -> Trial:
    database = filled(shape, chance)
    cursor = database.execute(shape.sql)
    names = [column[0] for column in cursor.description]
    found = [list(row) for row in cursor]
    types = ["text" if name in ("label", "channel", *PER_YEAR, "day") else "integer" for name in names]
    columns = [
        Column(name=name, type="number" if name.startswith("average") else kind)
        for name, kind in zip(names, types, strict=True)
    ]
    rows = Rows(columns=columns, rows=found, row_count=len(found), truncated=False, cut_by=None)
    database.execute(f"CREATE TABLE r ({', '.join(names)})")
    database.executemany(f"INSERT INTO r VALUES ({', '.join('?' * len(names))})", found)
    first, last, count = database.execute("SELECT MIN(day), MAX(day), COUNT(*) FROM t").fetchone()
    span = DataSpan(date.fromisoformat(first), date.fromisoformat(last), count) if shape.is_partial else None
    return Trial(shape, database, rows, figures(shape.question, shape.sql, "sqlite", rows=rows, span=span))


# A second computation


def named(trial: Trial) -> str:
    return " AND ".join(f"{each} IS NOT NULL" for each in trial.shape.by) or "1"


def entries_sql(trial: Trial, measure: str, by: Sequence[str]) -> str:
    """The named values of a measure."""
    names = " || ' / ' || ".join(by) + " || ''"
    grouped = "rowid" if trial.shape.are_rows else "name"
    return (
        f"SELECT {names} AS name, SUM({measure}) AS value FROM r "
        f"WHERE {named(trial)} AND {measure} IS NOT NULL GROUP BY {grouped}"
    )


def full_periods(
    trial: Trial, unit: CalendarUnit, measure: str, where: str = "1"
) -> list[tuple[Period, Decimal]]:
    """The sums of the periods that the data covers whole, in order of time."""
    known = {
        str(row[trial.found.time or 0]): period
        for row, period in zip(trial.rows["rows"], trial.found.periods, strict=True)
        if period is not None
    }
    gathered = (
        f"SELECT {trial.shape.time}, SUM({measure}) FROM r WHERE {measure} IS NOT NULL AND {where} GROUP BY 1"
    )
    sums: dict[Period, Decimal] = {}
    for name, value in trial.database.execute(gathered):
        period = known[str(name)].within(unit)
        sums[period] = sums.get(period, Decimal(0)) + exactly(value)
    course = trial.found.months if unit != trial.shape.time else trial.found.course
    partial = {each.period for each in (course.partial if course is not None else [])}
    return sorted((period, value) for period, value in sums.items() if period not in partial)


def period_figures(trial: Trial, measure: str) -> Iterator[Decimal]:
    """Figures that facts over time may say."""
    assert trial.shape.time is not None
    yield from trial.values(f"SELECT SUM({measure}) FROM r GROUP BY {trial.shape.time}")
    units: list[CalendarUnit] = [trial.shape.time, *(["month"] if trial.found.months is not None else [])]  # type: ignore[list-item]
    for unit in units:
        full = full_periods(trial, unit, measure)
        yield from (value for _, value in full)
        if full:
            yield sum((value for _, value in full), Decimal(0)) / len(full)
        yield from (Decimal(each) for each in range(len(full) + 1))
        yield from year_figures(full, PER_YEAR.get(unit))
        yield from shared_figures(full, PER_YEAR.get(unit))
        for group in GROUPS if trial.shape.by else ():
            of_group = full_periods(trial, unit, measure, f"channel = '{group}'")
            yield from (value for _, value in of_group)
            yield from year_figures(of_group, PER_YEAR.get(unit))


def year_figures(full: Sequence[tuple[Period, Decimal]], year: int | None) -> Iterator[Decimal]:
    """The latest full periods against those of the year before, and their change."""
    tail = len(full)
    while tail > 0 and full[-1][0].after(-(len(full) - tail)) == full[tail - 1][0]:
        tail -= 1
    length = len(full) - tail
    yield from (Decimal(each) for each in (year or 0, (year or 0) + 1, 13))
    if year is None or length <= year:
        return
    count = min(year, length - year)
    new = sum((value for _, value in full[-count:]), Decimal(0))
    old = sum((value for _, value in full[-count - year : len(full) - year]), Decimal(0))
    yield from (new, old, abs(new - old))
    if old > 0:
        yield abs(new - old) / old * 100


def shared_figures(full: Sequence[tuple[Period, Decimal]], year: int | None) -> Iterator[Decimal]:
    """The periods of the latest year that the year before has, too, their change, and their number."""
    values = dict(full)
    if year is None or not full:
        return
    latest = [each for each in values if full[-1][0].after(-year) < each and each.after(-year) in values]
    new = sum((values[each] for each in latest), Decimal(0))
    old = sum((values[each.after(-year)] for each in latest), Decimal(0))
    yield from (new, old, abs(new - old), Decimal(len(latest)))
    if old > 0:
        yield abs(new - old) / old * 100


def label_figures(trial: Trial, measure: str, by: Sequence[str]) -> Iterator[Decimal]:
    """Figures that facts on labels may say: values, shares in all and their gap."""
    entries = entries_sql(trial, measure, by)
    values = sorted(trial.values(f"SELECT value FROM ({entries})"), reverse=True)
    yield from values
    yield from (Decimal(each) for each in range(len(values) + 1))
    total = trial.values(f"SELECT SUM({measure}) FROM r")
    nameless = trial.values(f"SELECT SUM({measure}) FROM r WHERE {by[0]} IS NULL")
    parts = [*values, *(a - b for a, b in pairwise(values)), *nameless]
    yield from parts
    if total and total[0] > 0 and not trial.value(f"SELECT COUNT(*) FROM r WHERE {measure} < 0"):
        yield from (part / total[0] * 100 for part in parts)


def all_figures(trial: Trial, measure: str) -> set[Decimal]:
    """Everything that a fact on the measure may say."""
    known = f"FROM r WHERE {measure} IS NOT NULL"
    count = trial.value("SELECT COUNT(*) FROM r")
    found = {count, *(Decimal(each) for each in range(4))}
    found |= set(trial.values(f"SELECT {measure} {known}"))
    for aggregate in ("SUM", "COUNT", "MIN", "MAX"):
        found |= set(trial.values(f"SELECT {aggregate}({measure}) {known}"))
    found |= set(trial.values(f"SELECT COUNT(*) FROM r WHERE {measure} IS NULL"))
    found |= set(trial.values(f"SELECT COUNT(*) {known} AND {measure} < 0"))
    found |= set(trial.values(f"SELECT COUNT(DISTINCT {trial.shape.time or measure}) FROM r"))
    found |= set(trial.values("SELECT units FROM r")) if "units" in trial.shape.by else set()
    for column in trial.shape.by:
        found |= set(trial.values(f"SELECT COUNT(*) FROM r GROUP BY {column}"))
        found |= set(trial.values(f"SELECT COUNT(*) FROM r WHERE {column} IS NULL"))
        found |= set(label_figures(trial, measure, [column]))
    number = int(trial.value(f"SELECT COUNT(*) {known}"))
    if number:
        found.add(trial.value(f"SELECT SUM({measure}) {known}") / number)
        middle = trial.values(
            f"SELECT {measure} {known} ORDER BY {measure} LIMIT {2 - number % 2} OFFSET {(number - 1) // 2}"
        )
        found.add(sum(middle, Decimal(0)) / len(middle))
    if trial.shape.by:
        found |= set(label_figures(trial, measure, trial.shape.by))
    if trial.shape.by and trial.shape.time is not None and measure.startswith("average"):
        found |= set(label_figures(trial, measure, [*trial.shape.by, trial.shape.time]))
    if trial.shape.time is not None:
        found |= set(period_figures(trial, measure))
    return found


# What a fact claims


def check_kind(trial: Trial, fact: Fact) -> None:
    """The fact's value and labels are those that SQL finds for its kind."""
    measure = fact.columns[0]
    if trial.shape.time is not None or not trial.shape.by or fact.kind not in KINDS:
        return
    by = [each for each in trial.shape.by if each in fact.columns] or list(trial.shape.by)
    KINDS[fact.kind](trial, fact, entries_sql(trial, measure, by))


def check_end(trial: Trial, fact: Fact, entries: str) -> None:
    end = "MAX" if fact.kind == "highest" else "MIN"
    wanted = f"SELECT {end}(value) FROM ({entries})"
    assert fact.value == trial.value(wanted)
    leaders = trial.database.execute(f"SELECT name FROM ({entries}) WHERE value = ({wanted})")
    assert sorted(fact.labels) == sorted(name for (name,) in leaders)
    if trial.shape.nulls:
        way = ">=" if fact.kind == "highest" else "<="
        nameless = f"SELECT COUNT(*) FROM r WHERE label IS NULL AND {fact.columns[0]} {way} {fact.value}"
        said = ("known label", "Wert bei Label", "con valor de label", "avec une valeur de label")
        assert any(each in fact.statement for each in said) == (trial.value(nameless) > 0)


def check_second(trial: Trial, fact: Fact, entries: str) -> None:
    low = trial.found.direction == "lowest" or "Worst" in trial.shape.question
    ranked = trial.values(f"SELECT DISTINCT value FROM ({entries}) ORDER BY 1 {'' if low else 'DESC'}")
    assert fact.value == ranked[1]


def check_order(trial: Trial, fact: Fact, entries: str) -> None:
    low = trial.found.direction == "lowest" or "Worst" in trial.shape.question
    way = "" if low else "DESC"
    if fact.key.startswith("order") and fact.key.endswith("_next"):
        check_next(trial, fact, entries)
        return
    ranked = trial.database.execute(
        f"SELECT name, value FROM ({entries}) ORDER BY 2 {way} LIMIT 4"
    ).fetchall()
    assert [name for name, _ in ranked[:3]] == list(fact.labels)
    assert len({value for _, value in ranked}) == len(ranked)


def check_next(trial: Trial, fact: Fact, entries: str) -> None:
    end = "MIN" if trial.found.direction == "lowest" else "MAX"
    rest = trial.database.execute(
        f"SELECT name FROM ({entries}) WHERE value <> (SELECT {end}(value) FROM ({entries}))"
    )
    assert sorted(name for (name,) in rest) == sorted(fact.labels)
    assert 1 <= len(fact.labels) < 5


def check_label(trial: Trial, fact: Fact, entries: str) -> None:
    (name,) = fact.labels
    found = trial.database.execute(f"SELECT value FROM ({entries}) WHERE name = ?", (name,))
    assert fact.value in [exactly(value) for (value,) in found]


def check_same(trial: Trial, fact: Fact, entries: str) -> None:
    if fact.labels:
        found = trial.database.execute(f"SELECT name FROM ({entries}) WHERE value = {fact.value}")
        assert sorted(fact.labels) == sorted(name for (name,) in found)


def check_scale(trial: Trial, fact: Fact, entries: str) -> None:
    ordered = f"SELECT value, LAG(value) OVER (ORDER BY CAST(name AS INTEGER)) AS before FROM ({entries})"
    ends = trial.values(f"SELECT value FROM ({entries}) ORDER BY CAST(name AS INTEGER)")
    way = ">" if ends[-1] > ends[0] else "<"
    assert fact.value == trial.value(f"SELECT COUNT(*) FROM ({ordered}) WHERE value {way} before")
    verbs = ("rose", "steigt", "sube", "augmente") if way == ">" else ("fell", "sinkt", "baja", "diminue")
    assert any(f" {verb} " in fact.statement for verb in verbs)


def check_courses(trial: Trial, fact: Fact) -> None:
    """The cells are the first and the last value of each channel in months that the data covers whole."""
    partial = [str(each.period) for each in trial.found.partial]
    whole = f"month NOT IN ({', '.join(map(repr, partial)) or 'NULL'})" if partial else "1"
    ends = f"month IN (SELECT MIN(month) FROM r WHERE {whole} UNION SELECT MAX(month) FROM r WHERE {whole})"
    wanted = trial.database.execute(f"SELECT rowid - 1 FROM r WHERE {ends}")
    assert {row for row, _ in fact.cells} == {row for (row,) in wanted}


KINDS: Mapping[str, Callable[[Trial, Fact, str], None]] = {
    "highest": check_end,
    "lowest": check_end,
    "second": check_second,
    "order": check_order,
    "share": check_label,
    "same": check_same,
    "rises": check_scale,
}


def check_statistics(trial: Trial, fact: Fact) -> None:
    measure = fact.columns[0]
    match fact.kind:
        case "rises" if fact.key.endswith("courses"):
            check_courses(trial, fact)
        case "total":
            assert fact.value == trial.value(f"SELECT SUM({measure}) FROM r")
            assert fact.cell_count == trial.value(f"SELECT COUNT({measure}) FROM r")
        case "below_zero":
            assert fact.value == trial.value(f"SELECT COUNT(*) FROM r WHERE {measure} < 0")
        case "count":
            assert fact.value == trial.value("SELECT COUNT(*) FROM r")
        case "change":
            unit: CalendarUnit = "month" if trial.shape.time == "day" else trial.shape.time or "month"
            full = full_periods(trial, unit, measure)
            figures_of_years = list(year_figures(full, PER_YEAR[unit]))[3:]
            new, old, *_ = figures_of_years or shared_figures(full, PER_YEAR[unit])
            assert fact.value == new - old


# What a statement says


def read(text: str, language: Language) -> tuple[Decimal, Decimal]:
    """A number of a statement, and half of its last place."""
    group, point = {"en": (",", "."), "fr": ("\u202f", ",")}.get(language, (".", ","))
    digits = text.replace(group, "").replace("\xa0", "").replace(point, ".")
    value = Decimal(digits)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return value, Decimal("0.5").scaleb(exponent)


def is_allowed(text: str, language: Language, allowed: Sequence[Decimal]) -> bool:
    value, half = read(text, language)
    at = bisect_left(allowed, value - half)
    return at < len(allowed) and allowed[at] <= value + half


def without_names(text: str, trial: Trial, formats: Formats) -> str:
    """The statement without the names of its periods and days."""
    for name in trial.names_of(formats):
        if name in text:
            text = text.replace(name, " ")
    return re.sub(r"\b20\d\d\b|\bQ[1-4]\b|\b[1-4](?:º|\.º|\. Quartal|e trimestre|er trimestre)", " ", text)


def check_statement(trial: Trial, fact: Fact, language: Language, text: str) -> None:
    formats = Formats(language)
    measures = [each for each in fact.columns if each in trial.shape.measures] or list(trial.shape.measures)
    allowed = sorted({abs(each) for measure in measures for each in trial.figures_of(measure)})
    said = set(_NUMBER.findall(without_names(text, trial, formats)))
    strange = {each for each in said if not is_allowed(each, language, allowed)}
    assert strange == set(), f"{text} ({fact.key})"
    named_here = {name for name in (*LABELS, *GROUPS) if re.search(rf"\b{name}\b", text)}
    held = {str(cell) for row in trial.rows["rows"] for cell in row}
    assert named_here <= held


def check(seed: int) -> None:
    chance = Random(seed)
    name = list(SHAPES)[seed % len(SHAPES)]
    trial = trial_of(SHAPES[name], chance)
    with closing(trial.database):
        for language in LANGUAGES:
            sheet = fact_sheet(
                FactTable(
                    question=trial.shape.question,
                    rows=trial.rows,
                    found=trial.found,
                    wording=Wording(language),
                )
            )
            assert len(sheet.by_key) == len(sheet.facts)
            for fact in sheet.facts:
                if fact.kind == "note":
                    continue
                check_kind(trial, fact)
                check_statistics(trial, fact)
                check_statement(trial, fact, language, fact.statement)
                check_statement(trial, fact, language, fact.headline)
                assert 0 < len(fact.headline.split(" ")) <= 12, fact.headline


def test_every_statement_says_what_a_second_computation_finds() -> None:
    failures: list[str] = []
    for seed in range(TABLES):
        try:
            check(seed)
        except AssertionError as error:  # all failures at once
            failures.append(f"table {seed} ({list(SHAPES)[seed % len(SHAPES)]}): {error}"[:600])
    assert failures == []


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_facts(name: str) -> None:
    trial = trial_of(SHAPES[name], Random(7))
    with closing(trial.database):
        sheet = fact_sheet(
            FactTable(
                question=SHAPES[name].question, rows=trial.rows, found=trial.found, wording=Wording("en")
            )
        )
    assert sheet.lead
