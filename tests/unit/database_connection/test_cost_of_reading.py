"""Processor time of the largest statements: each is read in time that grows with its length, or refused."""

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.guard.inspection import declared_names, inspect
from app.modules.database_connection.guard.secrets import find_secret_outputs
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql.parsing import StatementTooLarge, parsed_one
from app.modules.sql.provenance.counting import step_statements
from app.modules.sql.statement import statement_of
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.checking.names import SchemaNames
from graph.errors import StatementRefused
from tests.support.processor import slowness

MOST_SECONDS = 1.0
"""Of the reference machine. Squares took from 30 seconds to hours."""
COLUMNS = [TableColumn(name=name, type="integer", database_type="INT") for name in ("a", "b", "password")]
SCHEMA = Schema("sqlite", [Table(name="t", kind="table", columns=COLUMNS, row_count=1_000_000)])
NAMES = SchemaNames(SCHEMA)
Shape = Callable[[int], str]
SHAPES: dict[str, Shape] = {
    "ORs": lambda n: "SELECT * FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(n)),
    "ORs of HAVING": lambda n: (
        "SELECT b FROM t GROUP BY b HAVING " + " OR ".join(f"sum(a) = {i}" for i in range(n))
    ),
    "a sum": lambda n: "SELECT " + " + ".join(["a"] * n) + " FROM t",
    "concatenations": lambda n: "SELECT " + " || ".join(["a"] * n) + " FROM t",
    "CASE": lambda n: "SELECT CASE " + " ".join(f"WHEN a = {i} THEN {i}" for i in range(n)) + " END FROM t",
    "nested CASE": lambda n: "SELECT " + "CASE WHEN a = 1 THEN 1 ELSE " * n + "0" + " END" * n + " FROM t",
    "brackets": lambda n: "SELECT " + "(" * n + "a" + ")" * n + " FROM t",
    "subqueries within": lambda n: "SELECT a FROM t WHERE a IN (" * n + "1" + ")" * n,
    "subqueries beside": lambda n: "SELECT " + ", ".join(["(SELECT a FROM t)"] * n),
    "columns": lambda n: "SELECT " + ", ".join(f"a AS c{i}" for i in range(n)) + " FROM t",
    "columns in order": lambda n: (
        "SELECT "
        + ", ".join(f"a AS c{i}" for i in range(n))
        + " FROM t ORDER BY "
        + ", ".join(f"c{i}" for i in range(n))
    ),
    "groups": lambda n: "SELECT 1 FROM t GROUP BY " + ", ".join(f"a + {i}" for i in range(n)),
    "joins": lambda n: (
        "SELECT 1 FROM t AS t0" + "".join(f" JOIN t AS t{i + 1} ON t{i + 1}.a = t{i}.a" for i in range(n))
    ),
    "tables that WHERE joins": lambda n: (
        "SELECT 1 FROM "
        + ", ".join(f"t AS t{i}" for i in range(n))
        + " WHERE "
        + " AND ".join(f"t{i}.a = t{i + 1}.a" for i in range(n - 1))
    ),
    "tables that nothing joins": lambda n: "SELECT 1 FROM " + ", ".join(f"t AS t{i}" for i in range(n)),
    "CTEs": lambda n: "WITH " + ", ".join(f"c{i} AS (SELECT a FROM t)" for i in range(n)) + " SELECT 1",
    "NATURAL joins": lambda n: "SELECT * FROM t" + "".join(f" NATURAL JOIN t AS t{i}" for i in range(n)),
    "unions": lambda n: " UNION ALL ".join(["SELECT a FROM t"] * n),
    "an IN list": lambda n: "SELECT * FROM t WHERE a IN (" + ", ".join(map(str, range(n))) + ")",
    "casts": lambda n: "SELECT " + ", ".join(["CAST(CAST(a AS TEXT) AS DATE)"] * n) + " FROM t",
    "a chain of CTEs": lambda n: (
        "WITH c0 AS (SELECT a, b FROM t)"
        + "".join(f", c{i + 1} AS (SELECT * FROM c{i})" for i in range(n))
        + f" SELECT * FROM c{n}"
    ),
    "subqueries that depend": lambda n: (
        "SELECT "
        + ", ".join(f"(SELECT max(b) FROM t AS x WHERE x.a = t.a) AS m{i}" for i in range(n))
        + " FROM t"
    ),
    "columns by * of CTEs": lambda n: (
        "WITH c0 AS (SELECT "
        + ", ".join(f"a AS c{i}" for i in range(n))
        + " FROM t)"
        + "".join(f", c{i + 1} AS (SELECT * FROM c{i})" for i in range(30))
        + " SELECT * FROM c30"
    ),
    "recursive CTEs": lambda n: (
        "WITH RECURSIVE "
        + ", ".join(f"r{i} AS (SELECT a FROM t UNION ALL SELECT a FROM r{i})" for i in range(n))
        + " SELECT 1 FROM t"
    ),
    "unions of *": lambda n: "SELECT * FROM (" + " UNION ALL ".join(["SELECT * FROM t"] * n) + ") AS u",
    "intersections of *": lambda n: " INTERSECT ".join(["SELECT * FROM t"] * n),
    "windows": lambda n: "SELECT " + ", ".join(["sum(a) OVER (ORDER BY b)"] * n) + " FROM t",
}


