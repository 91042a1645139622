"""Questions back: each option is a full question that is answered as just that reading."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import pytest

from app.modules.database_connection.schema import Schema
from app.modules.sql.table_names import TableName
from app.modules.sql_generation.builtin import Beyond, Choice, Clarification, WrittenSql, chosen, write
from tests.support.cases import assert_each
from tests.unit.builtin.databases import CHINOOK, business, chinook, rows, schema_of

TODAY = date(2025, 7, 15)
SCHEMA = schema_of(business())


def offered(question: str, schema: Schema = SCHEMA) -> tuple[Choice, ...]:
    answer = write(question, schema, previous=None, today=TODAY)
    assert isinstance(answer, Clarification), answer
    return answer.options


def answered(question: str, schema: Schema = SCHEMA) -> WrittenSql:
    answer = write(question, schema, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql), answer
    return answer


@pytest.mark.parametrize(
    ("question", "meanings"),
    [
        (
            "Revenue per region",
            {
                "through customers": "select r.name, sum(amount) from order_lines l join orders o on"
                " o.id = order_id join customers c on c.id = customer_id join regions r on r.id ="
                " c.region_id group by 1 order by 2 desc",
                "through employees": "select r.name, sum(amount) from order_lines l join orders o on"
                " o.id = order_id join employees e on e.id = employee_id join regions r on r.id ="
                " e.region_id group by 1 order by 2 desc",
            },
        ),
        (
            "How many products over 100?",
            {
                "unit price": "select count(*) from products where unit_price > 100",
                "cost": "select count(*) from products where cost > 100",
            },
        ),
        (
            "price by category",
            {
                "average": "select category, avg(unit_price) from products group by 1 order by 2 desc",
                "highest": "select category, max(unit_price) from products group by 1 order by 2 desc",
                "lowest": "select category, min(unit_price) from products group by 1 order by 2 desc",
                "total": "select category, sum(unit_price) from products group by 1 order by 2 desc",
            },
        ),
        (
            "What is the highest price?",
            {
                "products unit price": "select max(unit_price) from products",
                "order lines unit price": "select max(unit_price) from order_lines",
            },
        ),
    ],
)
def test_each_option_is_answered_as_it_says(question: str, meanings: dict[str, str]) -> None:
    options = offered(question)
    assert {option.label for option in options} == set(meanings)
    for option in options:
        found = rows(business(), answered(option.question).sql)
        assert found == rows(business(), meanings[option.label]), option


def test_the_biggest_may_be_so_by_money_by_a_number_or_by_how_many_it_has() -> None:
    by = {option.label: answered(option.question) for option in offered("Biggest customer")}
    assert set(by) == {"revenue", "number of orders"}
    assert "SUM(" in by["revenue"].sql
    assert "COUNT(" in by["number of orders"].sql


def test_a_question_unclear_twice_is_asked_back_once() -> None:
    options = offered("price per region")
    assert {option.label for option in options} == {
        f"{function}, through {table}"
        for function in ("average", "highest", "lowest", "total")
        for table in ("customers", "employees")
    }
    assert all(answered(option.question) for option in options)


def _databases() -> Iterator[tuple[str, sqlite3.Connection]]:
    yield "business", business()
    if CHINOOK.exists():
        yield "chinook", chinook()


def _questions(schema: Schema) -> Iterator[str]:
    for table in schema.tables:
        for form in ("biggest {}", "top 5 {}", "{} over 100", "{} per month", "revenue per {}"):
            yield form.format(table.name)
        for column in table.columns:
            yield f"{column.name} by {table.name}"
            yield f"number of {table.name} by {column.name}"
        for other in schema.tables:
            yield f"number of {table.name} per {other.name}"


@pytest.mark.parametrize(("name", "database"), [*_databases()])
def test_no_option_of_any_question_back_is_asked_back_about_again(
    name: str, database: sqlite3.Connection
) -> None:
    schema, asked_back = schema_of(database), 0
    for question in _questions(schema):
        try:
            answer = write(question, schema, previous=None, today=TODAY)
        except Beyond:
            continue
        if not isinstance(answer, Clarification):
            continue
        asked_back += 1
        statements = [answered(option.question, schema).sql for option in answer.options]
        assert len(set(statements)) == len(statements) >= 2, question
        assert len({option.label for option in answer.options}) == len(statements), question
        for sql in statements:
            database.execute(sql)
    assert asked_back > 10, name


def test_what_has_no_two_readings_to_choose_from_is_declined() -> None:
    with pytest.raises(Beyond, match="several meanings"):
        write("best returns", SCHEMA, previous=None, today=TODAY)


def test_a_way_that_a_question_names_has_to_lie_on_its_way() -> None:
    with pytest.raises(Beyond, match="did not understand"):
        write("revenue per category through employees", SCHEMA, previous=None, today=TODAY)


WAYS = (
    Choice("through customers", "Revenue per region, through customers"),
    Choice("through employees", "Revenue per region, through employees"),
)
BIGGEST = (
    Choice("revenue", "Biggest order by revenue"),
    Choice("freight", "Biggest order by freight"),
    Choice("number of order lines", "Biggest order by number of order lines"),
)
FUNCTIONS = tuple(Choice(each, f"{each} price") for each in ("average", "highest", "lowest", "total"))


def test_a_reply_names_an_option_in_words_or_by_number() -> None:
    def check(reply: str, options: Sequence[Choice], index: int) -> None:
        assert chosen(reply, options) == options[index]

    assert_each(
        [
            ("through customers", WAYS, 0),
            ("Through customers.", WAYS, 0),
            ("customers", WAYS, 0),
            ("the customers please", WAYS, 0),
            ("via employees", WAYS, 1),
            ("I mean through employees", WAYS, 1),
            ("Revenue per region through employees", WAYS, 1),
            ("the first one", WAYS, 0),
            ("The second", WAYS, 1),
            ("2", WAYS, 1),
            ("2.", WAYS, 1),
            ("number 2", WAYS, 1),
            ("option 1", WAYS, 0),
            ("#2", WAYS, 1),
            ("the last one", WAYS, 1),
            ("the latter", WAYS, 1),
            ("one", WAYS, 0),
            ("by revenue", BIGGEST, 0),
            ("revenue", BIGGEST, 0),
            ("by number of order lines", BIGGEST, 2),
            ("order lines", BIGGEST, 2),
            ("3rd", BIGGEST, 2),
            ("total", FUNCTIONS, 3),
            ("the sum", FUNCTIONS, 3),
            ("the total please", FUNCTIONS, 3),
            ("maximum", FUNCTIONS, 1),
        ],
        check,
    )


@pytest.mark.parametrize(
    "reply",
    ["How many customers?", "by revenue in 2025", "3", "0", "by price", "yes", "", "revenue and freight"],
)
def test_anything_else_is_a_new_question(reply: str) -> None:
    assert chosen(reply, WAYS if reply == "3" else BIGGEST) is None


def test_tables_of_one_name_in_two_schemas_are_asked_about() -> None:
    (orders,) = [each for each in SCHEMA.tables if each.name == "orders"]
    places = [
        replace(orders, name=f"{each}.orders", full_name=TableName("", each, "orders"))
        for each in ("raw", "sales")
    ]
    schema = replace(SCHEMA, tables=[*(each for each in SCHEMA.tables if each is not orders), *places])
    options = offered("How many orders are there?", schema)
    assert [each.label for each in options] == ["raw orders", "sales orders"]
    for each, place in zip(options, ("raw", "sales"), strict=True):
        assert f'FROM "{place}"."orders"' in answered(each.question, schema).sql
