"""A statement is parsed and qualified once for all that a turn does with it."""

import importlib
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import pytest
from sqlglot import exp
from sqlglot.parser import Parser

from app.modules.analysis.figures.coverage import key_columns, span_statement
from app.modules.analysis.figures.statement import read_statement
from app.modules.database_connection.guard.check import check as guard_check
from app.modules.database_connection.guard.check import written
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql.statement import Statement, statement_of
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.context import tables_read
from app.modules.sql_generation.repair import is_same_statement
from app.modules.sql_generation.result_warnings.empty_joins import join_probes
from app.modules.sql_generation.result_warnings.warnings import find_warnings
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.errors import StatementRefused
from graph.state import Column as ResultColumn
from graph.state import Rows

P = ParamSpec("P")
T = TypeVar("T")

CUSTOMERS = Table(
    name="customers",
    kind="table",
    columns=[TableColumn(name="id", type="integer", database_type="INTEGER", primary_key=True)],
)
INVOICES = Table(
    name="invoices",
    kind="table",
    columns=[
        TableColumn(name="id", type="integer", database_type="INTEGER", primary_key=True),
        TableColumn(name="customer_id", type="integer", database_type="INTEGER"),
        TableColumn(name="day", type="date", database_type="TEXT"),
    ],
    foreign_keys=[ForeignKey(["customer_id"], "customers", ["id"])],
)
SCHEMA = Schema("sqlite", [CUSTOMERS, INVOICES])
INDEX = SchemaIndex(ScannedSchema(SCHEMA, {}))
ROWS = Rows(
    columns=[ResultColumn(name="month", type="text")], rows=[["2024-01"]], row_count=1, truncated=False
)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often sqlglot parsed and qualified; no statement is known at the start."""
    statement_of.cache_clear()
    written.cache_clear()
    done: Counter[str] = Counter()

    def counted(what: str, work: Callable[P, T]) -> Callable[P, T]:
        def count(*arguments: P.args, **options: P.kwargs) -> T:
            done[what] += 1
            return work(*arguments, **options)

        return count

    qualifying = importlib.import_module("sqlglot.optimizer.qualify")
    monkeypatch.setattr(Parser, "parse", counted("parsed", Parser.parse))
    monkeypatch.setattr(
        qualifying, "qualify_columns_func", counted("qualified", qualifying.qualify_columns_func)
    )
    return done


def test_all_that_a_turn_asks_of_a_statement_parses_and_qualifies_it_once(work: Counter[str]) -> None:
    sql = (
        "SELECT strftime('%Y-%m', i.day) AS month, count(*) / count(DISTINCT c.id) AS each "
        "FROM invoices AS i JOIN customers AS c ON c.id = i.customer_id GROUP BY 1 LIMIT 7"
    )
    assert statement_of(sql, "sqlite").qualified(INDEX.names) is not None
    assert tables_read(sql, INDEX) == ["customers", "invoices"]
    find_warnings(sql, ROWS, INDEX)
    join_probes(sql, INDEX)
    assert is_same_statement(sql, sql, "sqlite")
    assert read_statement(sql, "sqlite").limit == 7
    assert key_columns(sql, SCHEMA) == {"id", "customer_id"}
    assert span_statement(sql, SCHEMA) is not None
    assert work["qualified"] == 1
    assert work["parsed"] == 1


@pytest.mark.parametrize("sql", ["select count(*) as n from invoices", "SELECT COUNT(*) AS n FROM invoices"])
def test_a_turn_parses_a_statement_once_and_what_runs_once_more_for_the_guard_alone(
    work: Counter[str], sql: str
) -> None:
    assert correct(sql, INDEX.names).sql == sql
    assert guard_check(sql, SCHEMA) == "SELECT COUNT(*) AS n FROM invoices"
    find_warnings(sql, ROWS, INDEX)
    assert (work["parsed"], work["qualified"]) == (2, 1)


def test_the_guard_does_not_trust_the_tree_that_others_have(work: Counter[str]) -> None:
    sql = "SELECT COUNT(*) AS n FROM invoices WHERE id = 1"
    where = statement_of(sql, "sqlite").tree.args["where"]
    where.set("this", exp.Anonymous(this="LOAD_EXTENSION"))
    try:
        with pytest.raises(StatementRefused, match="load_extension"):
            guard_check(sql, SCHEMA)
        assert work["parsed"] == 1
    finally:
        statement_of.cache_clear()


def trees_of(statement: Statement) -> list[str]:
    return [statement.tree.sql(), statement.folded.sql(), str(statement.qualified(INDEX.names))]


def test_the_trees_that_are_shared_are_not_changed_by_their_readers() -> None:
    sql = "SELECT Count(*) / count(DISTINCT C.id) FROM Invoices AS I JOIN customers C ON C.id = I.customer_id"
    before = trees_of(statement_of(sql, "sqlite"))
    correct(sql, INDEX.names)
    find_warnings(sql, ROWS, INDEX)
    join_probes(sql, INDEX)
    read_statement(sql, "sqlite")
    assert before == trees_of(statement_of(sql, "sqlite")) == trees_of(Statement(sql, "sqlite"))
