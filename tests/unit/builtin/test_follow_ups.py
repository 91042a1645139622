"""A follow-up changes the plan of the statement before it, if the built-in writer wrote that."""

from datetime import date

import pytest

from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.builtin import (
    Beyond,
    FromRows,
    Previous,
    WrittenSql,
    read_plan,
    write,
    write_plan,
)
from tests.support.cases import assert_each
from tests.unit.builtin.databases import business, rows, schema_of

TODAY = date(2025, 7, 15)
SHARE = "What share of revenue comes from Germany?"
SHARE_IN_2024 = "which share of revenue in 2024 came from Tents"


def answer_of(question: str, *, before: WrittenSql | None = None, schema: Schema | None = None) -> WrittenSql:
    """Answers a question; `before` is the answer that it follows, whose plan has been stored meanwhile."""
    previous = Previous(read_plan(write_plan(before.plan)) if before.plan else None) if before else None
    answer = write(question, schema or schema_of(business()), previous=previous, today=TODAY)
    assert isinstance(answer, WrittenSql), answer
    return answer


def sql_of(question: str, then: str | None = None) -> str:
    answer = answer_of(question)
    return (answer_of(then, before=answer) if then else answer).sql


def test_a_follow_up_gives_the_rows_of_the_whole_question() -> None:
    def check(first: str, then: str, same_as: str) -> None:
        edited = sql_of(first, then)
        assert rows(business(), edited) == rows(business(), sql_of(same_as)), edited

    assert_each(
        [
            ("revenue in Germany", "only for 2025", "revenue in Germany in 2025"),
            ("revenue in 2025", "and for Germany?", "revenue in Germany in 2025"),
            ("revenue in 2024", "what about 2025?", "revenue in 2025"),
            ("revenue for Tents", "and Stoves?", "revenue for Stoves"),
            ("revenue by category", "in France", "revenue by category in France"),
            ("revenue", "per month", "revenue per month"),
            ("top 5 products by revenue", "by month instead", "revenue by month"),
            ("revenue by category", "by country", "revenue by country"),
            ("revenue by country", "by year and country", "revenue by year and country"),
            ("orders per country", "in 2024", "orders per country in 2024"),
            ("how many customers", "in Germany or France", "how many customers in Germany or France"),
            ("revenue by month and category", "by year instead", "revenue by year and category"),
            ("list products", "with price over 100", "products with price over 100"),
            ("list customers", "only the first 2", "first 2 customers"),
            ("list orders", "since June", "orders since June"),
            (
                "list products",
                "Sort them in descending order of unit price",
                "products sorted by unit price descending",
            ),
            (
                "names of products",
                "For each of them, also show the category",
                "name and category of products",
            ),
            ("names of products", "also show the category for each.", "name and category of products"),
            ("orders in March 2025", "and the month before?", "orders in February 2025"),
            ("how many orders in 2024", "what about the following year?", "how many orders in 2025"),
            ("how many orders in Q2 2025", "and the previous quarter", "how many orders in Q1 2025"),
            ("how many orders in 2025", "break that down by status", "orders in 2025 by status"),
            ("top 2 products by revenue", "make it three", "top 3 products by revenue"),
            ("top 2 products by revenue in 2024", "and 2025?", "top 2 products by revenue in 2025"),
            (
                "average price by category of products",
                "and the maximum?",
                "maximum price by category of products",
            ),
            ("customers in Germany", "the same for France", "customers in France"),
            ("how many customers in Germany", "same but for the USA", "how many customers in the USA"),
            ("how many products", "list them", "list products"),
            (SHARE, "and from France?", "What share of revenue comes from France?"),
            ("share of revenue by category", "and in 2025?", "share of revenue by category in 2025"),
            ("which share of revenue in 2025 came from Tents", "and in 2024?", SHARE_IN_2024),
            (
                "What share of revenue was in 2024?",
                "and in 2025?",
                "What share of revenue was in 2025?",
            ),
        ],
        check,
    )


GERMANS = "customers in Germany"


