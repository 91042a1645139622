"""What speaks against a result although its statement ran."""

import pytest
from pydantic import JsonValue

from app.modules.database_connection.known import Known
from app.modules.database_connection.schema import Column, ForeignKey, Schema, Table
from app.modules.sql_generation.result_warnings.warnings import find_warnings
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.state import Column as ResultColumn
from graph.state import Rows


def key(name: str) -> Column:
    return Column(name, "integer", "INTEGER", primary_key=True)


def plain(name: str) -> Column:
    return Column(name, "text", "TEXT")


CUSTOMERS = Table("Customers", "table", [key("id"), plain("Country"), plain("note")])
INVOICES = Table(
    "invoices",
    "table",
    [key("id"), plain("customer_id"), plain("total")],
    [ForeignKey(["customer_id"], "Customers", ["id"])],
)
INDEX = SchemaIndex(
    Known(Schema("sqlite", [CUSTOMERS, INVOICES]), {"Customers": {"Country": ["Brazil", "Norway"]}})
)


def rows(*found: list[JsonValue]) -> Rows:
    columns = [
        ResultColumn(name=f"c{number}", type="text") for number in range(len(found[0]) if found else 1)
    ]
    return Rows(columns=columns, rows=[*found], row_count=len(found), truncated=False)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from customers where country = 'Brasil'",
        "select * from customers c where 'Brasil' = c.country",
        "select count(*) from (select 1 from customers where country in ('Brasil')) x",
    ],
)
def test_a_filter_for_what_is_not_stored_is_told_with_the_nearest_value(sql: str) -> None:
    (told,) = find_warnings(sql, rows(), INDEX)
    assert told.startswith("No Customers.Country was “Brasil”")
    assert told.endswith("The nearest stored there: “Brazil”.")


@pytest.mark.parametrize("found", [[[0]], [[None]], []])
def test_the_sum_or_count_of_nothing_is_as_suspicious_as_no_rows(found: list[list[JsonValue]]) -> None:
    sql = "select count(*) from customers where country = 'Brasil'"
    assert "“Brazil”" in find_warnings(sql, rows(*found), INDEX)[0]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from customers where country = 'Norway'",
        "select * from customers where note = 'Brasil'",
        "select * from customers where country <> 'Brasil'",
        "select * from customers where country like 'Bras%'",
        "selec",
    ],
)
def test_no_rows_alone_raise_no_warning(sql: str) -> None:
    assert find_warnings(sql, rows(), INDEX) == []


def test_a_misspelled_text_in_a_list_is_told_even_when_rows_came() -> None:
    sql = "select * from customers where country in ('Norway', 'Brasil')"
    assert "“Brasil”" in find_warnings(sql, rows(["Norway"]), INDEX)[0]
    assert find_warnings(sql.replace("Brasil", "Qatar"), rows(["Norway"]), INDEX) == []


def test_a_column_without_any_value_is_told() -> None:
    assert find_warnings("select 1, 2", rows([1, None], [2, None]), INDEX) == ["Every value of “c1” is null."]


@pytest.mark.parametrize("taken", ["sum(c.note)", "avg(c.note)", "count(c.id)"])
def test_an_aggregate_over_repeated_rows_is_told(taken: str) -> None:
    sql = f"select {taken} from customers c join invoices i on i.customer_id = c.id"
    (told,) = find_warnings(sql, rows([3]), INDEX)
    assert told.startswith("Customers is joined to invoices")


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(i.total) from customers c join invoices i on i.customer_id = c.id",
        "select count(distinct c.id) from customers c join invoices i on i.customer_id = c.id",
        "select count(*) from customers c join invoices i on i.customer_id = c.id",
        "select i.id, sum(c.note) from customers c join invoices i on i.customer_id = c.id group by i.id",
        "select sum(note) from customers where id in (select customer_id from invoices)",
    ],
)
def test_an_aggregate_over_rows_that_stand_once_is_not(sql: str) -> None:
    assert find_warnings(sql, rows([3]), INDEX) == []
