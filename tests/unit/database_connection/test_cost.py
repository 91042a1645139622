"""What the guard says of statements that only cost too much."""

import pytest

from app.modules.database_connection.guard.check import check, check_shape
from app.modules.database_connection.schema import Schema, Table, TableColumn
from graph.errors import StatementFailed, StatementRefused


def table(name: str, rows: int | None, *columns: str) -> Table:
    return Table(
        name=name,
        kind="table",
        columns=[TableColumn(name=each, type="integer", database_type="INTEGER") for each in columns],
        row_count=rows,
    )


TABLES = [
    table("orders", 1_000_000, "id", "customer_id", "total"),
    table("customers", 100_000, "id", "name"),
    table("months", 12, "month"),
    table("unknown", None, "x"),
]
SCHEMA = Schema("postgres", TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from orders, customers",
        "select count(*) from orders cross join customers",
        "select count(*) from orders o join customers c on o.total > 5",
        "select count(*) from orders o join customers c on true where c.id = 1",
        "select count(*) from orders a, orders b",
        "select count(*) from orders a join customers b on b.id = a.customer_id, orders c",
        "select * from months where exists (select 1 from orders, customers)",
        "with x as (select 1 from orders, customers) select count(*) from x",
    ],
)
def test_large_tables_that_nothing_joins_are_refused_with_advice(sql: str) -> None:
    with pytest.raises(StatementFailed, match=r"Nothing joins \w+ and \w+.*Add the condition"):
        check(sql, SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from orders, customers where orders.customer_id = customers.id",
        "select count(*) from orders join customers on customer_id = customers.id",
        "select count(*) from orders o join customers c using (id)",
        "select count(*) from orders natural join customers",
        "select a.id from customers a, customers b where a.name < b.name and a.id = b.id",
        "select count(*) from orders cross join months",
        "select count(*) from orders cross join unknown",
        "select total / s.all_of_it from orders cross join (select sum(total) as all_of_it from orders) s",
        "select count(*) from orders o join customers c on o.total = c.id and o.id > 3, months",
        "select count(*) from orders o, lateral (select 1 from customers c where c.id = o.customer_id) x",
        "select count(*) from orders, generate_series(1, 3) as n",
        "select count(*) from orders o join customers c on nosuchcolumn = 1",
    ],
)
def test_a_join_that_a_user_may_mean_passes(sql: str) -> None:
    assert check(sql, SCHEMA)


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("select repeat('x', 10001)", "at most 10000"),
        ("select repeat('x', id) from orders", "written as a plain number"),
        ("select repeat(repeat('x', 5000), 5000)", "repeats text too often"),
        (
            f"select replace(replace(name, 'a', '{'b' * 2000}'), 'b', '{'c' * 2000}') from customers",
            "too often",
        ),
    ],
)
def test_text_does_not_grow_without_bound(sql: str, advice: str) -> None:
    with pytest.raises(StatementFailed, match=advice):
        check(sql, SCHEMA)


def test_names_may_be_tidied_by_many_replacements() -> None:
    tidied = "name"
    for short, long in [
        ("St.", "Street"),
        ("Rd.", "Road"),
        ("Inc", "Incorporated"),
        ("&", "and"),
        ("  ", " "),
    ]:
        tidied = f"replace({tidied}, '{short}', '{long}')"
    assert check(f"select {tidied} from customers", SCHEMA)


def test_dates_may_be_padded_as_often_as_one_likes() -> None:
    padded = " || ".join(["lpad(id::text, 2, '0')"] * 40)
    assert check(f"select {padded} from orders", SCHEMA)


@pytest.mark.parametrize("text", ["%0d" * 40 + "%*", "{:0}" * 40 + "{"])
def test_a_template_is_judged_without_trying_every_way_to_read_it(text: str) -> None:
    """Two ways to read each of forty parts are 2 to the power of 40 ways."""
    with pytest.raises(StatementRefused, match="literal, with widths"):
        check_shape(f"select format('{text}', 1)", "duckdb")
