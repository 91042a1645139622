"""The guard against statements made by chance: it refuses or rewrites, and raises nothing else."""

from random import Random

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from app.modules.database_connection.guard.check import check, check_shape
from app.modules.database_connection.guard.inspection import inspect
from graph.errors import StatementRefused
from tests.support.corpus import DIALECTS, shop_schema
from tests.support.sql_noise import statement

WRITING = (
    *(exp.Alter, exp.Attach, exp.Command, exp.Copy, exp.Create, exp.DML, exp.Detach, exp.Drop, exp.Into),
    *(exp.Kill, exp.Lock, exp.Merge, exp.Pragma, exp.Set, exp.Transaction, exp.TruncateTable, exp.Use),
)
by_chance = settings(max_examples=300)
seeds = st.integers(min_value=0, max_value=2**32)


def outcome(sql: str, dialect: str) -> str | None:
    """What would run; None if the guard refuses it."""
    try:
        return check(sql, shop_schema(dialect))
    except StatementRefused:
        return None


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=seeds)
@by_chance
def test_what_the_guard_lets_pass_is_one_query_that_passes_again(dialect: str, seed: int) -> None:
    written = outcome(statement(Random(seed), dialect), dialect)
    if written is None or written.startswith("EXPLAIN"):
        return
    (parsed,) = [each for each in sqlglot.parse(written, dialect=dialect) if each is not None]
    assert not [node for node in parsed.walk() if isinstance(node, WRITING)]
    assert outcome(written, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=seeds)
@by_chance
def test_the_guard_without_tables_refuses_no_more_than_with_them(dialect: str, seed: int) -> None:
    sql = statement(Random(seed), dialect)
    if outcome(sql, dialect) is not None:
        check_shape(sql, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=seeds)
@by_chance
def test_looking_at_a_statement_raises_nothing_but_the_guards_refusal(dialect: str, seed: int) -> None:
    sql = statement(Random(seed), dialect)
    try:
        assert inspect(sql, shop_schema(dialect)).sql
    except StatementRefused:
        assert outcome(sql, dialect) is None
