"""A planted database, and how it is written."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random

from kai_analyst_tasks.task_set import AgentTask

Cell = str | int | float | None
_STARTS = "Bran Cor Del Fen Gar Hol Kel Lor Mar Nor Orl Pel Quen Ros Sel Tor Ulm Var Wes Yar Zan".split()
_ENDS = "dale vik holt mora stad burg ney lund wick ford mere tova gard sby rona phal".split()
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, kw_only=True)
class PlantedTable:
    """A table with all its rows."""

    name: str
    ddl: str
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A task, and the tables of its databases by their names."""

    task: AgentTask
    databases: Mapping[str, Sequence[PlantedTable]]


def write_sqlite(path: Path, tables: Sequence[PlantedTable]) -> None:
    """Write a SQLite file. Foreign keys are declared and not enforced, so that rows can break them."""
    with closing(sqlite3.connect(path)) as connection:
        for table in tables:
            connection.execute(table.ddl)
            if table.rows:
                places = ", ".join("?" * len(table.rows[0]))
                connection.executemany(f'INSERT INTO "{table.name}" VALUES ({places})', table.rows)
        connection.commit()


@dataclass
class Dice:
    """Draws everything of one task. The same recipe and seed draw the same."""

    recipe: str
    seed: int
    draw: Random = field(init=False)

    def __post_init__(self) -> None:
        self.draw = Random(f"{self.recipe}:{self.seed}")
        self._names = [start + end for start in _STARTS for end in _ENDS]
        self.draw.shuffle(self._names)

    def name(self) -> str:
        """Returns an invented name that no other thing of this task has."""
        return self._names.pop()

    def names(self, count: int) -> list[str]:
        return [self.name() for _ in range(count)]


@dataclass(frozen=True)
class Month:
    """A month of the calendar."""

    year: int
    number: int

    @property
    def first(self) -> date:
        return date(self.year, self.number, 1)

    @property
    def days(self) -> int:
        return (self.next.first - self.first).days

    @property
    def next(self) -> "Month":
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    def day(self, position: int) -> date:
        """Returns a day of the month, the first by position 0."""
        return self.first + timedelta(days=position)

    def __str__(self) -> str:
        return f"{_MONTHS[self.number - 1]} {self.year}"


def month_condition(column: str, month: Month) -> str:
    """Returns the condition that a column of dates or times lies in a month."""
    return f"{column} >= '{month.first}' AND {column} < '{month.next.first}'"
