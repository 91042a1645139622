"""Date functions, such as YEAR(x), applied to columns of numbers.

SQLite's date functions would read such a number as a Julian day.
"""

from collections.abc import Iterator

from sqlglot import exp

from app.modules.database_connection.schema import TableColumn
from app.modules.sql_generation.checking.names import SchemaNames

_FUNCTIONS = (exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.Extract, exp.DateTrunc, exp.TimestampTrunc)
_FIRST_YEAR = 1000
_LAST_YEAR = 2999


class DateParts:
    """The date functions in a parsed, unqualified statement whose arguments are whole numbers."""

    def __init__(self, statement: exp.Expr, schema: SchemaNames) -> None:
        self._schema = schema
        self._statement = statement
        self._years: list[tuple[exp.Expr, exp.Column]] = []
        self.has_other_numbers = False
        """True if there is another date function of a number, such as its month: its meaning is unknown."""
        for function in statement.find_all(*_FUNCTIONS):
            column = _argument(function)
            stored = [] if column is None else list(self._stored(column))
            if column is None or not stored or any(each.type != "integer" for each in stored):
                continue
            if _is_year_of(function) and all(map(_holds_years, stored)):
                self._years.append((function, column))
            else:
                self.has_other_numbers = True

    def take_years(self) -> list[str]:
        """Replace each YEAR of a column of years by the column, in the statement itself.

        Returns the names of the columns.
        """
        for function, column in self._years:
            function.replace(column.copy())
        return list(dict.fromkeys(column.name for _, column in self._years))

    def _stored(self, column: exp.Column) -> Iterator[TableColumn]:
        """Yields the stored columns that a column of the statement may mean."""
        schema = self._schema
        for source in self._statement.find_all(exp.Table):
            table = schema.table_of(source)
            named = not column.table or schema.folded(source.alias_or_name) == schema.folded(column.table)
            if table is not None and named:
                wanted = schema.folded(column.name)
                yield from (each for each in table.columns if schema.folded(each.name) == wanted)


def _argument(function: exp.Expr) -> exp.Column | None:
    inner = function.expression if isinstance(function, exp.Extract) else function.this
    while isinstance(inner, exp.TsOrDsToDate | exp.Cast | exp.Paren):
        inner = inner.this
    return inner if isinstance(inner, exp.Column) else None


def _is_year_of(function: exp.Expr) -> bool:
    return isinstance(function, exp.Year) or (
        isinstance(function, exp.Extract) and function.name.upper() == "YEAR"
    )


def _holds_years(column: TableColumn) -> bool:
    """Decides by the minimum and maximum of the column, or by its name if it is not profiled yet."""
    if column.minimum is None or column.maximum is None:
        return "year" in column.name.lower()
    return _is_year(column.minimum) and _is_year(column.maximum)


def _is_year(number: str) -> bool:
    return number.isdigit() and _FIRST_YEAR <= int(number) <= _LAST_YEAR