def test_what_a_follow_up_points_to_are_the_rows_of_the_answer_before() -> None:
    def check(first: str, then: str, gold: str) -> None:
        edited = sql_of(first, then)
        assert rows(business(), edited) == rows(business(), gold), edited

    assert_each(
        [
            (GERMANS, "How many are there?", "select count(*) from customers where country = 'Germany'"),
            (GERMANS, "how many?", "select count(*) from customers where country = 'Germany'"),
            (GERMANS, "count them", "select count(*) from customers where country = 'Germany'"),
            (
                GERMANS,
                "How many of them are in Berlin?",
                "select count(*) from customers where country = 'Germany' and city = 'Berlin'",
            ),
            (
                GERMANS,
                "How many of those customers have a signup date in 2025?",
                "select count(*) from customers where country = 'Germany' and signup_date >= '2025-01-01'",
            ),
            (
                "how many customers in Germany",
                "what are their names?",
                "select name from customers where country = 'Germany'",
            ),
            (
                "how many customers in Germany",
                "Which of them are in Berlin?",
                "select * from customers where city = 'Berlin'",
            ),
            (GERMANS, "What are their names?", "select name from customers where country = 'Germany'"),
            (GERMANS, "show me their cities", "select city from customers where country = 'Germany'"),
            (GERMANS, "What about their email?", "select email from customers where country = 'Germany'"),
            (
                "names of customers in Germany",
                "Also show their city",
                "select name, city from customers where country = 'Germany'",
            ),
            (
                "names of customers in Germany",
                "show their signup date as well",
                "select name, signup_date from customers where country = 'Germany'",
            ),
            (GERMANS, "Which of them are in Berlin?", "select * from customers where city = 'Berlin'"),
            (
                "names of products",
                "Which of these is the most expensive?",
                "select name from products order by unit_price desc limit 1",
            ),
            (
                "products in Tents",
                "which of those has the lowest cost?",
                "select * from products where category = 'Tents' order by cost limit 1",
            ),
            (
                "names of products",
                "sort them by cost in descending order",
                "select name from products order by cost desc",
            ),
            (
                "names of products",
                "What is their average cost?",
                "select avg(cost) from products",
            ),
            (
                "revenue by category",
                "Which of these has the lowest revenue?",
                (
                    "select category, sum(amount) from order_lines l join products p on p.id = product_id"
                    " group by 1 order by 2 limit 1"
                ),
            ),
            (
                "top 3 products by revenue",
                "Which of these has the lowest revenue?",
                (
                    "select * from (select p.name, sum(amount) from order_lines l join products p on p.id ="
                    " product_id group by p.id order by 2 desc limit 3) order by 2 limit 1"
                ),
            ),
            (
                "list products",
                "which of these cost more than 100?",
                "select * from products where unit_price > 100",
            ),
            (
                "list employees",
                "Which of those are in the Europe region?",
                "select * from employees where region_id = 1",
            ),
            (
                "names of customers in Germany",
                "add their city",
                "select name, city from customers where country = 'Germany'",
            ),
            (
                "revenue by category",
                "which one is the weakest?",
                (
                    "select category, sum(amount) from order_lines l join products p on p.id = product_id"
                    " group by 1 order by 2 limit 1"
                ),
            ),
            (
                "number of orders per status",
                "Which of these has the fewest orders?",
                "select status, count(*) from orders group by 1 order by 2 limit 1",
            ),
        ],
        check,
    )


def test_the_youngest_of_the_rows_was_born_last() -> None:
    columns = [
        TableColumn(name="name", type="text", database_type="TEXT"),
        TableColumn(name="birth_date", type="date", database_type="DATE"),
    ]
    schema = Schema("sqlite", [Table(name="players", kind="table", columns=columns)])
    youngest = answer_of(
        "who is the youngest of them?", before=answer_of("list players", schema=schema), schema=schema
    )
    assert '"birth_date" DESC' in youngest.sql


