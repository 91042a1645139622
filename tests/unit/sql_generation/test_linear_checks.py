"""Checking a statement takes work in proportion to its length, whatever it is made of."""

from collections.abc import Callable

import pytest

from app.modules.database_connection.guard.check import check as guard
from app.modules.database_connection.guard.check import written
from app.modules.database_connection.guard.inspection import inspect
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.checking.names import SchemaNames
from graph.errors import StatementRefused
from tests.support.counting import calls_of

COLUMNS = [TableColumn(name=f"c{number}", type="integer", database_type="INTEGER") for number in range(8)]
SCHEMA = Schema(
    "postgres", [Table(name=f"t{number}", kind="table", columns=COLUMNS, row_count=10) for number in range(4)]
)
NAMES = SchemaNames(SCHEMA)
FEW, MANY = 60, 240
QUADRATIC = 16
"""The ratio of work for four times the length, if the work grows with its square."""


def repeated(pattern: str, times: int, between: str = ", ") -> str:
    return between.join(pattern.replace("#", str(number)) for number in range(times))


SHAPES: dict[str, Callable[[int], str]] = {
    "ordered aliases": lambda n: f"SELECT {repeated('c0 AS a#', n)} FROM t0 ORDER BY {repeated('a#', n)}",
    "unknown columns": lambda n: f"SELECT {repeated('zz#', n)} FROM t0",
    "unknown columns of a source": lambda n: f"SELECT {repeated('x.zz#', n)} FROM t0 AS x",
    "names in another case": lambda n: "SELECT " + repeated('"C0"', n) + " FROM t0",
    "ambiguous columns": lambda n: f"SELECT {repeated('c0', n)} FROM {repeated('t0 AS x#', n)}",
    "common tables": lambda n: f"WITH {repeated('a# AS (SELECT c0 FROM t0)', n)} SELECT c0 FROM a0",
    "conditions with subqueries": lambda n: (
        "SELECT c0 FROM t0 WHERE " + repeated("EXISTS (SELECT 1 FROM t1 WHERE t1.c0 = t0.c0)", n, " AND ")
    ),
    "joins without aliases in conditions": lambda n: (
        f"SELECT 1 FROM {repeated('t0 AS x#', n)} WHERE {repeated('c# = 1', n, ' AND ')}"
    ),
    "selects that lack a group": lambda n: repeated("SELECT c0, count(*) FROM t0", n, " UNION ALL "),
}
WORKS: dict[str, Callable[[str], object]] = {
    "guard": lambda sql: guard(sql, SCHEMA),
    "inspection": lambda sql: inspect(sql, SCHEMA),
    "name check": lambda sql: check(sql, NAMES),
    "correction": lambda sql: correct(sql, NAMES),
}


def work_for(work: Callable[[str], object], sql: str) -> int:
    statement_of.cache_clear()
    written.cache_clear()

    def do() -> None:
        try:
            work(sql)
        except StatementRefused:
            return

    return calls_of(do)


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS.keys())
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_four_times_the_length_is_about_four_times_the_work(
    shape: Callable[[int], str], work: Callable[[str], object]
) -> None:
    few, many = work_for(work, shape(FEW)), work_for(work, shape(MANY))
    assert many / few < QUADRATIC / 2.5
