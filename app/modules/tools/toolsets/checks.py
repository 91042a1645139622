"""Tools that profile a table and look for defects of its data, by fixed statements."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Annotated

from pydantic import Field, JsonValue
from sqlglot import exp

from app.modules.database_connection.schema import ForeignKey, Table, TableColumn
from app.modules.records.model import Row
from app.modules.sql_generation.foreign_keys import inferred_keys
from app.modules.tools.context import ToolContext, ToolDatabase
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
from app.modules.tools.toolsets.databases import DatabaseLabel
from app.modules.tools.toolsets.queries import keep_table
from graph.errors import StatementFailed

_COLUMNS_AT_ONCE = 8
_LEAST_REPEATED = 3
"""Rows without their key are compared only if so many columns remain: few agree by chance."""
_MOST_COLUMNS = 60
_FAR_DEVIATIONS = 5
_FAR_QUARTILES = 8
"""A value is an outlier, too, if it lies so many times the middle half's width beyond it: many outliers hide
each other from the standard deviation.
"""
_CONSTANT_SHARE = 0.9
"""A column is constant if so many of its rows have a value, and all the same one."""
_ONE_DAY_SHARE = 0.5
_LEAST_FOR_ONE_DAY = 20
_PLACEHOLDER_DAYS = ("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01")
"""Days that programs store for no date."""
_MOST_DAYS = 10_000
_LEAST_DAYS = 8
_MOST_GAPS = 5
_USUAL_SHARE = 0.05
"""A pause between days is usual if so many of all pauses are as long."""
_REGULAR_SHARE = 0.98
_KEY_NAME = re.compile(r"(^|_)(id|no|nr|number|code|key|ref|reference|uuid|guid|sku|email|isbn|serial)$")
_KEY_SHARE = 0.9
"""A column that is named like a key should be one if so many of its values are distinct."""
_TIMES = ("date", "datetime")
_NUMBERS = ("integer", "number")
_UNMEASURED = ("binary", "json")


class OneTable(Arguments):
    """A table."""

    table: Annotated[str, Field(min_length=1, max_length=300)]
    """Name of the table."""
    database: DatabaseLabel = None
    """Name of the database. Left out: the session's main one."""


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """What a column holds, as counted now. Of passwords, keys and tokens no value is read."""

    column: TableColumn
    filled: int
    distinct: int
    minimum: JsonValue
    maximum: JsonValue


