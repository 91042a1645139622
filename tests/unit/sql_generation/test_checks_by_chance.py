"""The name check and the result warnings of statements made by chance: they never fail."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.result_warnings.warnings import find_warnings
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Rows
from tests.support.corpus import DIALECTS
from tests.support.sql_noise import statement

COLUMNS = {
    "categories": ("id", "parent_id", "name"),
    "customers": ("id", "name", "country", "email", "signed_up", "vip"),
    "order lines": ("order_id", "select", "quantity", "unit price"),
    "orders": ("id", "customer_id", "placed", "status", "total", "details"),
}
REFERENCES: Mapping[str, list[ForeignKey]] = {"orders": [ForeignKey(["customer_id"], "customers", ["id"])]}
NOTHING = Rows(columns=[{"name": "a", "type": "text"}], rows=[], row_count=0, truncated=False)


def index(dialect: str) -> SchemaIndex:
    tables = [
        Table(
            name=name,
            kind="table",
            columns=[
                TableColumn(name=each, type="text", database_type="TEXT", primary_key=each == "id")
                for each in columns
            ],
            foreign_keys=REFERENCES.get(name, ()),
        )
        for name, columns in COLUMNS.items()
    ]
    texts = {"customers": {"name": ["Ann", "Bob"], "country": ["Norway"]}}
    return SchemaIndex(ScannedSchema(Schema(dialect, tables), texts))


INDEXES = {dialect: index(dialect) for dialect in DIALECTS}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=300)
def test_a_statement_is_checked_for_names_and_warnings_without_failing(dialect: str, seed: int) -> None:
    sql = statement(Random(seed), dialect)
    checked = check(sql, INDEXES[dialect].names)
    assert bool(checked.report) == bool(checked.faults)
    assert all(find_warnings(sql, NOTHING, INDEXES[dialect]))


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT DATE_SUB(INTERVAL 'name' DAY)", "mysql"),
        ("SELECT * FROM customers JOIN FORMAT(INITCAP()) USING (id) ORDER BY 1", "postgres"),
        ("SELECT * ORDER BY 1", "duckdb"),
        ("id EXCEPT SELECT customer_id FROM orders", "sqlite"),
    ],
)
def test_a_statement_that_sqlglot_stumbles_over_is_left_to_the_database(sql: str, dialect: str) -> None:
    assert check(sql, INDEXES[dialect].names).sql == sql
    assert find_warnings(sql, NOTHING, INDEXES[dialect]) == []
