"""What reads a statement again after it ran, or before it is checked, on statements made by chance."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluation.gold import GoldOrdering, ordering_of
from app.modules.analysis.figures.coverage import span_statement
from app.modules.analysis.figures.statement import StatementReading, read_statement
from app.modules.sql_generation.reply import read_reply
from graph.ports import Written
from tests.support.corpus import DIALECTS, shop_schema
from tests.support.sql_noise import statement

STUMBLED = "SELECT DATE_SUB(INTERVAL 'name' DAY)"


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=200)
def test_any_statement_is_read_as_far_as_it_can_be(dialect: str, seed: int) -> None:
    sql = statement(Random(seed), dialect)
    assert isinstance(read_statement(sql, dialect), StatementReading)
    found = span_statement(sql, shop_schema(dialect))
    assert found is None or found.sql
    assert isinstance(ordering_of(sql, dialect, ["a"]), GoldOrdering | None)
    assert isinstance(read_reply(f"```sql\n{sql}\n```", dialect), Written)


def test_a_statement_that_the_parser_stumbles_over_says_nothing() -> None:
    assert read_statement(STUMBLED, "mysql") == StatementReading()
    assert span_statement(STUMBLED, shop_schema("mysql")) is None
    assert ordering_of(STUMBLED, "mysql", ["a"]) is None
    assert isinstance(read_reply(STUMBLED, "mysql"), Written)


def test_two_sources_of_one_name_say_nothing() -> None:
    """SQLite runs it; sqlglot makes no scope of it."""
    sql = "SELECT 1 FROM customers c, orders c"
    assert read_statement(sql, "sqlite") == StatementReading()
    assert span_statement(sql, shop_schema("sqlite")) is None
