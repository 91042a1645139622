"""Tools that profile a table and look for defects of its data, by fixed statements."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import mode
from typing import Annotated

from pydantic import Field, JsonValue
from sqlglot import exp

from app.modules.database_connection.results import ResultColumn, ResultSet, type_of_values
from app.modules.database_connection.schema import ForeignKey, Table, TableColumn
from app.modules.run.records import Row
from app.modules.sql_generation.foreign_keys import inferred_keys
from app.modules.tools.context import ToolContext, ToolDatabase
from app.modules.tools.results import rows_of
from app.modules.tools.tool import Arguments, ToolFailed, ToolResult, tool
from app.modules.tools.toolsets.databases import DatabaseLabel
from app.modules.tools.toolsets.queries import describe_rows, keep_rows
from graph.errors import StatementFailed

_COLUMNS_AT_ONCE = 8
_MOST_COLUMNS = 60
_FAR_DEVIATIONS = 5
_MOST_DAYS = 10_000
_LEAST_DAYS = 8
_MOST_GAPS = 5
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
    """What a column holds, as counted now."""

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
            each.distinct,
            _as_text(each.minimum),
            _as_text(each.maximum),
        ]
        for each in profiles
    ]
    names = ("column", "type", "rows", "nulls", "distinct", "minimum", "maximum")
    return await _kept(context, database, names, rows=rows, said=f"{table.name} has {total:,} rows.")


async def check_data(given: OneTable, context: ToolContext) -> ToolResult:
    database, table = await _table(given, context)
    total, profiles = await _profiles(database, table, context)
    found = _Checked()
    _check_profiles(table, total, profiles, found=found)
    checks = [
        ("Looking for duplicates", _check_duplicates(database, table, total, found=found)),
        ("Looking for orphans", _check_orphans(database, table, found)),
        ("Looking at dates", _check_dates(database, table, profiles, found=found)),
        ("Looking for outliers", _check_outliers(database, table, profiles, found=found)),
    ]
    for number, (message, check) in enumerate(checks):
        context.progress(message, 0.5 + 0.5 * number / len(checks))
        await check
    said = [f"{table.name} has {total:,} rows; {len(found.rows)} things stand out."]
    said += [f"Not checked: {each}" for each in found.skipped]
    return await _kept(
        context, database, ("check", "column", "count", "detail"), rows=found.rows, said="\n".join(said)
    )


async def _table(given: OneTable, context: ToolContext) -> tuple[ToolDatabase, Table]:
    database = context.databases.named(given.database)
    tables = (await database.index()).tables
    wanted = given.table.casefold()
    found = next((table for name, table in tables.items() if name.casefold() == wanted), None)
    if found is None:
        raise ToolFailed(f"There is no table {given.table!r}. Look for tables with find_tables.")
    return database, found


async def _kept(
    context: ToolContext, database: ToolDatabase, names: Sequence[str], *, rows: list[Row], said: str
) -> ToolResult:
    """Rows that KAI has made are kept as those of a statement are, so that a finding can point at them."""
    columns = tuple(
        ResultColumn(name, type_of_values(row[at] for row in rows)) for at, name in enumerate(names)
    )
    kept = await keep_rows(context, database, ResultSet(columns, rows, truncated=False), sql="")
    return ToolResult(text=f"{said}\n{describe_rows(context.result_name, rows_of(kept, rows))}", result=kept)


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
        is_ordered = is_measured and each.type != "boolean"
        counted += [
            exp.Count(this=column).as_(f"c{at}_filled"),
            (
                exp.Count(this=exp.Distinct(expressions=[column])) if is_measured else exp.Literal.number(0)
            ).as_(f"c{at}_distinct"),
            (exp.Min(this=column) if is_ordered else exp.null()).as_(f"c{at}_least"),
            (exp.Max(this=column) if is_ordered else exp.null()).as_(f"c{at}_most"),
        ]
    return exp.select(*counted).from_(_source(table.name)).sql(dialect=dialect)


def _check_profiles(table: Table, total: int, profiles: Sequence[ColumnProfile], *, found: _Checked) -> None:
    for each in profiles:
        name = each.column.name
        nulls = total - each.filled
        if total and nulls == total:
            found.add("nulls", name, nulls, detail="every value is null")
        elif nulls:
            found.add("nulls", name, nulls, detail=f"{nulls / total:.1%} of the rows have no value")
        if total > 1 and each.filled == total and each.distinct == 1:
            found.add("constant", name, total, detail=f"every row has the value {each.minimum!r}")


async def _check_duplicates(database: ToolDatabase, table: Table, total: int, *, found: _Checked) -> None:
    """The key has to be distinct; without a declared one, no row may be there twice."""
    key = [column.name for column in table.columns if column.primary_key]
    names = key or [column.name for column in table.columns if column.type not in _UNMEASURED][:_MOST_COLUMNS]
    groups = (
        exp.select(*map(_column, names), exp.Count(this=exp.Star()).as_("n"))
        .from_(_source(table.name))
        .group_by(*map(_column, names))
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))
    )
    statement = exp.select(
        exp.Count(this=exp.Star()).as_("keys"), exp.Sum(this=exp.column("n")).as_("rows")
    ).from_(groups.subquery("repeated"))
    row = await _first_row(database, statement, "duplicates", found=found)
    if row is not None and _whole(row[0]):
        extra = _whole(row[1]) - _whole(row[0])
        what = f"{_whole(row[0]):,} keys occur" if key else f"{_whole(row[0]):,} rows occur"
        found.add(
            "duplicates", ", ".join(names), extra, detail=f"{what} more than once, {extra:,} rows too many"
        )
    for column in [] if key else [each for each in table.columns if _looks_like_key(table, each)]:
        statement = exp.select(
            exp.Count(this=_column(column.name)).as_("filled"),
            exp.Count(this=exp.Distinct(expressions=[_column(column.name)])).as_("distinct_values"),
        ).from_(_source(table.name))
        row = await _first_row(database, statement, f"duplicates of {column.name}", found=found)
        if row is not None and _whole(row[1]) < _whole(row[0]):
            extra = _whole(row[0]) - _whole(row[1])
            found.add(
                "duplicates", column.name, extra, detail=f"{extra:,} of {total:,} rows repeat another's value"
            )


def _looks_like_key(table: Table, column: TableColumn) -> bool:
    name = column.name.casefold()
    singular = table.name.casefold().rstrip("s")
    return name in ("id", f"{singular}_id", f"{singular}id", f"{table.name.casefold()}_id")


async def _check_orphans(database: ToolDatabase, table: Table, found: _Checked) -> None:
    tables = (await database.index()).tables
    inferred = () if table.foreign_keys else inferred_keys(list(tables.values())).get(table.name, ())
    for key in [*table.foreign_keys, *inferred]:
        if key.referred_table not in tables or not key.columns:
            continue
        names = ", ".join(key.columns)
        row = await _first_row(database, _orphans(table, key), f"orphans of {names}", found=found)
        if row is not None and _whole(row[0]):
            detail = f"{_whole(row[0]):,} rows refer to no row of {key.referred_table}"
            found.add("orphans", names, _whole(row[0]), detail=detail)


def _orphans(table: Table, key: ForeignKey) -> exp.Select:
    pairs = list(zip(key.columns, key.referred_columns, strict=True))
    on = exp.and_(*(_column(here, "child").eq(_column(there, "parent")) for here, there in pairs))
    filled = [_column(here, "child").is_(exp.null()).not_() for here, _ in pairs]
    return (
        exp.select(exp.Count(this=exp.Star()).as_("n"))
        .from_(_source(table.name, "child"))
        .join(_source(key.referred_table, "parent"), on=on, join_type="left")
        .where(_column(pairs[0][1], "parent").is_(exp.null()), *filled)
    )


async def _check_dates(
    database: ToolDatabase, table: Table, profiles: Sequence[ColumnProfile], *, found: _Checked
) -> None:
    tomorrow = (datetime.now(UTC).date() + timedelta(days=1)).isoformat()
    for each in profiles:
        if each.column.type not in _TIMES or not isinstance(each.maximum, str):
            continue
        name = each.column.name
        if each.maximum[:10] >= tomorrow:
            statement = (
                exp.select(exp.Count(this=exp.Star()).as_("n"))
                .from_(_source(table.name))
                .where(exp.GTE(this=_column(name), expression=exp.Literal.string(tomorrow)))
            )
            row = await _first_row(database, statement, f"future dates of {name}", found=found)
            if row is not None and _whole(row[0]):
                detail = f"{_whole(row[0]):,} rows lie in the future, the last at {each.maximum}"
                found.add("future dates", name, _whole(row[0]), detail=detail)
        if each.distinct >= _LEAST_DAYS and each.column.type == "date":
            await _check_gaps(database, table, name, found=found)


async def _check_gaps(database: ToolDatabase, table: Table, name: str, *, found: _Checked) -> None:
    """Pauses between days that are much longer than the usual one."""
    statement = (
        exp.select(_column(name).as_("day"))
        .distinct()
        .from_(_source(table.name))
        .where(_column(name).is_(exp.null()).not_())
        .order_by(_column(name))
        .limit(_MOST_DAYS)
    )
    try:
        rows = (await database.run(statement.sql(dialect=database.dialect))).rows
    except StatementFailed as error:
        found.skipped.append(f"gaps of {name} ({error.detail})")
        return
    days = sorted({day for row in rows if (day := _day(row[0])) is not None})
    pauses = [(later - earlier).days for earlier, later in pairwise(days)]
    if len(pauses) < _LEAST_DAYS - 1:
        return
    usual = mode(pauses)
    longest = sorted(
        ((pause, day) for pause, day in zip(pauses, days, strict=False) if pause > max(3 * usual, usual + 6)),
        reverse=True,
    )
    for pause, day in longest[:_MOST_GAPS]:
        until = day + timedelta(days=pause)
        found.add(
            "gap", name, pause - usual, detail=f"no row between {day} and {until}; usually {usual} days apart"
        )


async def _check_outliers(
    database: ToolDatabase, table: Table, profiles: Sequence[ColumnProfile], *, found: _Checked
) -> None:
    keys = {column.name for column in table.columns if column.primary_key} | table.foreign_key_columns
    for each in profiles:
        name = each.column.name
        is_measure = each.column.type in _NUMBERS and name not in keys and each.distinct > _LEAST_DAYS
        if not is_measure or _looks_like_key(table, each.column):
            continue
        number = exp.Mul(this=_column(name), expression=exp.Literal.number("1.0"))
        moments = exp.select(
            exp.Avg(this=number).as_("mean"),
            exp.Avg(this=exp.Mul(this=number, expression=number)).as_("square"),
        ).from_(_source(table.name))
        row = await _first_row(database, moments, f"outliers of {name}", found=found)
        if row is None or (mean := _real(row[0])) is None or (square := _real(row[1])) is None:
            continue
        deviation = max(square - mean * mean, 0) ** 0.5
        far = _FAR_DEVIATIONS * deviation
        low, high = mean - far, mean + far
        column = _column(name)
        statement = (
            exp.select(exp.Count(this=exp.Star()).as_("n"))
            .from_(_source(table.name))
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
                f"{_whole(row[0]):,} values lie more than {_FAR_DEVIATIONS} standard deviations from the "
                f"mean {mean:g}; from {each.minimum} to {each.maximum}"
            )
            found.add("outliers", name, _whole(row[0]), detail=detail)


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


def _source(name: str, alias: str | None = None) -> exp.Expr:
    source = exp.Table(this=exp.to_identifier(name, quoted=True))
    return source if alias is None else exp.alias_(source, alias, table=True)


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
