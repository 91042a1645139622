"""The same measure in two databases that differ by known rows, by a time zone, or by a currency."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from kai_analyst_tasks.planting.planted import Cell, Dice, Month, Planted, PlantedTable, month_condition
from kai_analyst_tasks.task_set import AgentTask, Named, Oracle, TaskDatabase, WantedFact

_QUESTION = (
    "Revenue of {month} (the sum of amount of {left_table} in {left}, and of {right_table} in {right}, by "
    "{day}) is not the same in both databases. Why? There is one reason. Give three findings: the revenue of "
    "{month} in {left}, the revenue of {month} in {right}, and the reason, by name, with one figure that "
    "shows it."
)
_PAIRS = (("shop", "warehouse"), ("ledger", "mart"), ("crm", "lake"))
_TABLES = ("orders", "sales", "fact_orders", "receipts")
_DAYS = ("ordered_at", "sold_at", "booked_at")
_MISSING = (
    *("missing", "lost", "lacks", "lack", "absent", "not imported", "not loaded", "no rows", "fewer rows"),
    *("only in", "without", "incomplete"),
)
_TWICE = ("duplicate", "duplicates", "duplicated", "twice", "repeated", "double", "doubled")
_ZONE = (
    *("time zone", "time zones", "timezone", "timezones", "utc", "hours", "hour", "shifted", "offset"),
    "later",
)
_MONEY = (
    *("currency", "currencies", "exchange rate", "converted", "conversion", "rate", "factor", "unit"),
    *("unconverted", "times"),
)


@dataclass(frozen=True, kw_only=True)
class Sale:
    """A row that both databases should have."""

    number: int
    at: datetime
    region: str
    channel: str
    amount: float
    note: str


@dataclass(kw_only=True)
class _Plan:
    """A task as it is made."""

    dice: Dice
    month: Month
    left: list[Sale]
    right: list[Sale]
    names: tuple[str, str]
    tables: tuple[str, str]
    day: str
    regions: list[str]
    channels: list[str]
    causes: list[Named]
    decoys: list[Named]
    shows: list[tuple[int, str]]
    """Statements any of which shows the reason by a figure, and the database of each: 0 or 1."""

    def of(self, sales: Sequence[Sale], month: Month) -> list[Sale]:
        return [each for each in sales if month.first <= each.at.date() < month.next.first]

    def source(self, side: int) -> str:
        return f"FROM {self.tables[side]} WHERE {month_condition(self.day, self.month)}"


def plant(recipe: str, seed: int) -> Planted:
    """Returns the task of a recipe of `RECIPES`."""
    plan = _plan(Dice(recipe, seed))
    _add_decoys(plan)
    RECIPES[recipe](plan)
    return _planted(recipe, seed, plan)


def _plan(dice: Dice) -> _Plan:
    month = Month(dice.draw.choice((2023, 2024)), dice.draw.randrange(2, 12))
    months = [Month(month.year, month.number - 1), month, month.next]
    regions = dice.names(5)
    channels = dice.names(3)
    sales: list[Sale] = []
    number = dice.draw.randrange(50_000, 60_000)
    for each in months:
        for at in range(dice.draw.randrange(220, 260)):
            number += 1
            moment = datetime.combine(each.day(at % each.days), time(dice.draw.randrange(24))) + timedelta(
                minutes=dice.draw.randrange(60)
            )
            sales.append(
                Sale(
                    number=number,
                    at=moment,
                    region=dice.draw.choice(regions),
                    channel=dice.draw.choice(channels),
                    amount=round(dice.draw.uniform(20, 300), 2),
                    note=dice.draw.choice(("", "gift", "phone")),
                )
            )
    left, right = dice.draw.sample(_TABLES, 2)
    return _Plan(
        dice=dice,
        month=month,
        left=sales,
        right=list(sales),
        names=dice.draw.choice(_PAIRS),
        tables=(left, right),
        day=dice.draw.choice(_DAYS),
        regions=regions,
        channels=channels,
        causes=[],
        decoys=[],
        shows=[],
    )


def _add_decoys(plan: _Plan) -> None:
    """Other rows differ, too: of the month before, and in a column that the measure does not need."""
    missing = plan.regions.pop()
    noted = plan.regions.pop()
    earlier = Month(plan.month.year, plan.month.number - 1)
    gone = {each.number for each in plan.of(plan.right, earlier) if each.region == missing}
    plan.right = [
        replace(each, note="-") if each.region == noted else each
        for each in plan.right
        if each.number not in gone
    ]
    plan.decoys += [
        Named(name="rows of the month before", groups=((missing,),)),
        Named(name="other notes", groups=((noted,),)),
    ]


def _planted(recipe: str, seed: int, plan: _Plan) -> Planted:
    left, right = plan.names
    question = _QUESTION.format(
        month=plan.month,
        left=left,
        right=right,
        left_table=plan.tables[0],
        right_table=plan.tables[1],
        day=plan.day,
    )
    facts = [
        WantedFact(
            name=f"revenue of {plan.month} in {name}",
            database=name,
            sql=(f"SELECT sum(amount) {plan.source(side)}",),
        )
        for side, name in enumerate(plan.names)
    ]
    side = plan.shows[0][0]
    facts.append(
        WantedFact(
            name="the figure of the reason",
            database=plan.names[side],
            sql=tuple(sql for _, sql in plan.shows),
            about=plan.causes[0].groups,
        )
    )
    task = AgentTask(
        id=f"{recipe}-{seed}",
        family="differing",
        tags=(recipe,),
        question=question,
        databases=tuple(TaskDatabase(name=name, recipe=recipe, seed=seed) for name in plan.names),
        oracle=Oracle(causes=tuple(plan.causes), decoys=tuple(plan.decoys), facts=tuple(facts)),
    )
    databases = {
        left: [_table(plan, plan.left, plan.tables[0])],
        right: [_table(plan, plan.right, plan.tables[1])],
    }
    return Planted(task=task, databases=databases)


def _table(plan: _Plan, sales: Sequence[Sale], name: str) -> PlantedTable:
    rows: list[Sequence[Cell]] = [
        (at, f"N{each.number}", str(each.at), each.region, each.channel, each.amount, each.note)
        for at, each in enumerate(sorted(sales, key=lambda each: (each.at, each.number)), 1)
    ]
    return PlantedTable(
        name=name,
        ddl=f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, number TEXT NOT NULL, {plan.day} TIMESTAMP NOT "
        "NULL, region TEXT NOT NULL, channel TEXT NOT NULL, amount NUMERIC NOT NULL, note TEXT NOT NULL)",
        rows=rows,
    )


# Reasons


def _missing_rows(plan: _Plan) -> None:
    """The second database lacks the rows of a region from a day on."""
    region = plan.regions[0]
    first = plan.month.day(plan.dice.draw.randrange(4, 14))
    gone = [each for each in plan.of(plan.right, plan.month) if each.region == region]
    numbers = {each.number for each in gone if each.at.date() >= first}
    plan.right = [each for each in plan.right if each.number not in numbers]
    plan.causes.append(Named(name="the reason", groups=((region,), _MISSING)))
    source = f"{plan.source(0)} AND region = '{region}'"
    later = f"{source} AND {plan.day} >= '{first}'"
    kept = f"{source} AND {plan.day} < '{first}'"
    plan.shows += [
        (0, f"SELECT {what} {part}") for part in (later, source, kept) for what in ("count(*)", "sum(amount)")
    ]
    lost = sum(each.amount for each in gone if each.number in numbers)
    plan.shows.append((0, f"SELECT {-round(lost, 2)}"))
    plan.shows.append((0, f"SELECT {-len(numbers)}"))


def _repeated_rows(plan: _Plan) -> None:
    """The second database has the rows of some days twice."""
    start = plan.dice.draw.randrange(2, 18)
    days = {plan.month.day(start + at) for at in range(plan.dice.draw.randrange(3, 7))}
    again = [each for each in plan.of(plan.right, plan.month) if each.at.date() in days]
    plan.right += again
    plan.causes.append(Named(name="the reason", groups=(_TWICE,)))
    source = plan.source(1)
    once = f"(SELECT max(amount) AS a {source} GROUP BY number)"
    plan.shows += [
        (1, f"SELECT count(*) - count(DISTINCT number) {source}"),
        (1, f"SELECT sum(amount) - (SELECT sum(a) FROM {once}) {source}"),
        (1, f"SELECT count(*) {source}"),
        (1, f"SELECT count(DISTINCT number) {source}"),
    ]


def _empty_amounts(plan: _Plan) -> None:
    """The amounts of a channel's rows are 0 in the second database."""
    channel = plan.dice.draw.choice(plan.channels)
    first = plan.month.day(plan.dice.draw.randrange(2, 18))
    numbers = {
        each.number
        for each in plan.of(plan.right, plan.month)
        if each.channel == channel and each.at.date() >= first
    }
    plan.right = [replace(each, amount=0.0) if each.number in numbers else each for each in plan.right]
    words = ("zero", "0", "0.00", "no amount", "without", "empty", "lower", "different", "differs", "differ")
    plan.causes.append(Named(name="the reason", groups=((channel,), words)))
    source = f"{plan.source(0)} AND channel = '{channel}'"
    later = f"{source} AND {plan.day} >= '{first}'"
    kept = f"{source} AND {plan.day} < '{first}'"
    plan.shows += [
        *((0, f"SELECT {what} {later}") for what in ("count(*)", "sum(amount)", "-sum(amount)")),
        *((0, f"SELECT sum(amount) {part}") for part in (kept, source)),
    ]


