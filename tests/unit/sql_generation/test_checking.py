"""Statements are checked against the scanned schema before they run."""

import pytest

from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.checking.names import SchemaNames


def table(name: str, *columns: str) -> Table:
    return Table(
        name=name,
        kind="table",
        columns=[TableColumn(name=each, type="text", database_type="TEXT") for each in columns],
    )


TABLES = [
    table("Customer", "CustomerId", "Country", "name"),
    table("Invoice", "InvoiceId", "CustomerId", "Total", "InvoiceDate"),
    table("order lines", "id", "unit price"),
    table("orders", "id", "total"),
]
SQLITE = SchemaNames(Schema("sqlite", TABLES))
POSTGRES = SchemaNames(Schema("postgres", TABLES))


@pytest.mark.parametrize(
    "sql",
    [
        "select country from customer c join invoice i using (customerid) group by country",
        "select c.country, sum(i.total) as t from customer c, invoice i group by 1 having sum(i.total) > 3",
        "with a as (select id i from orders) select i, (select max(total) from orders where id = i) from a",
        "select * from customer natural join invoice where customerid = 1",
        "select j.value from customer, json_each(country) j where key = 1",
        "select o.id from orders o join invoice i on i.invoiceid = o.id order by id",
        "select rowid, [unit price] from `order lines`",
        "select 1 from main.customer union select id from orders order by 1",
        "with recursive n(x) as (select 1 union all select x + 1 from n where x < 9) select x from n",
        "select row_number() over (partition by country order by name) as r from customer",
        "select total * 2 as twice from orders where twice > 3",
    ],
)
def test_what_sqlite_understands_has_no_faults(sql: str) -> None:
    checked = check(sql, SQLITE)
    assert (checked.report, checked.sql) == ("", sql)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize(
    "sql",
    [
        "select count(o.*) from orders as o",
        "select c.name, count(distinct o.*) from customers c left join orders o on o.id = c.id group by 1",
    ],
)
def test_whole_rows_may_be_counted(dialect: str, sql: str) -> None:
    schema = SchemaNames(Schema(dialect, [table("customers", "id", "name"), table("orders", "id", "total")]))
    assert check(sql, schema).report == ""
    assert "unknown alias x" in check("select count(x.*) from orders", schema).report


@pytest.mark.parametrize(
    "sql",
    [
        "select name, value from q unpivot (value for name in (q1, q2))",
        "select u.id, u.name, u.value from q unpivot (value for name in (q1, q2)) as u where u.value > 1",
        "select quarter, sum(amount) from (unpivot q on q1, q2 into name quarter value amount) group by 1",
        "with u as (unpivot q on q1, q2 into name quarter value amount) select quarter, amount from u",
        "with u as (select * from q unpivot (amount for quarter in (q1, q2))) select u.quarter, u.id from u",
        "select * from q pivot (sum(q1) for id in (1, 2))",
    ],
)
def test_columns_that_duckdb_unpivots_are_not_accused(sql: str) -> None:
    schema = SchemaNames(Schema("duckdb", [table("q", "id", "q1", "q2")]))
    assert check(sql, schema).report == ""


@pytest.mark.parametrize(
    ("sql", "report"),
    [
        ("select totl from orders", "unknown column totl at line 1, column 8; nearest: orders.total"),
        ("select id\nfrom ordrs", "unknown table ordrs at line 2, column 6; nearest: orders"),
        ("select o.nme from customer o", "unknown column o.nme at line 1, column 10; nearest: o.name"),
        ("select x.id from orders o", "unknown alias x at line 1, column 8"),
        (
            "select country from orders",
            "unknown column country at line 1, column 8; nearest: Customer.Country",
        ),
        (
            "select customerid from customer, invoice",
            "customerid at line 1, column 8; is meant one of customer.CustomerId, invoice.CustomerId",
        ),
        ("select id from orders having max(zz) > 1", "unknown column zz at line 1, column 34"),
        ('select "nmae" from customer', "unknown column nmae at line 1, column 8; nearest: customer.name"),
        ("select id from orders where exists (select 1 from invoice where qq = id)", "unknown column qq at"),
    ],
)
def test_a_fault_is_reported_by_kind_place_and_nearest_names(sql: str, report: str) -> None:
    assert report in check(sql, SQLITE).report


@pytest.mark.parametrize(
    ("sql", "corrected"),
    [
        ('select id from orders where total = "a ""b"""', "select id from orders where total = 'a \"b\"'"),
        (
            'select id from orders where total in ("A", "B")',
            "select id from orders where total in ('A', 'B')",
        ),
        ('select "id" from "orders"', 'select "id" from "orders"'),
    ],
)
def test_text_in_double_quotes_becomes_text_where_it_is_compared(sql: str, corrected: str) -> None:
    assert check(sql, SQLITE).sql == corrected


@pytest.mark.parametrize(
    ("sql", "corrected"),
    [
        ("select InvoiceDate from Invoice", 'select "InvoiceDate" from "Invoice"'),
        ("select c.country from customer c", 'select c."Country" from "Customer" c'),
        (
            "with a as (select Total from Invoice) select total from a",
            'with a as (select "Total" from "Invoice") select "Total" from a',
        ),
        ("select TOTAL from ORDERS", "select TOTAL from ORDERS"),
    ],
)
def test_a_name_that_is_wrong_only_in_case_and_quotes_is_corrected(sql: str, corrected: str) -> None:
    checked = check(sql, POSTGRES)
    assert (checked.sql, checked.faults) == (corrected, [])


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "selec",
        "drop table orders",
        "select (" * 500,
        "select * from orders, orders",
        "select 1; select zz from orders",
    ],
)
def test_what_is_no_query_is_left_to_the_guard(sql: str) -> None:
    assert check(sql, SQLITE).faults == []
