"""Indexes are built once for a known schema, and again when more is known."""

from dataclasses import replace

from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn, TableProfile
from app.modules.sql_generation.schema_index import SchemaIndex, SchemaIndexes

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


def test_values_that_a_scan_reads_are_found_by_indexes_that_keep_what_names_give() -> None:
    """Also with thousands of tables: each state of a scan indexes only what is new in it."""
    visits = Table(
        name="visits", kind="table", columns=[TableColumn(name="city", type="text", database_type="TEXT")]
    )
    listed = ScannedSchema(Schema("sqlite", [ORDERS, visits]))
    indexes = SchemaIndexes(1)
    first = indexes.of("c", listed)
    assert first.words.ranked(["city"]) == ["visits"]
    assert first.stored.of_key("oslo") == ()
    first.stored.made_at -= 60  # texts of questions that follow at once are shared
    read = listed.add_profiles([TableProfile(replace(visits, row_count=2), {"city": ["Oslo"]})])
    second = indexes.of("c", read)
    assert (second.words, second.tables["visits"].row_count) == (first.words, 2)
    assert [each.text for each in second.stored.of_key("oslo")] == ["Oslo"]
    second.stored.made_at -= 60
    third = indexes.of("c", read.with_table(replace(visits, description="Trips to towns")))
    assert third.words.ranked(["town"]) == ["visits"]
    changed = read.add_profiles([TableProfile(visits, {"city": ["Rome"]})])
    third.stored.made_at -= 60
    fourth = indexes.of("c", changed)
    assert (fourth.stored.of_key("oslo"), fourth.stored.of_key("rome")[0].text) == ((), "Rome")


def test_a_schema_far_too_large_is_known_from_its_first_cards() -> None:
    tables = [replace(ORDERS, name=f"orders_{number}") for number in range(1_000)]
    index = SchemaIndex(ScannedSchema(Schema("sqlite", tables)))
    assert not index.fits(100)
    assert index.fits(1_000_000)