def _time_zone(plan: _Plan) -> None:
    """The second database has the times of another zone, so sales around midnight are of another month."""
    hours = plan.dice.draw.choice((-8, -5, 5, 8, 9))
    at_edge: list[Sale] = []
    number = max(each.number for each in plan.left)
    for month in (plan.month, plan.month.next):
        midnight = datetime.combine(month.first, time())
        for _ in range(plan.dice.draw.randrange(14, 22) if month is plan.month else 45):
            number += 1
            minutes = plan.dice.draw.randrange(1, 60 * abs(hours))
            earlier = timedelta(minutes=minutes)
            moment = midnight - earlier if hours > 0 else midnight + earlier
            at_edge.append(
                Sale(
                    number=number,
                    at=moment,
                    region=plan.dice.draw.choice(plan.regions),
                    channel=plan.dice.draw.choice(plan.channels),
                    amount=round(plan.dice.draw.uniform(20, 300), 2),
                    note="",
                )
            )
    plan.left += at_edge
    plan.right = [replace(each, at=each.at + timedelta(hours=hours)) for each in [*plan.right, *at_edge]]
    plan.causes.append(Named(name="the reason", groups=(_ZONE,)))
    moved = timedelta(hours=hours)
    here = {each.number for each in plan.of(plan.left, plan.month)}
    there = {each.number for each in plan.of(plan.right, plan.month)}
    plan.shows += [
        (0, f"SELECT {abs(hours)}"),
        (0, f"SELECT {-abs(hours)}"),
        (0, f"SELECT {abs(hours) * 60}"),
        (0, f"SELECT {abs(hours) * 3600}"),
        (0, f"SELECT {len(here - there)}"),
        (0, f"SELECT {len(there - here)}"),
        (0, f"SELECT min({plan.day}) FROM {plan.tables[0]}"),
        (0, f"SELECT max({plan.day}) FROM {plan.tables[0]}"),
        (0, f"SELECT '{min(each.at for each in plan.left) + moved}'"),
        (0, f"SELECT '{max(each.at for each in plan.left) + moved}'"),
    ]


def _currency(plan: _Plan) -> None:
    """The amounts of a region are in another currency in the second database."""
    region = plan.dice.draw.choice(plan.regions)
    factor = plan.dice.draw.choice((0.85, 1.25, 1.5, 7.5, 11.25))
    plan.right = [
        replace(each, amount=round(each.amount * factor, 4)) if each.region == region else each
        for each in plan.right
    ]
    plan.causes.append(Named(name="the reason", groups=((region,), _MONEY)))
    revenue = sum(each.amount for each in plan.of(plan.left, plan.month) if each.region == region)
    plan.shows += [
        (0, f"SELECT {factor}"),
        (0, f"SELECT {1 / factor}"),
        (0, f"SELECT sum(amount) {plan.source(0)} AND region = '{region}'"),
        (0, f"SELECT {round(revenue * factor, 4)}"),
        (0, f"SELECT {round(revenue * (factor - 1), 4)}"),
    ]


RECIPES: Mapping[str, Callable[[_Plan], None]] = {
    "differing.missing_rows": _missing_rows,
    "differing.repeated_rows": _repeated_rows,
    "differing.empty_amounts": _empty_amounts,
    "differing.time_zone": _time_zone,
    "differing.currency": _currency,
}
