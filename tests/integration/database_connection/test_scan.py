"""What a scan learns of real databases."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn, TableProfile
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

LIMITS = ConnectionLimits()


def table(schema: Schema, name: str) -> Table:
    return next(each for each in schema.tables if each.name == name)


def column(schema: Schema, table_name: str, name: str) -> TableColumn:
    return next(each for each in table(schema, table_name).columns if each.name == name)


def database(path: Path, script: str) -> SqliteDatabase:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return SqliteDatabase(path)


def test_tables_and_views_come_by_name_with_their_rows_counted(shop_schema: Schema) -> None:
    found = [(each.name, each.kind, each.row_count) for each in shop_schema.tables]
    assert found == [
        ("categories", "table", 3),
        ("customers", "table", 3),
        ("files", "table", 1),
        ("order lines", "table", 2),
        ("orders", "table", 3),
        ("spending", "view", 2),
    ]
    assert shop_schema.dialect == "sqlite"


def test_keys_are_known_also_where_they_name_no_column(shop_schema: Schema) -> None:
    assert column(shop_schema, "customers", "id").primary_key
    assert table(shop_schema, "orders").foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    assert table(shop_schema, "order lines").foreign_keys == [ForeignKey(["order_id"], "orders", ["id"])]


@pytest.mark.parametrize(
    ("table_name", "name", "kind", "declared"),
    [
        ("customers", "signed_up", "date", "DATE"),
        ("customers", "vip", "boolean", "BOOLEAN"),
        ("order lines", "unit price", "number", "REAL"),
        ("orders", "placed", "date", "TEXT"),
        ("orders", "total", "number", "NUMERIC(10, 2)"),
        ("orders", "details", "json", "JSON"),
        ("files", "content", "binary", "BLOB"),
        ("spending", "latest", "date", ""),
        ("spending", "spent", "number", ""),
    ],
)
def test_a_type_comes_from_the_declaration_or_else_from_the_values(
    shop_schema: Schema, table_name: str, name: str, kind: str, declared: str
) -> None:
    found = column(shop_schema, table_name, name)
    assert (found.type, found.database_type) == (kind, declared)


def test_numbers_and_dates_have_a_range_and_few_texts_are_listed(shop_schema: Schema) -> None:
    total, placed = column(shop_schema, "orders", "total"), column(shop_schema, "orders", "placed")
    assert (total.minimum, total.maximum) == ("5.25", "20")
    assert (placed.minimum, placed.maximum, placed.values) == ("2024-01-01", "2024-02-01", ())
    assert column(shop_schema, "customers", "country").values == ["Japan", "Norway"]
    assert column(shop_schema, "orders", "total").values == ()


@pytest.mark.parametrize(
    ("rows", "listed"),
    [([str(n) for n in range(50)], 50), ([str(n) for n in range(51)], 0), (["x" * 101], 0)],
)
def test_values_are_listed_all_or_not_at_all(tmp_path: Path, rows: list[str], listed: int) -> None:
    opened = database(tmp_path / "a.db", "create table t (a text)")
    with closing(sqlite3.connect(opened.path)) as connection, connection:
        connection.executemany("insert into t values (?)", [(row,) for row in rows * 10])
    assert len(column(scan(opened, LIMITS, Stop()), "t", "a").values) == listed


def test_a_rare_value_late_in_a_long_table_is_listed_too(tmp_path: Path) -> None:
    script = """create table t (a text);
        with recursive n(x) as (select 1 union all select x + 1 from n where x < 50000)
            insert into t select iif(x = 49999, 'rare', 'common') from n"""
    found = scan(database(tmp_path / "a.db", script), LIMITS, Stop())
    assert column(found, "t", "a").values == ["common", "rare"]
    assert table(found, "t").row_count == 50_000


def test_odd_names_and_an_empty_database_are_no_trouble(tmp_path: Path) -> None:
    script = """create table "per%cent; drop" ("a:b" text, "100%" integer, "q""uote" date);
        insert into "per%cent; drop" values ('x', 1, '2024-01-01')"""
    found = scan(database(tmp_path / "a.db", script), LIMITS, Stop())
    assert [each.minimum for each in found.tables[0].columns] == [None, "1", "2024-01-01"]
    assert scan(database(tmp_path / "b.db", ""), LIMITS, Stop()).tables == []


def test_what_the_database_itself_cannot_read_is_left_out(tmp_path: Path) -> None:
    script = "create table t (a); create table gone (b); create view v as select * from gone; drop table gone"
    found = scan(database(tmp_path / "a.db", script), LIMITS, Stop())
    assert [each.name for each in found.tables] == ["t"]


def test_a_view_that_never_ends_costs_its_time_and_only_its_own_profile(tmp_path: Path) -> None:
    script = """create table t (a integer); insert into t values (1);
        create view endless as with recursive n(x) as (select 1 union all select x + 1 from n)
            select count(*) as c from n"""
    limits = ConnectionLimits(profile_statement_seconds=0.5)
    found = scan(database(tmp_path / "a.db", script), limits, Stop())
    assert [(each.name, each.row_count) for each in found.tables] == [("endless", None), ("t", 1)]


def test_an_abandoned_scan_ends(shop: SqliteDatabase) -> None:
    stop = Stop()
    stop.abandon()
    with pytest.raises((DatabaseUnavailable, StatementFailed)):
        scan(shop, LIMITS, stop)


def test_a_real_database_is_scanned_whole(chinook: SqliteDatabase) -> None:
    found = scan(chinook, LIMITS, Stop())
    assert len(found.tables) == 11
    assert column(found, "Invoice", "InvoiceDate").type == "datetime"
    assert "Jazz" in column(found, "Genre", "Name").values


def test_many_texts_are_counted_and_only_their_format_is_shown(tmp_path: Path) -> None:
    script = """create table t (name text, day text);
        with recursive n(x) as (select 1 union all select x + 1 from n where x < 500)
            insert into t select 'NO-' || (x + 100), '03/' || (x % 28 + 1) || '/2024' from n"""
    found = scan(database(tmp_path / "a.db", script), LIMITS, Stop())
    name, day = column(found, "t", "name"), column(found, "t", "day")
    assert (name.values, name.distinct_count, name.format) == ((), 500, "AA-999")
    assert (day.format, day.distinct_count) == ("MM/DD/YYYY", 28)


def test_all_tables_are_reported_before_their_profiles(shop: SqliteDatabase) -> None:
    reported: list[Sequence[TableProfile]] = []
    scan(shop, LIMITS, Stop(), tell=reported.append)
    assert [each.table.row_count for each in reported[0]] == [None] * 6
    assert [each.table.name for some in reported[1:] for each in some] == [
        each.table.name for each in reported[0]
    ]
