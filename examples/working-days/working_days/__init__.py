"""Working days and public holidays, as tools of KAI's investigations."""

from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.extending import Arguments, Registrar, ToolContext, ToolResult, keep_table, tool
from working_days.calendar import FIRST_YEAR, LAST_YEAR, Country, holidays

Period = Literal["week", "month", "quarter", "year"]
Day = Annotated[date, Field(ge=date(FIRST_YEAR, 1, 1), le=date(LAST_YEAR, 12, 31))]

_MOST_DAYS = 20 * 366
_SATURDAY = 5


class Span(Arguments):
    """Days of a country."""

    country: Country
    """Country whose public holidays count: DE, FR, GB (England and Wales), NL or US."""
    start: Day
    """First day, such as 2025-01-01."""
    end: Day
    """Last day, which counts too."""

    @model_validator(mode="after")
    def _is_in_order(self) -> "Span":
        if not 0 <= (self.end - self.start).days < _MOST_DAYS:
            raise ValueError("end has to be start or later, and within twenty years")
        return self


class CountWorkingDays(Span):
    """Days to count."""

    by: Period = "month"
    """Period of a row."""


async def count_working_days(given: CountWorkingDays, context: ToolContext) -> ToolResult:
    free = _free_days(given)
    counts: dict[str, list[int]] = {}
    for day in _days(given):
        days, working, weekend, holiday = counts.setdefault(_period(day, given.by), [0, 0, 0, 0])
        is_weekend = day.weekday() >= _SATURDAY
        is_holiday = day in free and not is_weekend
        counts[_period(day, given.by)] = [
            days + 1,
            working + (not is_weekend and not is_holiday),
            weekend + is_weekend,
            holiday + is_holiday,
        ]
    total = sum(working for _, working, _, _ in counts.values())
    return await keep_table(
        context,
        f"{total:,} working days in {given.country} from {given.start} to {given.end}. Weekends are Saturday "
        "and Sunday; only nationwide holidays count.",
        (given.by, "days", "working_days", "weekend_days", "holidays_on_weekdays"),
        rows=[[name, *numbers] for name, numbers in counts.items()],
    )


async def list_holidays(given: Span, context: ToolContext) -> ToolResult:
    found = [(day, name) for day, name in sorted(_free_days(given).items())]
    return await keep_table(
        context,
        f"{len(found):,} public holidays in {given.country} from {given.start} to {given.end}.",
        ("day", "weekday", "holiday"),
        rows=[[day.isoformat(), f"{day:%A}", name] for day, name in found],
    )


def _free_days(given: Span) -> dict[date, str]:
    years = range(given.start.year, given.end.year + 1)
    return {
        day: name
        for year in years
        for day, name in holidays(given.country, year).items()
        if given.start <= day <= given.end
    }


def _days(given: Span) -> list[date]:
    return [given.start + timedelta(days=number) for number in range((given.end - given.start).days + 1)]


def _period(day: date, by: Period) -> str:
    match by:
        case "week":
            year, week, _ = day.isocalendar()
            return f"{year}-W{week:02}"
        case "month":
            return f"{day:%Y-%m}"
        case "quarter":
            return f"{day.year}-Q{(day.month + 2) // 3}"
        case "year":
            return f"{day.year}"


def register(registrar: Registrar) -> None:
    """Entry point of group `kai.tools`."""
    registrar.register(
        tool(
            "count_working_days",
            toolset="working_days",
            category="read",
            description="Count working days, weekend days and public holidays of each week, month, quarter "
            "or year in a country, to compare periods by what was done a working day.",
            arguments=CountWorkingDays,
            run=count_working_days,
            describe=lambda given: f"Count working days in {given.country}, {given.start} to {given.end}.",
            repeatable=True,
        )
    )
    registrar.register(
        tool(
            "list_holidays",
            toolset="working_days",
            category="read",
            description="List the public holidays of a country between two days.",
            arguments=Span,
            run=list_holidays,
            describe=lambda given: f"List holidays in {given.country}, {given.start} to {given.end}.",
            repeatable=True,
        )
    )