@dataclass
class _Checked:
    """Defects found so far."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, kind: str, column: str, count: int | None, *, detail: str) -> None:
        self.rows.append([kind, column, count, detail])


async def profile_table(given: OneTable, context: ToolContext) -> ToolResult:
    database, table = await _table(given, context)
    total, profiles = await _profiles(database, table, context)
    rows: list[Row] = [
        [
            each.column.name,
            each.column.type,
            total,
            total - each.filled,
            each.distinct if each.column.type not in _UNMEASURED else None,
            _as_text(each.minimum),
            _as_text(each.maximum),
        ]
        for each in profiles
    ]
    names = ("column", "type", "rows", "nulls", "distinct", "minimum", "maximum")
    said = f"{table.name} has {total:,} rows."
    if unmeasured := [each.name for each in table.columns[:_MOST_COLUMNS] if each.type in _UNMEASURED]:
        said += f" Of JSON, arrays and binary values only nulls are counted: {', '.join(unmeasured)}."
    return await keep_table(context, said, names, rows=rows, database=database)


async def check_data(given: OneTable, context: ToolContext) -> ToolResult:
    database, table = await _table(given, context)
    total, profiles = await _profiles(database, table, context)
    found = _Checked()
    _check_profiles(table, total, profiles, found=found)
    checks = [
        ("Looking for duplicates", _check_duplicates(database, table, profiles, found=found)),
        ("Looking for orphans", _check_orphans(database, table, found)),
        ("Looking at dates", _check_dates(database, table, profiles, found=found)),
        ("Looking for outliers", _check_outliers(database, table, profiles, found=found)),
    ]
    for number, (message, check) in enumerate(checks):
        context.progress(message, 0.5 + 0.5 * number / len(checks))
        await check
    said = [f"{table.name} has {total:,} rows; {len(found.rows)} things stand out."]
    said += [f"Not checked: {each}" for each in found.skipped]
    names = ("check", "column", "count", "detail")
    return await keep_table(context, "\n".join(said), names, rows=found.rows, database=database)


async def _table(given: OneTable, context: ToolContext) -> tuple[ToolDatabase, Table]:
    database = context.databases.named(given.database)
    found = await database.table(given.table)
    if found is None:
        raise ToolFailed(f"There is no table {given.table!r}. Look for tables with find_tables.")
    return database, found


async def _profiles(
    database: ToolDatabase, table: Table, context: ToolContext
) -> tuple[int, list[ColumnProfile]]:
    """Returns the number of rows, and the profile of each column."""
    columns = list(table.columns)[:_MOST_COLUMNS]
    profiles: list[ColumnProfile] = []
    total = 0
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        context.progress(f"Counting {table.name}", 0.5 * start / len(columns))
        some = columns[start : start + _COLUMNS_AT_ONCE]
        row = (await database.run(_profile_statement(table, some, database.dialect))).rows[0]
        total = _whole(row[0])
        for at, column in enumerate(some):
            filled, distinct, minimum, maximum = row[1 + 4 * at : 5 + 4 * at]
            profiles.append(
                ColumnProfile(
                    column=column,
                    filled=_whole(filled),
                    distinct=_whole(distinct),
                    minimum=minimum,
                    maximum=maximum,
                )
            )
    return total, profiles


def _profile_statement(table: Table, columns: Sequence[TableColumn], dialect: str) -> str:
    counted: list[exp.Expr] = [exp.Count(this=exp.Star()).as_("n")]
    for at, each in enumerate(columns):
        column = _column(each.name)
        is_measured = each.type not in _UNMEASURED
        is_ordered = is_measured and each.type != "boolean" and not table.is_secret(each.name)
        counted += [
            exp.Count(this=column).as_(f"c{at}_filled"),
            (
                exp.Count(this=exp.Distinct(expressions=[column])) if is_measured else exp.Literal.number(0)
            ).as_(f"c{at}_distinct"),
            (exp.Min(this=column) if is_ordered else exp.null()).as_(f"c{at}_least"),
            (exp.Max(this=column) if is_ordered else exp.null()).as_(f"c{at}_most"),
        ]
    return exp.select(*counted).from_(_source(table)).sql(dialect=dialect)


def _check_profiles(table: Table, total: int, profiles: Sequence[ColumnProfile], *, found: _Checked) -> None:
    for each in profiles:
        name = each.column.name
        nulls = total - each.filled
        if total and nulls == total:
            found.add("nulls", name, nulls, detail="every value is null")
        elif nulls:
            found.add("nulls", name, nulls, detail=f"{nulls / total:.1%} of the rows have no value")
        if each.filled > 1 and each.filled >= _CONSTANT_SHARE * total and each.distinct == 1:
            whose = "every row" if each.filled == total else "every row with a value"
            value = "the same value" if each.minimum is None else repr(each.minimum)
            found.add("constant", name, each.filled, detail=f"{whose} has {value}")


async def _check_duplicates(
    database: ToolDatabase, table: Table, profiles: Sequence[ColumnProfile], *, found: _Checked
) -> None:
    """The key has to be distinct, and no row may be there twice, under whatever key."""
    key = [column.name for column in table.columns if column.primary_key]
    rest = [
        each.name
        for each in table.columns
        if each.type not in _UNMEASURED and not (each.primary_key and len(key) == 1)
    ]
    if key:
        await _check_repeated(database, table, key, what="keys", found=found)
    if len(rest) >= _LEAST_REPEATED:
        await _check_repeated(database, table, rest[:_MOST_COLUMNS], what="rows", found=found)
    for each in profiles:
        column = each.column
        if not column.primary_key and each.distinct < each.filled and _should_be_distinct(table, each):
            extra = each.filled - each.distinct
            detail = f"{extra:,} of {each.filled:,} rows repeat another's value"
            found.add("duplicates", column.name, extra, detail=detail)


async def _check_repeated(
    database: ToolDatabase, table: Table, names: Sequence[str], *, what: str, found: _Checked
) -> None:
    """Rows that agree in these columns."""
    groups = (
        exp.select(*map(_column, names), exp.Count(this=exp.Star()).as_("n"))
        .from_(_source(table))
        .group_by(*map(_column, names))
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))
    )
    statement = exp.select(
        exp.Count(this=exp.Star()).as_("keys"), exp.Sum(this=exp.column("n")).as_("rows")
    ).from_(groups.subquery("repeated"))
    row = await _first_row(database, statement, "duplicates", found=found)
    if row is not None and _whole(row[0]):
        extra = _whole(row[1]) - _whole(row[0])
        detail = f"{_whole(row[0]):,} {what} occur more than once, {extra:,} rows too many"
        found.add("duplicates", ", ".join(names), extra, detail=detail)


def _should_be_distinct(table: Table, profile: ColumnProfile) -> bool:
    """True for the table's own id, and for a column named like a key whose values are nearly all distinct."""
    column = profile.column
    if _looks_like_key(table, column):
        return True
    is_key = _KEY_NAME.search(column.name.casefold()) is not None
    is_own = column.name not in table.foreign_key_columns and column.type in ("text", "integer")
    return is_key and is_own and profile.distinct >= _KEY_SHARE * profile.filled


