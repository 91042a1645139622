"""Questions in everyday words, with slips of the pen, and questions that are offered in place of others."""

import re
import sqlite3
from datetime import date

import pytest

from app.core.language import language_of
from app.modules.sql_generation.builtin import Beyond, Clarification, WrittenSql, nearest_questions, write
from app.modules.sql_generation.declining import declined
from tests.support.cases import assert_each
from tests.unit.builtin.databases import business, rows, schema_of

TODAY = date(2025, 7, 15)
SCHEMA = schema_of(business())
_ORDERED = "from orders group by 1 order by 2 desc limit 1"

QUESTIONS = {
    "What's the total revenue?": "select sum(amount) from order_lines",
    "whats the average salary": "select avg(salary) from employees",
    "how many orders in total": "select count(*) from orders",
    "list customers including their email": "select name, email from customers",
    "orders including the customer": "select o.id, c.name from orders o join customers c on"
    " c.id = customer_id",
    "busiest month for orders": f"select strftime('%Y-%m', order_date), count(*) {_ORDERED}",
    "Which month had the most orders?": f"select strftime('%Y-%m', order_date), count(*) {_ORDERED}",
    "which year had the highest revenue": "select '2025', 2560",
    "top 2 years by number of orders": "select '2025', 4 union all select '2024', 2",
    "quietest year for orders": "select '2024', 2",
    "busiest customer by orders": "select 'Alpine Shop', 2",
    "most common country of customers": "select 'Germany', 3",
    "orders per quarter": "select '2024-Q1', 1 union all select '2024-Q4', 1 union all select '2025-Q1', 3"
    " union all select '2025-Q2', 1",
    "orders by week": "select '2024-03-04', 1 union all select '2024-11-18', 1"
    " union all select '2025-01-13', 1 union all select '2025-02-24', 1"
    " union all select '2025-03-24', 1 union all select '2025-06-09', 1",
    "orders per weekday": "select 'Tuesday', 2 union all select 'Wednesday', 2 union all select 'Friday', 1"
    " union all select 'Sunday', 1",
    "orders by day of the week": "select 'Tuesday', 2 union all select 'Wednesday', 2"
    " union all select 'Friday', 1 union all select 'Sunday', 1",
    "weekly orders in Feb 2025": "select 1 where 0",
    "orders in Q1 2025": "select * from orders where order_date between '2025-01-01' and '2025-03-31'",
    "how many orders in the first quarter of 2025": "select 3",
    "how many orders in Mar 2025": "select 2",
    "how many orders on March 28, 2025": "select 1",
    "how many orders so far this year": "select 4",
    "revenue overall": "select sum(amount) from order_lines",
    "Which countries have 2 or more customers?": "select 'Germany', 3",
    "countries with at least 2 customers": "select 'Germany', 3",
    "number of customers per country with 2 or more": "select 'Germany', 3",
    "regions with an average salary over 3200": "select 'Europe', 4250",
    "revenue per category over 500": "select category, sum(amount) s from order_lines l join products p"
    " on p.id = product_id group by 1 having s > 500",
    "What is the name of each customer?": "select name from customers",
    "salary of every employee": "select salary from employees",
    "all customer names and their cities": "select name, city from customers",
    "please show customer city": "select city from customers",
    "sort products by price in descending order": "select * from products",
    "products ordered by price from lowest to highest": "select * from products",
    "country with the most number of customers": "select 'Germany', 3",
    "sort orders by id": "select * from orders",
    "customers from Berlin with order lines over 100": "select * from customers where id in (1)",
    "how many different countries do customers come from": "select 3",
    "how many custoemrs are there": "select count(*) from customers",
    "averge salary of employes": "select avg(salary) from employees",
    "revenue in Germny": "select sum(amount) from order_lines join orders o on o.id = order_id where"
    " customer_id in (select id from customers where country = 'Germany')",
}


def test_a_question_in_everyday_words_gets_the_rows_it_asks_for() -> None:
    def check(question: str) -> None:
        answer = write(question, SCHEMA, previous=None, today=TODAY)
        assert isinstance(answer, WrittenSql), answer
        found = sorted(rows(business(), answer.sql), key=repr)
        gold = sorted(rows(business(), QUESTIONS[question]), key=repr)
        assert found == gold, answer.sql

    assert_each(QUESTIONS, check)


