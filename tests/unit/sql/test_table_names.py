"""Names of tables: what they mean in statements, and how short they are shown."""

from datetime import date

import pytest
from sqlglot import parse_one

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn
from app.modules.sql.table_names import TableName, TableNames, parts_of, shown_names
from app.modules.sql_generation.builtin.writer import WrittenSql, write
from app.modules.sql_generation.checking.check import check as check_names
from app.modules.sql_generation.checking.names import SchemaNames


def table(shown: str, schema: str, columns: str, keys: tuple[ForeignKey, ...] = ()) -> Table:
    return Table(
        name=shown,
        full_name=TableName("", schema, shown.rpartition(".")[2]),
        kind="table",
        columns=[
            TableColumn(name=each, type="integer", database_type="integer", primary_key=each == "id")
            for each in columns.split()
        ],
        foreign_keys=keys,
    )


SCHEMA = Schema(
    "postgres",
    [
        table(
            "sales.orders",
            "sales",
            "id customer_id amount",
            (ForeignKey(["customer_id"], "customers", ["id"]),),
        ),
        table("archive.orders", "archive", "id amount"),
        table("customers", "sales", "id name"),
    ],
)


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("How many sales orders are there?", ["sales.orders"]),
        ("Total amount of archive orders", ["archive.orders"]),
        ("How many customers are there?", ["sales.customers"]),
        ("List customers with more than 1 sales orders", ["sales.customers", "sales.orders"]),
        ("Total amount of sales orders per customer", ["sales.customers", "sales.orders"]),
    ],
)
def test_the_built_in_writer_names_the_tables_of_a_schema(question: str, sources: list[str]) -> None:
    answer = write(question, SCHEMA, previous=None, today=date(2026, 1, 1))
    assert isinstance(answer, WrittenSql)
    assert not check_names(answer.sql, SchemaNames(SCHEMA)).report
    run = check(answer.sql, SCHEMA)
    assert [
        each for each in ("sales.customers", "sales.orders", "archive.orders") if _reads(run, each)
    ] == sources


def _reads(sql: str, name: str) -> bool:
    return '"{}"."{}"'.format(*name.split(".")) in sql


@pytest.mark.parametrize(
    ("sql", "corrected"),
    [
        ("select amount from Sales.Orders", "select amount from Sales.Orders"),
        ('select amount from "Archive"."Orders"', "select amount from archive.orders"),
        ('select id from "Customers"', "select id from customers"),
    ],
)
def test_the_spelling_of_each_part_is_corrected(sql: str, corrected: str) -> None:
    checked = check_names(sql, SchemaNames(SCHEMA))
    assert (checked.sql, checked.report) == (corrected, "")


def test_a_name_of_several_tables_is_a_fault_that_names_them() -> None:
    report = check_names("select amount from orders", SchemaNames(SCHEMA)).report
    assert "nearest: sales.orders, archive.orders" in report


def test_an_unknown_column_of_a_table_with_a_schema_is_a_fault() -> None:
    report = check_names("select o.customer_id from archive.orders as o", SchemaNames(SCHEMA)).report
    assert "unknown column o.customer_id" in report


def test_a_text_means_the_tables_that_end_with_its_parts() -> None:
    assert SCHEMA.names.read("SALES.orders") == ["sales.orders"]
    assert SCHEMA.names.read("sales.customers") == ["customers"]
    assert SCHEMA.names.read("orders") == ["sales.orders", "archive.orders"]
    assert SCHEMA.names.read("raw.orders") == []


@pytest.mark.parametrize("length", [63, 128, 300])
def test_long_names_and_names_with_dots_and_quotes_keep_their_meaning(length: int) -> None:
    odd = [
        TableName("", "a", "x" * length),
        TableName("", "b", "x" * length),
        TableName("", "a", 'we"ird.name'),
    ]
    shown = {name: each.text for name, each in shown_names(odd, "postgres").items()}
    assert len(set(shown.values())) == len(odd)
    names = TableNames("postgres", {text: name for name, text in shown.items()})
    for name, text in shown.items():
        written = parse_one(f"select * from {names.written(text)}", dialect="postgres")
        assert names.find(written.args["from_"].this) == text, name


@pytest.mark.parametrize("parts", [("s", 'a"b'), ("a.b", "c"), ('"', "."), ("s", "t")])
def test_the_parts_of_a_shown_name_are_read_back(parts: tuple[str, str]) -> None:
    assert tuple(parts_of(TableName("", *parts).text)) == parts
