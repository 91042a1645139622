"""Indexes are built once for a known schema, and again when more is known."""

from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.schema_index import SchemaIndexes

ORDERS = Table(
    name="orders", kind="table", columns=[TableColumn(name="id", type="integer", database_type="INTEGER")]
)
KNOWN = ScannedSchema(Schema("sqlite", [ORDERS]), {"orders": {"status": ["paid"]}})


def test_the_same_knowledge_has_one_index() -> None:
    indexes = SchemaIndexes(limit=2)
    assert indexes.of("a", KNOWN) is indexes.of("a", KNOWN)


def test_a_new_description_is_in_a_new_index_over_the_same_texts() -> None:
    indexes = SchemaIndexes(limit=2)
    before = indexes.of("a", KNOWN)
    after = indexes.of(
        "a", KNOWN.with_table(Table(name="orders", kind="table", columns=ORDERS.columns, description="Sales"))
    )
    assert after.cards["orders"].startswith("CREATE TABLE orders ( -- Sales")
    assert after.stored is before.stored


def test_the_database_asked_longest_ago_is_released() -> None:
    indexes = SchemaIndexes(limit=1)
    before = indexes.of("a", KNOWN)
    indexes.of("b", KNOWN)
    assert indexes.of("a", KNOWN) is not before