def test_weekdays_are_in_the_order_of_the_week() -> None:
    answer = write("orders per weekday", SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert [day for day, _ in rows(business(), answer.sql)] == ["Tuesday", "Wednesday", "Friday", "Sunday"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("custoemrs", "customers"), ("reveneu", "revenue"), ("Germny", "Germany"), ("averge", "average")],
)
def test_a_corrected_word_is_named_in_the_explanation(word: str, meant: str) -> None:
    questions = {
        "custoemrs": "how many custoemrs",
        "reveneu": "the total reveneu of this year",
        "Germny": "customers in Germny",
        "averge": "averge salary",
    }
    answer = write(questions[word], SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert f"KAI read “{word}” as “{meant}”." in answer.explanation


@pytest.mark.parametrize("word", ["house", "stores", "cit", "blue"])
def test_another_word_and_one_that_may_be_several_are_not_corrected(word: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript("""
        create table horses (id integer primary key, name text, sore integer, score integer, city text);
        create table states (id integer primary key, name text);
    """)
    schema = schema_of(connection)
    with pytest.raises(Beyond):
        write(f"how many {word}", schema, previous=None, today=TODAY)


FILMS = """
create table films_data (id integer primary key, title text, directed_by text, rental_rate numeric);
create table shows (id integer primary key, visitors integer);
create table rentals (id integer primary key, film_id integer references films_data(id));
insert into films_data values (1, 'Fog', 'Ann Lee', 2), (2, 'Ice', 'Bo Ray', 3), (3, 'Rain', 'Ann Lee', 1);
insert into shows values (1, 10);
insert into rentals values (1, 1), (2, 1), (3, 3);
"""


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("how many films are there", "select 3"),
        ("number of films directed by Ann Lee", "select 2"),
        ("who is the director of the film Ice", "select 'Bo Ray'"),
        ("please show the titles of films", "select title from films_data"),
        ("show the films that were never rented", "select * from films_data where id = 2"),
        ("visitors of each show", "select visitors from shows"),
    ],
)
def test_names_of_tables_and_columns_are_read_as_people_say_them(question: str, gold: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(FILMS)
    answer = write(question, schema_of(connection), previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql), answer
    assert sorted(rows(connection, answer.sql)) == sorted(rows(connection, gold)), answer.sql


def test_a_form_of_a_word_is_no_misspelling() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(FILMS)
    with pytest.raises(Beyond):
        write("films rated Fog", schema_of(connection), previous=None, today=TODAY)


@pytest.mark.parametrize(
    "question",
    ["revenue in fiscal 2025", "revenue this fiscal year", "revenue in FY2025", "orders per fiscal quarter"],
)
def test_a_fiscal_period_is_declined_because_its_begin_is_unknown(question: str) -> None:
    with pytest.raises(Beyond, match="fiscal year begins"):
        write(question, SCHEMA, previous=None, today=TODAY)


@pytest.mark.parametrize("question", ["top sellers", "what is our best seller?", "bestsellers in 2025"])
def test_the_best_sellers_may_be_so_by_money_or_by_number(question: str) -> None:
    answer = write(question, SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, Clarification)
    assert {"revenue", "number of order lines"} <= {option.label for option in answer.options}


def test_rows_are_not_counted_by_their_own_key() -> None:
    with pytest.raises(Beyond, match="Each row"):
        write("how many customers per id", SCHEMA, previous=None, today=TODAY)


def test_the_busiest_month_of_nothing_is_asked_back() -> None:
    answer = write("what was the busiest month", SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, Clarification)
    assert {option.label for option in answer.options} >= {"number of orders", "number of returns"}


@pytest.mark.parametrize(
    "question",
    [
        "why do blue customers return so many tents",
        "compare the salary of employees with last year",
        "Umsatz nach Monat",
        "what is the meaning of life",
        "order volatility by category",
    ],
)
def test_near_questions_are_answered_and_differ(question: str) -> None:
    offered = [
        each for each, _ in zip(nearest_questions(question, SCHEMA, today=TODAY), range(2), strict=False)
    ]
    answers = [write(each.question, SCHEMA, previous=None, today=TODAY) for each in offered]
    assert [answer.sql for answer in answers if isinstance(answer, WrittenSql)] == [
        each.sql for each in offered
    ]
    assert len({each.sql for each in offered}) == 2


def test_near_questions_are_about_what_the_question_names() -> None:
    found = nearest_questions("why do blue employees earn a better salary", SCHEMA, today=TODAY)
    assert all("employees" in next(found).question for _ in range(2))


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Kunden gibt es?", "de"),
        ("Zeige den Umsatz pro Monat", "de"),
        ("¿Cuántos clientes hay?", "es"),
        ("Combien de clients avons-nous ?", "fr"),
        ("how many customers in Berlin", "en"),
    ],
)
def test_a_decline_is_in_the_language_of_the_question_and_quotes_only_what_it_offers(
    question: str, language: str
) -> None:
    assert language_of(question) == language
    said = declined(question, "I did not understand all of this question.", ["How many a?", "How many b?"])
    assert re.findall("“([^”]+)”", said) == ["How many a?", "How many b?"]
    assert ("English" in said) == (language == "en")


def test_a_month_is_a_period_where_a_column_of_this_name_is_of_something_else() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "create table orders (id integer primary key, ordered_at datetime, shipped_at datetime);"
        "create table budget (month date, department text, amount numeric);"
        "insert into orders values (1, '2025-02-03', '2025-03-01'), (2, '2025-03-04', '2025-03-05');"
    )
    found = write("How many orders per month in 2025?", schema_of(connection), previous=None, today=TODAY)
    assert isinstance(found, WrittenSql)
    assert [count for _, count in rows(connection, found.sql)] == [1, 1]