def _looks_like_key(table: Table, column: TableColumn) -> bool:
    name = column.name.casefold()
    singular = table.name.casefold().rstrip("s")
    own = ("id", f"{singular}_id", f"{singular}id", f"{table.name.casefold()}_id")
    return name in own and column.name not in table.foreign_key_columns


async def _check_orphans(database: ToolDatabase, table: Table, found: _Checked) -> None:
    tables = (await database.index()).tables
    inferred = () if table.foreign_keys else inferred_keys(list(tables.values())).get(table.name, ())
    for key in [*table.foreign_keys, *inferred]:
        if key.referred_table not in tables or not key.columns:
            continue
        names = ", ".join(key.columns)
        row = await _first_row(
            database, _orphans(table, tables[key.referred_table], key), f"orphans of {names}", found=found
        )
        if row is not None and _whole(row[0]):
            detail = f"{_whole(row[0]):,} rows refer to no row of {key.referred_table}"
            found.add("orphans", names, _whole(row[0]), detail=detail)


def _orphans(table: Table, referred: Table, key: ForeignKey) -> exp.Select:
    pairs = list(zip(key.columns, key.referred_columns, strict=True))
    on = exp.and_(*(_column(here, "child").eq(_column(there, "parent")) for here, there in pairs))
    filled = [_column(here, "child").is_(exp.null()).not_() for here, _ in pairs]
    return (
        exp.select(exp.Count(this=exp.Star()).as_("n"))
        .from_(_source(table, "child"))
        .join(_source(referred, "parent"), on=on, join_type="left")
        .where(_column(pairs[0][1], "parent").is_(exp.null()), *filled)
    )


async def _check_dates(
    database: ToolDatabase, table: Table, profiles: Sequence[ColumnProfile], *, found: _Checked
) -> None:
    today = datetime.now(UTC).date()
    tomorrow = (today + timedelta(days=1)).isoformat()
    for each in profiles:
        if not _holds_dates(each):
            continue
        name = each.column.name
        if str(each.maximum)[:10] >= tomorrow:
            statement = (
                exp.select(exp.Count(this=exp.Star()).as_("n"))
                .from_(_source(table))
                .where(exp.GTE(this=_column(name), expression=exp.Literal.string(tomorrow)))
            )
            row = await _first_row(database, statement, f"future dates of {name}", found=found)
            if row is not None and _whole(row[0]):
                detail = f"{_whole(row[0]):,} rows lie in the future, the last at {each.maximum}"
                found.add("future dates", name, _whole(row[0]), detail=detail)
        await _check_common_date(database, table, each, found=found)
        if each.distinct >= _LEAST_DAYS:
            await _check_gaps(database, table, each, today=today, found=found)


