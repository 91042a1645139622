"""Facts from the database about a statement's data: its key columns, and its first and last day."""

from collections.abc import Sequence
from datetime import date

from pydantic import JsonValue
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope

from app.modules.analysis.figures.calendar import CalendarUnit
from app.modules.analysis.figures.course import Span
from app.modules.analysis.figures.statement import calendar_unit
from app.modules.database_connection.schema import Schema
from app.modules.sql.parsing import sqlglot_errors_only
from app.modules.sql.statement import statement_of

_DEEPEST = 12


def span_statement(sql: str, schema: Schema) -> str | None:
    """Build the statement that returns the first day, the last day and the count of a statement's dates.

    These are the dates that the statement cuts to weeks, months, quarters or years. The new statement reads
    their whole table, with only those conditions that are about this date column.

    Returns None when there are no such dates, when it is unclear which table they belong to, or when the
    statement cannot be parsed.
    """
    try:
        with sqlglot_errors_only():
            scope = build_scope(statement_of(sql, schema.dialect).tree)
            found = _cut_date(scope, schema) if scope is not None else None
    except (SqlglotError, RecursionError):
        return None
    if found is None:
        return None
    column, table, select = found
    wanted = [exp.Min(this=column.copy()), exp.Max(this=column.copy()), exp.Count(this=column.copy())]
    statement = exp.select(*wanted).from_(table.copy()).where(*_conditions(select, column))
    return statement.sql(dialect=schema.dialect)


def key_columns(sql: str, schema: Schema) -> frozenset[str]:
    """The names, in lower case, of the columns that identify or refer to rows of the statement's tables."""
    try:
        with sqlglot_errors_only():
            tree = statement_of(sql, schema.dialect).tree
    except (SqlglotError, RecursionError):
        return frozenset()
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    tables = [table for table in schema.tables if table.name.lower() in read]
    own = {column.name.lower() for table in tables for column in table.columns if column.primary_key}
    referring = {name.lower() for table in tables for key in table.foreign_keys for name in key.columns}
    return frozenset(own | referring)


def read_span(rows: Sequence[Sequence[JsonValue]]) -> Span | None:
    """Parse the rows of a `span_statement`; None unless its dates are ISO text, which sorts by time."""
    if len(rows) != 1 or len(rows[0]) != 3:
        return None
    first, last, count = rows[0]
    if not isinstance(first, str) or not isinstance(last, str) or not isinstance(count, int):
        return None
    try:
        return Span(date.fromisoformat(first[:10]), date.fromisoformat(last[:10]), count)
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
        units |= {calendar_unit(part) for part in projection.unalias().walk()}
        inner = _inner(scope, columns[0])
        if inner is None:
            table = _table_of(columns[0], scope, schema)
            if table is None or not units - {None, "day"} or not isinstance(scope.expression, exp.Select):
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
        table.name.lower()
        for table in schema.tables
        if any(each.name.lower() == column.name.lower() for each in table.columns)
    }
    found = [table for table in tables.values() if table.name.lower() in holding]
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