def test_what_is_not_certain_is_declined() -> None:
    def check(first: str, then: str) -> None:
        with pytest.raises(Beyond) as declined:
            sql_of(first, then)
        assert declined.value.reason

    assert_each(
        [
            (GERMANS, "average cost"),
            ("revenue by month and category", "by country"),
            ("average cost per category of products", "only for 2025"),
            (GERMANS, "How many orders did they place?"),
            (GERMANS, "Which of them has the most orders?"),
            (GERMANS, "Which of them are in France?"),
            (GERMANS, "And how many orders?"),
            (GERMANS, "What do the people there earn?"),
            (GERMANS, "the same for suppliers"),
            (GERMANS, "what about that region"),
            (GERMANS, "names and cities"),
            (GERMANS, "also add the customers in France"),
            ("customers who ordered in 2024 but not in 2025", "and the year before?"),
            ("average salary by region over 3200", "and the maximum?"),
            ("customers in 2025", "and the month before?"),
            ("revenue by month", "and the year before?"),
            ("list customers", "make it three"),
            ("revenue by category", "and the average?"),
            ("average order value", "and the median?"),
            (GERMANS, "those products"),
            (GERMANS, "how many cities do they have?"),
            (GERMANS, "how many different names do they have?"),
            (GERMANS, "what is the highest of their names?"),
            ("revenue by category", "how many of them are in Germany?"),
            ("revenue by category", "what are their costs?"),
            ("top 3 products by revenue", "which of those are Tents?"),
            ("top 3 products by revenue", "what is their average cost?"),
            ("revenue", "what are their names?"),
            (GERMANS, "Show me that for suppliers"),
            ("revenue by category", "Show me that for orders"),
            ("revenue", "which of them is the highest?"),
        ],
        check,
    )


FOLLOW_UPS = (
    "which of them are in Berlin?",
    "how many are there?",
    "how many of those are open?",
    "what are their names?",
    "only in Germany",
    "and for Germany?",
    "by month",
    "only the top 5",
    "also show the city",
    "average cost",
    "what about 2025?",
    "the same for France",
)


@pytest.mark.parametrize("question", FOLLOW_UPS)
@pytest.mark.parametrize("columns", [[], ["country", "n"]])
def test_what_follows_an_answer_of_another_writer_or_none_is_declined(
    question: str, columns: list[str]
) -> None:
    with pytest.raises(Beyond):
        write(question, schema_of(business()), previous=Previous(columns=columns), today=TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "How many customers are there?",
        "customers and their cities",
        "orders this year",
        "Please show all products",
        "names of customers that are in Germany",
        "products over 100 in unit price",
        "revenue by month",
    ],
)
@pytest.mark.parametrize("before", [None, "customers in Germany", "revenue by category"])
def test_a_whole_question_is_answered_whatever_was_before(question: str, before: str | None) -> None:
    previous = Previous(answer_of(before).plan if before else None)
    alone = write(question, schema_of(business()), previous=None, today=TODAY)
    assert write(question, schema_of(business()), previous=previous, today=TODAY) == alone


@pytest.mark.parametrize(
    "question",
    ["which of these has the highest n?", "summarize that", "explain the result", "what does this mean?"],
)
def test_a_question_about_the_rows_is_left_to_the_rows(question: str) -> None:
    assert (
        write(question, schema_of(business()), previous=Previous(columns=["country", "n"]), today=TODAY)
        == FromRows()
    )


@pytest.mark.parametrize("then", ["for Tents", "and the average price?", "as a percentage"])
def test_a_follow_up_that_cannot_be_done_safely_is_refused(then: str) -> None:
    with pytest.raises(Beyond):
        sql_of("orders per country", then)


@pytest.mark.parametrize("stored", ["", "{}", "no plan", '{"base": 1}', '{"base": "a", "limit": "b"}'])
def test_what_is_no_plan_is_read_as_none(stored: str) -> None:
    assert read_plan(stored) is None


