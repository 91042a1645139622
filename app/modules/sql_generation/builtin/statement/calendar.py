"""The calendar unit of a date as text, in each dialect."""

from calendar import day_name
from collections.abc import Sequence

from sqlglot import exp

from app.modules.sql_generation.builtin.periods import CalendarUnit

_FORMATS: dict[CalendarUnit, str] = {
    "day": "%Y-%m-%d",
    "week": "%Y-%m-%d",
    "month": "%Y-%m",
    "year": "%Y",
    "hour": "%H",
}
_QUARTERS = {"-Q1": ("01", "02", "03"), "-Q2": ("04", "05", "06"), "-Q3": ("07", "08", "09")}
_WEEKDAYS = {str(number % 7): name for number, name in enumerate(day_name, 1)} | {"7": "Sunday"}


def calendar_text(date: exp.Expr, unit: CalendarUnit, dialect: str) -> exp.Expr:
    """Returns the unit of a date: 2025, 2025-Q1, 2025-03, the Monday of the week, the day, 09, or Friday.

    Except for weekdays, the texts sort by time.
    """
    match unit:
        case "week":
            return _formatted(_monday(date, dialect), _FORMATS["week"])
        case "quarter":
            month = _formatted(date, "%m")
            quarter = exp.Case()
            for said, months in _QUARTERS.items():
                quarter = quarter.when(month.isin(*months), exp.Literal.string(said))
            quarter = quarter.else_(exp.Literal.string("-Q4"))
            return exp.Concat(expressions=[_formatted(date, _FORMATS["year"]), quarter])
        case "weekday":
            name = exp.Case(this=_weekday(date, dialect))
            for number, weekday in _WEEKDAYS.items():
                name = name.when(exp.Literal.string(number), exp.Literal.string(weekday))
            return name
        case _:
            return _formatted(date, _FORMATS[unit])


def calendar_order(date: exp.Expr, unit: CalendarUnit, dialect: str) -> exp.Expr:
    """Returns what the texts of a unit are sorted by: weekdays from Monday on, all others as they are."""
    if unit != "weekday":
        return calendar_text(date, unit, dialect)
    sunday = exp.EQ(this=_weekday(date, dialect), expression=exp.Literal.string("0"))
    return exp.Case().when(sunday, exp.Literal.string("7")).else_(_weekday(date, dialect))


def is_on_weekdays(date: exp.Expr, days: Sequence[str], dialect: str) -> exp.Expr:
    """Returns the condition that a date falls on one of the days, by their English names."""
    numbers = [number for number, name in _WEEKDAYS.items() if name in days]
    return exp.In(this=_weekday(date, dialect), expressions=list(map(exp.Literal.string, numbers)))


def _formatted(date: exp.Expr, form: str) -> exp.Expr:
    return exp.TimeToStr(this=date.copy(), format=exp.Literal.string(form))


def _monday(date: exp.Expr, dialect: str) -> exp.Expr:
    match dialect:
        case "sqlite":
            steps = [exp.Literal.string("-6 days"), exp.Literal.string("weekday 1")]
            return exp.Anonymous(this="DATE", expressions=[date.copy(), *steps])
        case "mysql":
            # WEEKDAY counts from Monday; DATE_TRUNC would be written by the number of the week in its year.
            days = exp.Anonymous(this="WEEKDAY", expressions=[date.copy()])
            return exp.DateSub(this=date.copy(), expression=days, unit=exp.var("DAY"))
        case _:
            return exp.func("DATE_TRUNC", exp.Literal.string("WEEK"), date.copy(), dialect=dialect)


def _weekday(date: exp.Expr, dialect: str) -> exp.Expr:
    """Returns the number of the weekday as text, 1 for Monday; Sunday is 0 or 7, as the dialect counts."""
    if dialect == "postgres":
        return exp.Anonymous(this="TO_CHAR", expressions=[date.copy(), exp.Literal.string("ID")])
    if dialect == "snowflake":
        number = exp.Anonymous(this="DAYOFWEEKISO", expressions=[date.copy()])
        return exp.cast(number, exp.DType.VARCHAR)
    return _formatted(date, "%w")