async def _check_common_date(
    database: ToolDatabase, table: Table, profile: ColumnProfile, *, found: _Checked
) -> None:
    """One date that most rows have, or that stands for none."""
    name = profile.column.name
    is_placeholder = str(profile.minimum)[:10] in _PLACEHOLDER_DAYS
    if profile.distinct < 2 or (profile.filled < _LEAST_FOR_ONE_DAY and not is_placeholder):
        return
    column = _column(name)
    count = exp.Count(this=exp.Star()).as_("n")
    grouped = exp.select(column.as_("moment"), count).from_(_source(table)).group_by(column).limit(1)
    filled = grouped.where(column.is_(exp.null()).not_())
    if is_placeholder:
        first = filled.order_by(column)
        row = await _first_row(database, first, f"placeholders of {name}", found=found)
        if row is not None:
            detail = f"{_whole(row[1]):,} rows have {row[0]}, which often stands for no date"
            found.add("placeholder dates", name, _whole(row[1]), detail=detail)
    most = filled.order_by(exp.column("n").desc())
    row = await _first_row(database, most, f"the most common date of {name}", found=found)
    if row is not None and _whole(row[1]) >= max(_ONE_DAY_SHARE * profile.filled, _LEAST_FOR_ONE_DAY):
        detail = f"{_whole(row[1]):,} of {profile.filled:,} rows have the same one, {row[0]}"
        found.add("constant dates", name, _whole(row[1]), detail=detail)


def _holds_dates(profile: ColumnProfile) -> bool:
    """True for dates and times, also if they are stored as text, as SQLite does."""
    if profile.column.type not in (*_TIMES, "text"):
        return False
    return _day(profile.minimum) is not None and _day(profile.maximum) is not None


async def _check_gaps(
    database: ToolDatabase, table: Table, profile: ColumnProfile, *, today: date, found: _Checked
) -> None:
    """Pauses between days, up to today, that are much longer than the usual ones."""
    name = profile.column.name
    column = _column(name)
    by_day = column if profile.column.type == "date" else exp.Date(this=column)
    statement = (
        exp.select(by_day.as_("day"))
        .distinct()
        .from_(_source(table))
        .where(column.is_(exp.null()).not_())
        .order_by(exp.column("day"))
        .limit(_MOST_DAYS)
    )
    try:
        rows = (await database.run(statement.sql(dialect=database.dialect))).rows
    except StatementFailed as error:
        found.skipped.append(f"gaps of {name} ({error.detail})")
        return
    days = sorted({day for row in rows if (day := _day(row[0])) is not None and day <= today})
    for pause, day_before, usual in longest_pauses(days)[:_MOST_GAPS]:
        until = day_before + timedelta(days=pause)
        detail = f"no row between {day_before} and {until}; usually at most {usual} days apart"
        found.add("gap", name, pause - usual, detail=detail)


def longest_pauses(days: Sequence[date]) -> list[tuple[int, date, int]]:
    """Returns the pauses that are unusual: their days, the day before each, and the longest usual pause.

    Longest first. `days` are distinct and sorted.
    """
    pauses = [(later - earlier).days for earlier, later in pairwise(days)]
    if len(pauses) < _LEAST_DAYS - 1:
        return []
    counts = Counter(pauses)
    least = max(2, _USUAL_SHARE * len(pauses))
    usual = max((pause for pause, count in counts.items() if count >= least), default=max(pauses))
    covered = sum(count for pause, count in counts.items() if pause <= usual) / len(pauses)
    is_regular = covered >= _REGULAR_SHARE or len(pauses) - covered * len(pauses) <= 2
    # Months differ by three days, so a missing one makes a pause of less than twice the longest.
    shortest = (2 * usual - 3 if usual > 7 else 2 * usual) if is_regular else max(3 * usual, usual + 6)
    found = [(pause, day, usual) for pause, day in zip(pauses, days, strict=False) if pause >= shortest]
    return sorted(found, reverse=True)


