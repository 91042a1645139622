"""Facts from the database about a statement's data: its key columns, and its first and last day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pydantic import JsonValue
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope

from app.modules.analysis.figures.calendar import CalendarUnit
from app.modules.analysis.figures.statement import calendar_unit
from app.modules.analysis.figures.trend import DataSpan
from app.modules.database_connection.schema import Schema
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of

_DEEPEST = 12
_COLUMNS = 3
_BOUNDS = 5
_BEFORE = 4
_ISO_DATE = len("2026-01-31")
_WEEKDAYS = frozenset({"WEEKDAY", "YEARWEEK"})
_PARTS = frozenset({"ISODOW", "DOW", "DAYOFWEEK", "WEEKDAY"})


@dataclass(frozen=True)
class SpanStatement:
    """A statement that returns the days of another one's dates, which is `narrowed` if other conditions than
    those on the dates choose among their rows.
    """

    sql: str
    narrowed: bool


def span_statement(sql: str, schema: Schema) -> SpanStatement | None:
    """Build the statement that returns the first day, the last day and the count of a statement's dates.

    These are the dates that the statement cuts to weeks, months, quarters or years. The new statement reads
    their whole table, with only those conditions that are about this date column. If these are bounds, it
    returns them too (from when, before when, and up to when) with the first and last day of the whole table.

    Returns None when there are no such dates, when it is unclear which table they belong to, or when the
    statement cannot be parsed.
    """
    try:
        with sqlglot_errors_only():
            scope = build_scope(statement_of(sql, schema.dialect).tree)
            found = _cut_date(scope, schema) if scope is not None else None
            narrowing = _narrowing(scope) if scope is not None else 0
    except (SqlglotError, RecursionError):
        return None
    if found is None:
        return None
    column, table, select = found
    conditions = _conditions(select, column)
    wanted: list[exp.Expr] = [each(this=column.copy()) for each in (exp.Min, exp.Max, exp.Count)]
    bounds = _bounds(conditions)
    if any(bounds):
        wanted += [exp.null() if each is None else each.copy() for each in bounds]
        wanted += [exp.select(each.copy()).from_(table.copy()).subquery() for each in wanted[:2]]
    statement = exp.select(*wanted).from_(table.copy()).where(*conditions)
    return SpanStatement(statement.sql(dialect=schema.dialect), narrowing > len(conditions))


def _narrowing(scope: Scope) -> int:
    """The number of conditions, joins and limits in a statement, each of which may leave rows out."""
    tree = scope.expression
    wheres = [each.this for each in tree.find_all(exp.Where, exp.Having, exp.Qualify)]
    conditions = sum(len(list(each.flatten())) if isinstance(each, exp.And) else 1 for each in wheres)
    conditional = len(list(tree.find_all(exp.Join, exp.Limit, exp.Fetch, exp.If, exp.Filter)))
    return conditions + conditional


def key_columns(sql: str, schema: Schema) -> frozenset[str]:
    """The names, in lower case, of the columns that identify or refer to rows of the statement's tables."""
    try:
        with sqlglot_errors_only():
            tree = statement_of(sql, schema.dialect).tree
    except (SqlglotError, RecursionError):
        return frozenset()
    read = {schema.names.find(node) for node in tree.find_all(exp.Table)}
    tables = [table for table in schema.tables if table.name in read]
    own = {column.name.lower() for table in tables for column in table.columns if column.primary_key}
    referring = {name.lower() for table in tables for key in table.foreign_keys for name in key.columns}
    return frozenset(own | referring)


def read_span(rows: Sequence[Sequence[JsonValue]], *, narrowed: bool = False) -> DataSpan | None:
    """Parse the rows of a `span_statement`; None unless its dates are ISO text, which sorts by time."""
    if len(rows) != 1 or len(rows[0]) not in (_COLUMNS, _COLUMNS + _BOUNDS):
        return None
    days = [_day(cell) for cell in rows[0]]
    first, last, count = *days[:2], rows[0][2]
    if first is None or last is None or not isinstance(count, int):
        return None
    since, before, until, earliest, latest = days[_COLUMNS:] or [None] * _BOUNDS
    if before is not None:
        is_midnight = str(rows[0][_BEFORE])[_ISO_DATE:].strip("T 0:.Z+") == ""
        until = before - timedelta(days=1) if is_midnight else before
    return DataSpan(first, last, count, since, until, earliest, latest, narrowed)


