"""Tables with known defects, and with what only looks like one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kai_analyst_tasks.planting.planted import Cell, Dice, Planted, PlantedTable
from kai_analyst_tasks.task_set import AgentTask, Defect, DefectKind, Oracle, TaskDatabase, WantedFact

DATABASE = "register"
_QUESTION = (
    "What is wrong with the data of this database? Give one finding for each defect: the table, the column, "
    "the kind (nulls, duplicates, orphans, constant, future dates, outliers or gap) and the number of rows; "
    "for a gap the number of days without a row; for duplicates the number of rows too many. What a status "
    "explains, and dates that lie ahead by their meaning, are no defects."
)
_KINDS: tuple[DefectKind, ...] = (
    *("nulls", "duplicates", "orphans", "constant", "future dates", "outliers", "gap"),
)
_DAYS = 180


@dataclass(frozen=True, kw_only=True)
class Register:
    """The names of a register: who there is, what they did, and a measure a day."""

    people: str
    person: str
    events: str
    number: str
    day: str
    closed: str
    valid: str
    amount: str
    unit: str
    daily: str
    daily_day: str
    level: str
    status: tuple[str, str]


_REGISTERS = (
    Register(
        people="suppliers",
        person="supplier_id",
        events="deliveries",
        number="delivery_number",
        day="delivered_on",
        closed="checked_on",
        valid="warranty_until",
        amount="weight",
        unit="unit",
        daily="stock_levels",
        daily_day="counted_on",
        level="pieces",
        status=("open", "checked"),
    ),
    Register(
        people="tenants",
        person="tenant_id",
        events="payments",
        number="payment_code",
        day="paid_on",
        closed="booked_on",
        valid="valid_until",
        amount="amount",
        unit="currency",
        daily="occupancy",
        daily_day="measured_on",
        level="flats",
        status=("pending", "booked"),
    ),
    Register(
        people="stations",
        person="station_id",
        events="inspections",
        number="report_number",
        day="inspected_on",
        closed="signed_on",
        valid="due_on",
        amount="pressure",
        unit="scale",
        daily="rainfall",
        daily_day="recorded_on",
        level="litres",
        status=("draft", "signed"),
    ),
)


@dataclass(kw_only=True)
class _Plan:
    """The rows as they are made. A row is a list, so that a defect can change it."""

    dice: Dice
    names: Register
    people: list[list[Cell]]
    events: list[list[Cell]]
    daily: list[list[Cell]]
    defects: list[Defect]
    facts: list[WantedFact]

    def some(self, rows: Sequence[list[Cell]], count: int) -> list[list[Cell]]:
        return self.dice.draw.sample(rows, count)

    def add(self, table: str, column: str, kind: DefectKind, *sql: str) -> None:
        self.defects.append(Defect(table=table, column=column, kind=kind))
        name = f"number of {kind} of {table}.{column}"
        self.facts.append(WantedFact(name=name, database=DATABASE, sql=sql, about=((table,), (column,))))


_STATUS, _NUMBER, _PERSON, _DAY, _CLOSED, _VALID, _AMOUNT, _UNIT = range(1, 9)


def plant(recipe: str, seed: int) -> Planted:
    """Returns the task of a recipe of `RECIPES`: three kinds of defects, one beside the other."""
    dice = Dice(recipe, seed)
    plan = _plan(dice)
    for kind in RECIPES[recipe]:
        _DEFECTS[kind](plan)
    n = plan.names
    task = AgentTask(
        id=f"{recipe}-{seed}",
        family="defects",
        tags=(recipe,),
        question=_QUESTION,
        databases=(TaskDatabase(name=DATABASE, recipe=recipe, seed=seed),),
        oracle=Oracle(
            defects=tuple(plan.defects),
            harmless=(
                Defect(table=n.events, column=n.closed, kind="nulls"),
                Defect(table=n.events, column=n.valid, kind="future dates"),
            ),
            facts=tuple(plan.facts),
        ),
    )
    return Planted(task=task, databases={DATABASE: _tables(plan)})


def _plan(dice: Dice) -> _Plan:
    names = dice.draw.choice(_REGISTERS)
    start = date(dice.draw.choice((2023, 2024)), dice.draw.randrange(1, 7), 1)
    cities = dice.names(5)
    people: list[list[Cell]] = [
        [at, f"{dice.draw.choice(cities)} {at}", f"p{at}@example.org", dice.draw.choice(cities)]
        for at in range(1, dice.draw.randrange(40, 70))
    ]
    events: list[list[Cell]] = []
    for at in range(1, dice.draw.randrange(380, 460)):
        day = start + timedelta(days=at % _DAYS)
        is_open = dice.draw.random() < 0.2
        valid = day + timedelta(days=dice.draw.randrange(26_000, 30_000))
        events.append(
            [
                at,
                names.status[0] if is_open else names.status[1],
                f"E{5000 + at}",
                dice.draw.randrange(1, len(people) + 1),
                day.isoformat(),
                None if is_open else (day + timedelta(days=2)).isoformat(),
                valid.isoformat(),
                round(dice.draw.uniform(40, 90), 2),
                dice.draw.choice(("A", "B", "C")),
            ]
        )
    daily: list[list[Cell]] = [
        [at, (start + timedelta(days=at)).isoformat(), dice.draw.randrange(200, 400)] for at in range(_DAYS)
    ]
    return _Plan(dice=dice, names=names, people=people, events=events, daily=daily, defects=[], facts=[])


def _tables(plan: _Plan) -> list[PlantedTable]:
    n = plan.names
    return [
        PlantedTable(
            name=n.people,
            ddl=f"CREATE TABLE {n.people} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, "
            "city TEXT NOT NULL)",
            rows=plan.people,
        ),
        PlantedTable(
            name=n.events,
            ddl=f"CREATE TABLE {n.events} (id INTEGER PRIMARY KEY, status TEXT NOT NULL, {n.number} TEXT, "
            f"{n.person} INTEGER REFERENCES {n.people} (id), {n.day} DATE, {n.closed} DATE, {n.valid} DATE, "
            f"{n.amount} NUMERIC, {n.unit} TEXT)",
            rows=plan.events,
        ),
        PlantedTable(
            name=n.daily,
            ddl=f"CREATE TABLE {n.daily} (id INTEGER PRIMARY KEY, {n.daily_day} DATE NOT NULL, "
            f"{n.level} INTEGER NOT NULL)",
            rows=plan.daily,
        ),
    ]


# Defects


def _nulls(plan: _Plan) -> None:
    n = plan.names
    if plan.dice.draw.random() < 0.5:
        for row in plan.some(plan.people, plan.dice.draw.randrange(3, 9)):
            row[2] = None
        plan.add(n.people, "email", "nulls", f"SELECT count(*) FROM {n.people} WHERE email IS NULL")
    else:
        for row in plan.some(plan.events, plan.dice.draw.randrange(5, 30)):
            row[_AMOUNT] = None
        plan.add(n.events, n.amount, "nulls", f"SELECT count(*) FROM {n.events} WHERE {n.amount} IS NULL")


def _duplicates(plan: _Plan) -> None:
    """Rows were stored again, under another id."""
    n = plan.names
    for row in plan.some(plan.events, plan.dice.draw.randrange(4, 20)):
        plan.events.append([len(plan.events) + 1, *row[1:]])
    plan.add(
        n.events, n.number, "duplicates", f"SELECT count(*) - count(DISTINCT {n.number}) FROM {n.events}"
    )


def _orphans(plan: _Plan) -> None:
    n = plan.names
    for row in plan.some(plan.events, plan.dice.draw.randrange(3, 15)):
        row[_PERSON] = 900 + plan.dice.draw.randrange(20)
    plan.add(
        n.events,
        n.person,
        "orphans",
        f"SELECT count(*) FROM {n.events} WHERE {n.person} NOT IN (SELECT id FROM {n.people})",
    )


def _constant(plan: _Plan) -> None:
    n = plan.names
    for row in plan.events:
        row[_UNIT] = "A"
    plan.add(n.events, n.unit, "constant", f"SELECT count(*) FROM {n.events} WHERE {n.unit} = 'A'")


def _future(plan: _Plan) -> None:
    n = plan.names
    for row in plan.some(plan.events, plan.dice.draw.randrange(2, 9)):
        row[_DAY] = date(2087, plan.dice.draw.randrange(1, 13), plan.dice.draw.randrange(1, 28)).isoformat()
    plan.add(n.events, n.day, "future dates", f"SELECT count(*) FROM {n.events} WHERE {n.day} > '2080-01-01'")


def _outliers(plan: _Plan) -> None:
    n = plan.names
    rows = [row for row in plan.events if row[_AMOUNT] is not None]
    for row in plan.some(rows, plan.dice.draw.randrange(2, 7)):
        row[_AMOUNT] = round(plan.dice.draw.uniform(40_000, 90_000), 2)
    plan.add(n.events, n.amount, "outliers", f"SELECT count(*) FROM {n.events} WHERE {n.amount} > 10000")


def _gap(plan: _Plan) -> None:
    n = plan.names
    count = plan.dice.draw.randrange(4, 10)
    start = plan.dice.draw.randrange(20, _DAYS - 40)
    del plan.daily[start : start + count]
    first = f"(SELECT min({n.daily_day}) FROM {n.daily})"
    last = f"(SELECT max({n.daily_day}) FROM {n.daily})"
    plan.add(
        n.daily,
        n.daily_day,
        "gap",
        f"SELECT julianday({last}) - julianday({first}) + 1 - count(DISTINCT {n.daily_day}) FROM {n.daily}",
    )


_DEFECTS: Mapping[DefectKind, Callable[[_Plan], None]] = {
    "nulls": _nulls,
    "duplicates": _duplicates,
    "orphans": _orphans,
    "constant": _constant,
    "future dates": _future,
    "outliers": _outliers,
    "gap": _gap,
}
RECIPES: Mapping[str, Sequence[DefectKind]] = {
    f"defects.{first}_{second}_{third}".replace(" dates", ""): (first, second, third)
    for first, second, third in (
        (_KINDS[at], _KINDS[(at + step) % 7], _KINDS[(at + 3) % 7]) for at in range(7) for step in (1, 2)
    )
}