async def _check_outliers(
    database: ToolDatabase, table: Table, profiles: Sequence[ColumnProfile], *, found: _Checked
) -> None:
    keys = {column.name for column in table.columns if column.primary_key} | table.foreign_key_columns
    for each in profiles:
        name = each.column.name
        is_measure = each.column.type in _NUMBERS and name not in keys and each.distinct > _LEAST_DAYS
        if not is_measure or table.is_secret(name) or _looks_like_key(table, each.column):
            continue
        number = exp.Mul(this=_column(name), expression=exp.Literal.number("1.0"))
        moments = exp.select(
            exp.Avg(this=number).as_("mean"),
            exp.Avg(this=exp.Mul(this=number, expression=number)).as_("square"),
        ).from_(_source(table))
        row = await _first_row(database, moments, f"outliers of {name}", found=found)
        if row is None or (mean := _real(row[0])) is None or (square := _real(row[1])) is None:
            continue
        far = _FAR_DEVIATIONS * max(square - mean * mean, 0) ** 0.5
        low = mean - far
        high = mean + far
        quartiles = await _quartiles(database, table, each, found=found)
        if quartiles is not None and quartiles[1] > quartiles[0]:
            width = _FAR_QUARTILES * (quartiles[1] - quartiles[0])
            low = max(low, quartiles[0] - width)
            high = min(high, quartiles[1] + width)
        column = _column(name)
        statement = (
            exp.select(exp.Count(this=exp.Star()).as_("n"))
            .from_(_source(table))
            .where(
                exp.or_(
                    exp.LT(this=column, expression=exp.Literal.number(repr(low))),
                    exp.GT(this=column, expression=exp.Literal.number(repr(high))),
                )
            )
        )
        row = await _first_row(database, statement, f"outliers of {name}", found=found)
        if row is not None and _whole(row[0]):
            detail = (
                f"{_whole(row[0]):,} values lie far from the others, below {low:g} or above {high:g}; the "
                f"mean is {mean:g}, the values are from {each.minimum} to {each.maximum}"
            )
            found.add("outliers", name, _whole(row[0]), detail=detail)


async def _quartiles(
    database: ToolDatabase, table: Table, profile: ColumnProfile, *, found: _Checked
) -> tuple[float, float] | None:
    """Returns the values that a quarter and three quarters of the rows lie below."""
    column = _column(profile.column.name)
    values: list[float] = []
    for position in (profile.filled // 4, 3 * profile.filled // 4):
        statement = (
            exp.select(column)
            .from_(_source(table))
            .where(column.is_(exp.null()).not_())
            .order_by(column)
            .limit(1)
            .offset(position)
        )
        row = await _first_row(database, statement, f"quartiles of {profile.column.name}", found=found)
        value = None if row is None else _real(row[0])
        if value is None:
            return None
        values.append(value)
    return values[0], values[1]


async def _first_row(
    database: ToolDatabase, statement: exp.Select, what: str, *, found: _Checked
) -> Row | None:
    """Returns None, and notes it, if the statement does not run."""
    try:
        return (await database.run(statement.sql(dialect=database.dialect))).rows[0]
    except StatementFailed as error:
        found.skipped.append(f"{what} ({error.detail})")
        return None


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _source(table: Table, alias: str = "") -> exp.Table:
    return table.short_name.node(alias)


def _as_text(value: JsonValue) -> str | None:
    """Minima of different columns stand in one column, so they are of one type."""
    return None if value is None else str(value)


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _real(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _day(value: JsonValue) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


CHECKS = (
    tool(
        "profile_table",
        toolset="checks",
        category="read",
        description="Count the rows of a table, and the nulls, distinct values, minimum and maximum of each "
        "column.",
        arguments=OneTable,
        run=profile_table,
    ),
    tool(
        "check_data",
        toolset="checks",
        category="read",
        description="Look for defects in a table: nulls, duplicates, rows that refer to none, constant "
        "columns, dates in the future, outliers, and gaps in time.",
        arguments=OneTable,
        run=check_data,
    ),
)