def _day(cell: JsonValue) -> date | None:
    try:
        return date.fromisoformat(cell[:_ISO_DATE]) if isinstance(cell, str) else None
    except ValueError:
        return None


_Found = tuple[exp.Column, exp.Table, exp.Select]


def _cut_date(scope: Scope, schema: Schema) -> _Found | None:
    """The column behind the first projection that is cut to a unit longer than a day."""
    if not isinstance(scope.expression, exp.Select):
        return None
    found = (_origin(each, scope, schema) for each in scope.expression.selects)
    return next((each for each in found if each is not None), None)


def _origin(projection: exp.Expr, scope: Scope, schema: Schema) -> _Found | None:
    """Follow a projection through inner queries to its table's column; None unless it cuts exactly one."""
    units: set[CalendarUnit | None] = set()
    for _ in range(_DEEPEST):
        columns = list(projection.find_all(exp.Column))
        if not columns or any(each != columns[0] for each in columns):
            return None
        if projection.find(exp.AggFunc) is not None:
            return None
        units |= {
            "week" if _is_weekday(part) else calendar_unit(part) for part in projection.unalias().walk()
        }
        inner = _inner(scope, columns[0])
        if inner is None:
            table = _table_of(columns[0], scope, schema)
            if (
                table is None
                or not units - {None, "hour", "day"}
                or not isinstance(scope.expression, exp.Select)
            ):
                return None
            return columns[0], table, scope.expression
        selects = inner.expression.selects if isinstance(inner.expression, exp.Select) else []
        named = [each for each in selects if each.alias_or_name == columns[0].name]
        if not named:
            return None
        projection = named[0]
        scope = inner
    return None


def _inner(scope: Scope, column: exp.Column) -> Scope | None:
    sources = [source for _, source in scope.selected_sources.values()]
    if column.table:
        named = scope.selected_sources.get(column.table)
        sources = [named[1]] if named else []
    inner = [source for source in sources if isinstance(source, Scope)]
    return inner[0] if len(inner) == 1 and (column.table or len(sources) == 1) else None


def _table_of(column: exp.Column, scope: Scope, schema: Schema) -> exp.Table | None:
    tables = {
        name: source
        for name, (_, source) in scope.selected_sources.items()
        if isinstance(source, exp.Table) and (not column.table or column.table == name)
    }
    if len(tables) == 1:
        return next(iter(tables.values()))
    holding = {
        table.name
        for table in schema.tables
        if any(each.name.lower() == column.name.lower() for each in table.columns)
    }
    found = [table for table in tables.values() if schema.names.find(table) in holding]
    return found[0] if len(found) == 1 else None


def _conditions(select: exp.Select, column: exp.Column) -> list[exp.Expr]:
    """The conditions that are about this column and nothing else."""
    where = select.args.get("where")
    if where is None:
        return []
    conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    return [each.copy() for each in conditions if _is_about(each, column)]


def _is_about(condition: exp.Expr, column: exp.Column) -> bool:
    columns = list(condition.find_all(exp.Column))
    same = all(each.name.lower() == column.name.lower() and each.table == column.table for each in columns)
    return bool(columns) and same and condition.find(exp.Query) is None


def _is_weekday(part: exp.Expr) -> bool:
    """Return True for a day of the week, by which dates are set back to the first day of theirs."""
    match part:
        case exp.Literal():
            return part.is_string and (part.name.lower().startswith("weekday ") or part.name in ("%w", "%u"))
        case exp.Anonymous():
            return part.name.upper() in _WEEKDAYS
        case exp.Extract():
            return part.this.name.upper() in _PARTS
        case exp.DateDiff():
            return part.text("unit").upper() == "WEEK"
    return isinstance(part, exp.DayOfWeek | exp.DayOfWeekIso)


_Bounds = tuple[exp.Expr | None, exp.Expr | None, exp.Expr | None]


def _bounds(conditions: Sequence[exp.Expr]) -> _Bounds:
    """The day from which, before which and up to which conditions let dates through."""
    since = before = until = None
    for each in conditions:
        bound = each.args.get("expression")
        match each:
            case exp.Between(this=exp.Column()):
                since, until = each.args["low"], each.args["high"]
            case exp.Binary(this=exp.Column()) if bound is None or bound.find(exp.Column) is not None:
                continue
            case exp.GTE(this=exp.Column()) | exp.GT(this=exp.Column()):
                since = bound
            case exp.LT(this=exp.Column()):
                before = bound
            case exp.LTE(this=exp.Column()):
                until = bound
    return since, before, until