def test_no_follow_up_changes_a_statement_around_another() -> None:
    best = answer_of("top 3 products by revenue")
    lowest = answer_of("Which of these has the lowest revenue?", before=best)
    with pytest.raises(Beyond):
        answer_of("only for 2025", before=lowest)


def test_a_follow_up_goes_the_way_that_the_question_before_named() -> None:
    for way, country in (("customers", "customer_id"), ("employees", "employee_id")):
        asked = answer_of(f"Revenue per region, through {way}")
        narrowed = answer_of("only for 2025", before=asked)
        gold = f"""select r.name, sum(amount) s from order_lines l join orders o on o.id = order_id
            join {way} w on w.id = o.{country} join regions r on r.id = w.region_id
            where order_date >= '2025-01-01' group by 1 order by s desc"""
        assert rows(business(), narrowed.sql) == rows(business(), gold), narrowed.sql


def test_follow_ups_build_on_each_other() -> None:
    answer = answer_of("revenue by category")
    for then in ("in France", "what about Germany?", "by month", "only the top 1"):
        answer = answer_of(then, before=answer)
    gold = """select strftime('%Y-%m', order_date) m, sum(amount) s from order_lines join orders o
        on o.id = order_id join customers c on c.id = customer_id where country = 'Germany'
        group by m order by s desc limit 1"""
    assert rows(business(), answer.sql) == rows(business(), gold), answer.sql


@pytest.mark.parametrize(
    "question",
    [
        "employees hired in 2022",
        "customers without email",
        "customers with an email",
        "customers with at least two orders",
        "customers without orders",
        "busiest month for orders",
        "products with a unit price between 50 and 200",
        "names and emails of customers",
    ],
)
def test_a_plan_is_the_same_after_it_was_stored(question: str) -> None:
    plan = answer_of(question).plan
    assert plan is not None
    assert read_plan(write_plan(plan)) == plan


_WITH_DOCUMENTS = Schema(
    "postgres",
    [
        Table(
            name="orders",
            kind="table",
            columns=[
                TableColumn(name="id", type="integer", database_type="INTEGER", primary_key=True),
                TableColumn(name="city", type="text", database_type="TEXT", values=("Berlin",)),
                TableColumn(name="tags", type="json", database_type="TEXT[]"),
                TableColumn(name="photo", type="binary", database_type="BYTEA"),
            ],
        ),
        Table(
            name="scans", kind="table", columns=[TableColumn(name="page", type="json", database_type="JSON")]
        ),
    ],
)


@pytest.mark.parametrize(
    ("first", "then", "leaves_out"),
    [
        ("list all orders", None, True),
        ("orders in Berlin", None, True),
        ("first 3 orders", None, True),
        ("how many orders", None, False),
        ("id and tags of orders", None, False),
        ("how many orders", "which of them are in Berlin?", True),
        ("list all orders", "how many of them are in Berlin?", False),
    ],
)
def test_an_answer_names_the_columns_that_a_list_of_rows_leaves_out(
    first: str, then: str | None, *, leaves_out: bool
) -> None:
    answer = answer_of(first, schema=_WITH_DOCUMENTS)
    if then is not None:
        answer = answer_of(then, before=answer, schema=_WITH_DOCUMENTS)
    assert ("tags (TEXT[]), photo (BYTEA)" in answer.explanation) is leaves_out
    assert ("Left out" in answer.explanation) is leaves_out


def test_a_table_without_a_column_to_list_asks_for_the_columns() -> None:
    with pytest.raises(Beyond, match="Name the columns"):
        write("list all scans", _WITH_DOCUMENTS, previous=None, today=TODAY)
    named = write("page of scans", _WITH_DOCUMENTS, previous=None, today=TODAY)
    assert isinstance(named, WrittenSql)
    assert '"page"' in named.sql


@pytest.mark.parametrize("then", ["for Tents", "by month", "which is the highest?", "how many are there?"])
def test_a_share_is_changed_in_its_period_or_part_only(then: str) -> None:
    before = answer_of(SHARE)
    with pytest.raises(Beyond):
        answer_of(then, before=before)