@pytest.mark.parametrize("count", [60, 240, 390, 800])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_statement_is_read_in_linear_time_or_refused(shape: Shape, count: int) -> None:
    sql = shape(count)
    gc.disable()  # a collection looks at all that the test process has loaded; a server freezes that
    started = time.thread_time()
    try:
        inspect(sql, SCHEMA)
        find_secret_outputs(sql, SCHEMA)
        step_statements(statement_of(sql, "sqlite"), declared_names(SCHEMA), 20)
        correct(sql, NAMES)
    except StatementRefused as refused:
        assert refused.rule in {"length", "nesting", "unconnected-join"}  # noqa: PT017 - or it is read
    finally:
        took = time.thread_time() - started
        gc.enable()
    assert took < MOST_SECONDS or took < MOST_SECONDS * slowness()


def test_no_name_of_a_type_is_parsed_to_write_a_cast(monkeypatch: pytest.MonkeyPatch) -> None:
    """sqlglot parses five for each, which takes as long as all else."""
    names: list[str] = []
    build = exp.DataType.from_str

    def build_and_count(name: str, *arguments: Any, **options: Any) -> exp.DataType:
        names.append(name)
        return build(name, *arguments, **options)

    monkeypatch.setattr(exp.DataType, "from_str", build_and_count)
    kinds = ("DATE", "DATETIME", "TIMESTAMP", "TIME", "INTEGER", "TEXT", "DECIMAL(10, 2)")
    sql = "SELECT " + ", ".join(f"CAST(a AS {kind})" for kind in kinds) + " FROM t"
    assert check(sql, SCHEMA) == (
        "SELECT DATE(a), DATETIME(a), DATETIME(a), TIME(a), CAST(a AS INTEGER), CAST(a AS TEXT), "
        "CAST(a AS REAL(10, 2)) FROM t"
    )
    assert names == []


def test_a_long_list_of_values_is_read() -> None:
    assert inspect(SHAPES["an IN list"](4_000), SCHEMA).tables


TOO_LARGE = [SHAPES["ORs"](1_400), SHAPES["an IN list"](8_000), SHAPES["joins"](251)]


@pytest.mark.parametrize("dialect", ["sqlite", "tsql", None])
@pytest.mark.parametrize("sql", TOO_LARGE, ids=["nodes", "tokens", "joins"])
def test_a_statement_of_any_dialect_is_parsed_only_up_to_the_same_size(sql: str, dialect: str | None) -> None:
    with pytest.raises(StatementTooLarge):
        parsed_one(sql, dialect)


@pytest.mark.parametrize("sql", [SHAPES["ORs"](1_400), SHAPES["an IN list"](8_000)])
def test_a_statement_of_too_many_parts_is_refused_with_the_cure(sql: str) -> None:
    with pytest.raises(StatementRefused, match=r"more than 5,000 parts.*Shorten it"):
        check(sql, SCHEMA)


def test_more_columns_by_stars_than_are_written_out_are_refused() -> None:
    with pytest.raises(StatementRefused, match=r"more than 10,000 columns by its \*") as refused:
        check(SHAPES["columns by * of CTEs"](800), SCHEMA)
    assert refused.value.rule == "length"
    assert check("SELECT count(*), t.* FROM t GROUP BY a, b", SCHEMA)


def test_joins_of_thousands_of_tables_are_refused() -> None:
    for count, said in ((900, "more than 250 joins"), (4_000, "more than 5,000 parts")):
        with pytest.raises(StatementRefused, match=said) as refused:
            check("SELECT 1 FROM " + ", ".join(["t"] * count), SCHEMA)
        assert refused.value.rule == "length"
    with pytest.raises(StatementRefused, match="60 joins by NATURAL or USING"):
        check(SHAPES["NATURAL joins"](61), SCHEMA)


def test_more_selects_than_are_read_are_refused() -> None:
    for name, count in (("unions of *", 400), ("recursive CTEs", 201), ("CTEs", 400)):
        with pytest.raises(StatementRefused, match="more than 400 SELECTs") as refused:
            check(SHAPES[name](count), SCHEMA)
        assert refused.value.rule == "length"
    assert check(SHAPES["unions"](400), SCHEMA)


def test_more_pairs_than_a_number_can_be_written_for_are_refused() -> None:
    with pytest.raises(StatementRefused, match=r"more than 1,000,000,000,000,000 pairs") as refused:
        check(SHAPES["tables that nothing joins"](240), SCHEMA)
    assert refused.value.rule == "unconnected-join"
    assert len(refused.value.detail) < 500
