"""Schemas to document: tables with keys, joins, and columns that only look as if they joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from kai_analyst_tasks.planting.planted import Cell, Dice, Planted, PlantedTable
from kai_analyst_tasks.task_set import (
    AgentTask,
    Named,
    Oracle,
    RecordChange,
    Section,
    TaskDatabase,
    WantedFact,
)

DATABASE = "records"
_QUESTION = (
    "Document the schema of this database in Markdown: for each table a heading with its name, then its "
    "purpose, every column, and each join as one line such as `child.column = parent.column`. Give as "
    "findings the number of rows of each table."
)
_STORE = " Then store this description of the table {table}, word for word: '{text}'"

ColumnKind = Literal["name", "code", "date", "amount", "count", "flag", "text"]


@dataclass(frozen=True, kw_only=True)
class _TablePlan:
    """A table of a domain. `parents` are the tables that it refers to."""

    name: str
    columns: Mapping[str, ColumnKind]
    parents: Sequence[str] = ()


def _table(name: str, columns: str, *parents: str) -> _TablePlan:
    """Columns are `name:kind`, separated by blanks."""
    pairs = (each.split(":") for each in columns.split())
    return _TablePlan(name=name, columns={column: _kind(kind) for column, kind in pairs}, parents=parents)


def _kind(text: str) -> ColumnKind:
    kinds: dict[str, ColumnKind] = {
        "n": "name",
        "c": "code",
        "d": "date",
        "a": "amount",
        "i": "count",
        "f": "flag",
        "t": "text",
    }
    return kinds[text]


_DOMAINS: Mapping[str, Sequence[_TablePlan]] = {
    "library": (
        _table("authors", "full_name:n born_on:d country:t agent_code:c"),
        _table("books", "title:n isbn:c published_on:d pages:i price:a", "authors"),
        _table("members", "full_name:n joined_on:d is_active:f email:t phone:t"),
        _table("loans", "lent_on:d due_on:d returned_on:d fine:a", "books", "members"),
        _table("branches", "title:n address:t opened_on:d staff_count:i", "members"),
    ),
    "clinic": (
        _table("doctors", "full_name:n speciality:t hired_on:d licence:c"),
        _table("patients", "full_name:n born_on:d insurance_number:c city:t is_insured:f"),
        _table("visits", "visited_on:d duration_minutes:i reason:t fee:a", "patients", "doctors"),
        _table("prescriptions", "drug:n dose:t issued_on:d pack_count:i", "visits"),
        _table("rooms", "label:n floor:i area:a", "doctors"),
    ),
    "logistics": (
        _table("depots", "label:n city:t capacity:i opened_on:d"),
        _table("drivers", "full_name:n licence:c hired_on:d is_active:f", "depots"),
        _table("vehicles", "plate:c maker:n bought_on:d payload:a", "depots"),
        _table("tours", "started_on:d distance_km:a stops:i", "vehicles", "drivers"),
        _table("parcels", "tracking_code:c weight:a fee:a delivered_on:d", "tours"),
    ),
    "school": (
        _table("teachers", "full_name:n subject:t hired_on:d room_label:t"),
        _table("courses", "title:n credits:i starts_on:d fee:a", "teachers"),
        _table("pupils", "full_name:n born_on:d grade:i guardian_email:t"),
        _table("enrolments", "enrolled_on:d is_paid:f mark:a", "courses", "pupils"),
        _table("absences", "missed_on:d hours:i excuse:t", "enrolments"),
    ),
    "energy": (
        _table("sites", "label:n postcode:t built_on:d area:a"),
        _table("meters", "serial:c maker:n installed_on:d digits:i", "sites"),
        _table("tariffs", "label:n price:a valid_from:d valid_to:d"),
        _table("contracts", "signed_on:d deposit:a is_open:f", "sites", "tariffs"),
        _table("readings", "read_on:d consumption:a remark:t", "meters"),
    ),
}
RECIPES: Mapping[str, str] = {
    **{f"document.{domain}": domain for domain in _DOMAINS},
    **{f"document.{domain}_described": domain for domain in ("library", "energy")},
}
"""Domains. In those of the last kind a description is to be stored, which a person has to approve."""


def plant(recipe: str, seed: int) -> Planted:
    """Returns the task of a recipe of `RECIPES`."""
    dice = Dice(recipe, seed)
    plans = [_varied(dice, each) for each in _DOMAINS[RECIPES[recipe]]]
    # The last table is left out half of the time, so that the number of tables varies.
    plans = plans[: dice.draw.choice((4, 5))]
    counts: dict[str, int] = {}
    for each in plans:
        counts[each.name] = dice.draw.choice([n for n in range(20, 160) if n not in counts.values()])
    tables = [_rows_of(dice, each, counts) for each in plans]
    first, second = dice.draw.sample([each.name for each in plans], 2)
    stored = f"{dice.name()} has checked this table." if recipe.endswith("_described") else ""
    task = AgentTask(
        id=f"{recipe}-{seed}",
        family="document",
        tags=(recipe,),
        question=_QUESTION + (_STORE.format(table=first, text=stored) if stored else ""),
        databases=(TaskDatabase(name=DATABASE, recipe=recipe, seed=seed),),
        mode="agent" if stored else "ask",
        must_change=(RecordChange(collection="tables", contains=stored),) if stored else (),
        oracle=Oracle(
            sections=tuple(Section(title=each.name, columns=tuple(_columns(each))) for each in plans),
            joins=tuple(
                Named(
                    name=f"{each.name} to {parent}",
                    groups=((f"{each.name}.{_key(parent)}",), (f"{parent}.id",)),
                )
                for each in plans
                for parent in each.parents
            ),
            decoys=(
                Named(name="no join", groups=((f"{first}.legacy_ref",), (f"{second}.legacy_ref",))),
                Named(name="no column", groups=(("checksum_md5", "tenant_uuid"),)),
            ),
            facts=tuple(
                WantedFact(
                    name=f"rows of {each.name}",
                    database=DATABASE,
                    sql=(f"SELECT count(*) FROM {each.name}",),
                    about=((each.name,),),
                )
                for each in plans
            ),
        ),
    )
    return Planted(task=task, databases={DATABASE: tables})


def _varied(dice: Dice, plan: _TablePlan) -> _TablePlan:
    """Every table has a `legacy_ref`, which refers to nothing; half of the tables lack a column."""
    columns = dict(plan.columns)
    if len(columns) > 3 and dice.draw.random() < 0.5:
        del columns[dice.draw.choice(list(columns)[1:])]
    return _TablePlan(name=plan.name, columns={**columns, "legacy_ref": "count"}, parents=plan.parents)


def _key(parent: str) -> str:
    return f"{parent.rstrip('s')}_id" if parent != "branches" else "branch_id"


def _columns(plan: _TablePlan) -> list[str]:
    return ["id", *map(_key, plan.parents), *plan.columns]


def _rows_of(dice: Dice, plan: _TablePlan, counts: Mapping[str, int]) -> PlantedTable:
    types: dict[ColumnKind, str] = {
        "name": "TEXT NOT NULL",
        "code": "TEXT NOT NULL UNIQUE",
        "date": "DATE",
        "amount": "NUMERIC NOT NULL",
        "count": "INTEGER NOT NULL",
        "flag": "BOOLEAN NOT NULL",
        "text": "TEXT",
    }
    parts = ["id INTEGER PRIMARY KEY"]
    parts += [f"{_key(parent)} INTEGER NOT NULL REFERENCES {parent} (id)" for parent in plan.parents]
    parts += [f"{column} {types[kind]}" for column, kind in plan.columns.items()]
    words = dice.names(4)
    rows = [
        (
            at,
            *(dice.draw.randrange(1, counts[parent] + 1) for parent in plan.parents),
            *(_cell(dice, kind, at, words=words) for kind in plan.columns.values()),
        )
        for at in range(1, counts[plan.name] + 1)
    ]
    return PlantedTable(name=plan.name, ddl=f"CREATE TABLE {plan.name} ({', '.join(parts)})", rows=rows)


def _cell(dice: Dice, kind: ColumnKind, at: int, *, words: Sequence[str]) -> Cell:
    match kind:
        case "name":
            return f"{dice.draw.choice(words)} {at}"
        case "code":
            return f"K{1000 + at}"
        case "date":
            return (date(2022, 1, 1) + timedelta(days=dice.draw.randrange(700))).isoformat()
        case "amount":
            return round(dice.draw.uniform(5, 90), 2)
        case "count":
            return dice.draw.randrange(1, 400)
        case "flag":
            return dice.draw.randrange(2)
        case "text":
            return dice.draw.choice(words)
