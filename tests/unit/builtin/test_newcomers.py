"""Questions in everyday words, with slips of the pen, and questions that are offered in place of others."""

import re
import sqlite3
from dataclasses import replace
from datetime import date

import pytest

from app.core.language import language_of
from app.core.words import plural
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.builtin import Beyond, Clarification, WrittenSql, nearest_questions, write
from app.modules.sql_generation.builtin.question.words import words_of
from app.modules.sql_generation.declining import declined
from tests.support.cases import assert_each
from tests.unit.builtin.databases import CHINOOK, business, chinook, rows, sample, schema_of

TODAY = date(2025, 7, 15)
SCHEMA = schema_of(business())
_ORDERED = "from orders group by 1 order by 2 desc limit 1"
ORDERS_EACH = (
    "select c.name, count(*) from orders o join customers c on c.id = o.customer_id"
    " group by c.id order by 2 desc"
)

QUESTIONS = {
    "What's the total revenue?": "select sum(amount) from order_lines",
    "Total amount per customer": "select c.name, sum(amount) from order_lines l join orders o on"
    " o.id = order_id join customers c on c.id = customer_id group by c.id order by 2 desc",
    "Total amount of order lines": "select sum(amount) from order_lines",
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
    "average order value": "select 3364 / 6.0",
    "What's the average value of an order in Germany?": "select 768.0",
    "average revenue per order by country": "select 'Germany', 768.0 union all select 'USA', 355.0"
    " union all select 'France', 350.0",
    "total amount of orders per year": "select '2024', 804 union all select '2025', 2560",
    "How expensive are products on average?": "select avg(unit_price) from products",
    "on average, how expensive are tents": "select 275.0",
    "What do products cost on average per category?": "select category, avg(cost) from products group by 1",
    "How expensive is the most expensive product?": "select * from products where id = 2",
    "Compare revenue of 2024 and 2025 per month": "select strftime('%Y-%m', order_date) m, sum(amount)"
    " from order_lines l join orders o on o.id = order_id group by m order by m",
    "compare revenue of 2024 and 2025 per country": "select country, strftime('%Y', order_date) y,"
    " sum(amount) from order_lines l join orders o on o.id = order_id join customers c"
    " on c.id = customer_id group by 1, 2 order by 1, 2",
    "Show the names of customers and the number of orders they have": ORDERS_EACH,
    "List the customers and how many orders": ORDERS_EACH,
    "What is the name of each customer, and how many orders does each have?": ORDERS_EACH,
    "Which country has the most customers? List the country and the number of customers it has.": (
        "select 'Germany', 3"
    ),
    "What is the country with the most customers and how many does it have?": "select 'Germany', 3",
    "Which country has the most customers, and how many customers does it have?": "select 'Germany', 3",
    "Which product has the highest unit price? Give its name and unit price.": (
        "select name, unit_price from products order by unit_price desc limit 1"
    ),
    "customers and number of orders, sorted in descending order": ORDERS_EACH,
    "List the names of products and sort in ascending order of unit price": (
        "select name from products order by unit_price"
    ),
    "What share of revenue comes from Germany?": "select 2304 * 100.0 / 3364",
    "What percentage of customers are from Germany?": "select 60.0",
    "what percentage of orders was cancelled": "select 100.0 / 6",
    "share of cancelled orders": "select 100.0 / 6",
    "which share of revenue in 2025 came from Tents": "select 1450 * 100.0 / 2560",
    "what proportion of revenue was made in 2025": "select 2560 * 100.0 / 3364",
    "what percent of products have no orders": "select 20.0",
    "share of orders by status": "select status, count(*) * 100.0 / 6 from orders group by 1",
    "share of revenue by category in 2025": "select category, sum(amount) * 100.0 / 2560 from order_lines l"
    " join products p on p.id = product_id join orders o on o.id = order_id where order_date >= '2025-01-01'"
    " group by 1",
    "Compare revenue of Germany and France": "select 'Germany', 2304 union all select 'France', 350",
    "orders in Germany versus France": "select 'Germany', 3 union all select 'France', 1",
    "Compare revenue of 2024 and 2025": "select '2024', 804 union all select '2025', 2560",
    "revenue 2024 vs 2025": "select '2024', 804 union all select '2025', 2560",
    "revenue this year compared to last year": "select '2024', 804 union all select '2025', 2560",
    "compare revenue of March 2024 with March 2025": "select '2024-03', 454 union all select '2025-03', 1850",
    "compare orders in January and March 2025": "select '2025-01', 1 union all select '2025-03', 2",
    "compare revenue by country": "select 'Germany', 2304 union all select 'USA', 710"
    " union all select 'France', 350",
    "how many orders in January or March 2025": "select 3",
    "How did revenue develop?": "select strftime('%Y-%m', order_date), sum(amount) from order_lines"
    " join orders o on o.id = order_id group by 1",
    "how has the number of orders changed over the years": "select '2024', 2 union all select '2025', 4",
    "order trend in 2025": "select '2025-01', 1 union all select '2025-03', 2 union all select '2025-06', 1",
    "Total sales per country, top 2": "select 'Germany', 2304 union all select 'USA', 710",
    "revenue by category, bottom 1": "select category, sum(amount) s from order_lines l join products p"
    " on p.id = product_id group by 1 order by s limit 1",
    "top 2 cities by total sales": "select 'Berlin', 1704 union all select 'Boston', 710",
    "How did revenue grow in 2025?": "select 454, 2560, 2106, 2106 * 100.0 / 454",
    "how much has the number of orders increased in 2025 compared to 2024": "select 2, 4, 2, 100.0",
    "which region had the most new customers in 2024": "select 'Europe', 2",
    "largest order of each year": "select '2024', 1, 454 union all select '2025', 4, 1250",
    "biggest order": "select 4, 1250",
    "Which customers ordered in 2024 but not in 2025?": "select * from customers where id = 2",
    "how many customers bought in 2025 and not in 2024": "select 2",
    "customers in Germany who ordered in March 2025 but not in 2024": "select * from customers where id = 4",
    "how many orders were placed on weekends": "select 1",
    "orders on Fridays": "select * from orders where id = 5",
    "revenue on weekdays in 2025 by country": "select 'Germany', 600 union all select 'USA', 710",
    "what share of orders was placed at the weekend": "select 100.0 / 6",
    "orders shipped on Fridays": "select * from orders where id = 1",
    "orders shipped on Wednesdays in April 2025": "select * from orders where id = 5",
    "how many weekend orders were there": "select 1",
    "customers who ordered on a Sunday": "select * from customers where id = 1",
    "average days between order and shipping": "select 4.0",
    "How many days pass between order date and shipped date on average per country?": (
        "select 'France', 5.0 union all select 'Germany', 11 / 3.0 union all select 'USA', null"
    ),
    "average number of days between the order and the return": "select 16.5",
    "median days from order to return": "select 16.5",
    "how many days are there on average between an order and its return": "select 16.5",
    "By how much did revenue grow from 2024 to 2025?": "select 804, 2560, 1756, 1756 * 100.0 / 804",
    "how many custoemrs are there": "select count(*) from customers",
    "averge salary of employes": "select avg(salary) from employees",
    "revenue in Germny": "select sum(amount) from order_lines join orders o on o.id = order_id where"
    " customer_id in (select id from customers where country = 'Germany')",
}


def _assert_rows(script: str, question: str, gold: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    answer = write(question, schema_of(connection), previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql), answer
    assert sorted(rows(connection, answer.sql)) == sorted(rows(connection, gold)), answer.sql


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
    _assert_rows(FILMS, question, gold)


SALES = """
create table customers (id integer primary key, name text, country text);
create table employees (id integer primary key, name text, country text);
create table invoices (id integer primary key, customer_id integer references customers(id),
    employee_id integer references employees(id), invoice_date date, billing_country text, total numeric);
insert into customers values (1, 'Ann', 'Peru'), (2, 'Bo', 'Chile'), (3, 'Cy', 'Peru');
insert into employees values (1, 'Dee', 'Peru');
insert into invoices values (1, 1, 1, '2024-03-02', 'Chile', 10), (2, 1, 1, '2025-03-03', 'Chile', 20),
    (3, 2, 1, '2025-04-05', 'Peru', 50), (4, 3, 1, '2025-04-06', 'Peru', 5);
"""


def test_the_groups_of_a_ranking_are_those_nearest_to_its_money() -> None:
    _assert_rows(SALES, "Top 2 countries by total sales", "select 'Peru', 55 union all select 'Chile', 30")


def test_groups_are_ranked_by_those_who_bought_first_in_a_period() -> None:
    _assert_rows(SALES, "Which name had the most new customers in 2024", "select 'Ann', 1")
    _assert_rows(SALES, "which country had the most new customers in 2024", "select 'Peru', 1")


def test_growth_to_a_period_that_is_not_over_tells_so() -> None:
    answer = write("how did revenue grow from 2024 to 2025", SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert "Of the later period, only days up to 2025-07-15 are known." in answer.explanation


def test_days_and_absences_that_rows_do_not_tell_are_declined() -> None:
    def check(question: str) -> None:
        with pytest.raises(Beyond):
            write(question, SCHEMA, previous=None, today=TODAY)

    assert_each(
        [
            "days between order and shipping",
            "average days between order and country",
            "average days between order and order",
            "orders in 2025 but not in March 2025",
            "customers who signed up in 2025 but not in 2024",
            "customers who ordered in 2024 but not in 2025 and 2023",
            "revenue on weekends and on Mondays",
            "orders not on weekends",
            "orders last weekend",
            "number of weekends with orders",
            "customers who bought Tents in 2024 but not in 2025",
            "customers who ordered more than once in 2024 but not in 2025",
            "customers who ordered on weekends in 2024 but not in 2025",
            "customers who ordered in 2024 but not in Germany in 2025",
            "new customers in 2025 who ordered in 2024",
            "which new customers ordered most in 2025",
            "which product was bought by the most new customers in 2025",
            "which order has the most days between order and shipping",
            "orders with days between order and shipping above 3",
            "average working days between order and shipping",
            "how did orders grow in 2025 but not in March",
            "how much did the number of customers grow in 2025",
            "how much has the salary increased in 2025",
            "revenue and orders per country, top 2",
        ],
        check,
    )


def test_a_flag_called_weekend_goes_before_the_days_of_a_date() -> None:
    script = (
        "create table visits (id integer primary key, visited_on date, weekend boolean);"
        "insert into visits values (1, '2025-07-14', true), (2, '2025-07-13', false);"
    )
    _assert_rows(script, "how many visits on weekends", "select 1")
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    answer = write("how many visits on weekends", schema_of(connection), previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert '"weekend" = TRUE' in answer.sql


def test_growth_tells_where_the_data_end_within_the_later_period() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SALES)
    ends = [
        replace(
            table,
            columns=[
                replace(one, maximum="2025-04-06") if one.type == "date" else one for one in table.columns
            ],
        )
        for table in schema_of(connection).tables
    ]
    schema = Schema("sqlite", ends)
    answer = write("How did revenue grow in 2025?", schema, previous=None, today=date(2026, 1, 5))
    assert isinstance(answer, WrittenSql)
    assert "Of the later period, only days up to 2025-04-06 are known." in answer.explanation
    later = write("How did revenue grow from 2025 to 2026?", schema, previous=None, today=date(2027, 1, 5))
    assert isinstance(later, WrittenSql)
    assert "The data end on 2025-04-06, so nothing is known of the later period." in later.explanation


def test_a_total_of_a_column_named_like_its_table_is_its_sum() -> None:
    _assert_rows(
        "create table claim_amount (id integer primary key, claim_amount numeric);"
        "insert into claim_amount values (1, 1000), (2, 250);",
        "Total claim amount",
        "select 1250",
    )


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


@pytest.mark.parametrize(
    "question",
    ["top sellers", "what is our best seller?", "bestsellers in 2025", "best selling products of 2025"],
)
def test_the_best_sellers_may_be_so_by_money_or_by_number(question: str) -> None:
    answer = write(question, SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, Clarification)
    assert {"revenue", "number of order lines"} == {option.label for option in answer.options}


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
        "order volatility by category",
        "Umsatz nach Monat",
        "Umsatz pro Land",
        "what is the meaning of life",
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


_SINGULAR = re.compile(r"(?:Which|per) (?P<noun>[a-z ]+?)(?: has the most [a-z ]+)?\?")
_PLURAL = re.compile(r"(?:How many|top 10|most|number of) (?P<noun>[a-z ]+?)(?: (?:are|have|by|per)\b.*)?\?")


@pytest.mark.parametrize("name", ["business", "sample", "chinook", "films"])
def test_offered_questions_are_grammatical_and_answered(name: str) -> None:
    """Each noun has the number that its verb and its article ask for, and no adjective stands twice."""
    if name == "chinook" and not CHINOOK.exists():
        pytest.skip("without Chinook")
    films = sqlite3.connect(":memory:")
    films.executescript(FILMS)
    connection = (
        films if name == "films" else {"business": business, "sample": sample, "chinook": chinook}[name]()
    )
    schema = schema_of(connection)
    tables = {" ".join(words_of(table.name)) for table in schema.tables}
    said = ["total revenue", *(f"volatility of {table.name}" for table in schema.tables)]
    offered = [each for question in said for each in nearest_questions(question, schema, today=TODAY)]
    assert len(offered) > len(said)
    for each in offered:
        answer = write(each.question, schema, previous=None, today=TODAY)
        assert isinstance(answer, WrittenSql)
        rows(connection, answer.sql)
        assert not re.search(r"\b(\w+) \1\b", each.question), each.question
        for form, number in ((_SINGULAR, tables), (_PLURAL, {plural(table) for table in tables})):
            for noun in (match["noun"] for match in form.finditer(each.question)):
                if " ".join(words_of(noun)) in tables:
                    assert noun in number, each.question


TRACKS = """
create table genres (id integer primary key, name text);
create table tracks (id integer primary key, title text, genre_id integer references genres(id),
    duration_seconds integer, weight_g numeric, size integer);
create view tracks_per_genre as select genre_id, count(*) tracks from tracks group by 1;
insert into genres values (1, 'Rock'), (2, 'Jazz');
insert into tracks values (1, 'Long', 1, 900, 1500, 1), (2, 'Short', 1, 120, 200, 2),
    (3, 'Mid', 2, 420, 1200, 3);
"""


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Which tracks are longer than 10 minutes?", "select * from tracks where id = 1"),
        ("how many tracks under 3 mins", "select 1"),
        ("tracks between 5 and 8 minutes", "select * from tracks where id = 3"),
        ("tracks of at least 0.25 hours", "select * from tracks where id = 1"),
        ("tracks heavier than 1 kg", "select * from tracks where id in (1, 3)"),
        ("what share of tracks is longer than 5 minutes", "select 200.0 / 3"),
        ("How long are the tracks on average per genre?", "select 'Rock', 510.0 union select 'Jazz', 420.0"),
        ("average track length", "select 480.0"),
        ("total duration of tracks per genre", "select 'Rock', 1020 union select 'Jazz', 420"),
        ("genres with an average track length over 8 minutes", "select 'Rock', 510.0"),
        ("which genre has the largest share of tracks", "select 'Rock', 200.0 / 3"),
        ("tracks by genre in percent", "select 'Rock', 200.0 / 3 union select 'Jazz', 100.0 / 3"),
        ("how long is the longest track", "select * from tracks where id = 1"),
        ("How many tracks per genre?", "select 'Rock', 2 union select 'Jazz', 1"),
    ],
)
def test_units_are_converted_to_that_of_the_column(question: str, gold: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TRACKS)
    view = TableColumn(name="tracks", type="integer", database_type="", nullable=True)
    group = TableColumn(name="genre", type="text", database_type="", nullable=True)
    views = [
        Table(name=name, kind="view", columns=[group, view]) for name in ("tracks_per_genre", "per_genre")
    ]
    schema = Schema("sqlite", [*schema_of(connection).tables, *views])
    answer = write(question, schema, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql), answer
    assert sorted(rows(connection, answer.sql)) == sorted(rows(connection, gold)), answer.sql


def test_the_busiest_period_is_counted_where_only_one_table_has_a_date() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "create table visits (id integer primary key, visited_at datetime);"
        "insert into visits values (1, '2025-02-03'), (2, '2025-03-04'), (3, '2025-03-05');"
    )
    found = write("What was the busiest month?", schema_of(connection), previous=None, today=TODAY)
    assert isinstance(found, WrittenSql)
    assert rows(connection, found.sql) == [("2025-03", 2)]


@pytest.mark.parametrize("question", ["days with no orders", "Which months had no orders in 2025?"])
def test_periods_without_rows_are_declined_with_the_reason(question: str) -> None:
    with pytest.raises(Beyond, match="not those that have none"):
        write(question, SCHEMA, previous=None, today=TODAY)


def test_the_best_month_is_asked_back_with_revenue_and_counts() -> None:
    answer = write("Which month was the best in 2025?", SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, Clarification)
    assert {"revenue", "number of orders"} <= {option.label for option in answer.options}


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


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("volatility of orders of 2025", "How many orders are there in 2025?"),
        ("weird orders for March 2025", "How many orders are there in March 2025?"),
        ("odd orders of last month", "How many orders are there last month?"),
        ("odd orders since 2024", "How many orders are there since 2024?"),
    ],
)
def test_an_offered_period_has_its_preposition(question: str, offered: str) -> None:
    assert offered in [each.question for each in nearest_questions(question, SCHEMA, today=TODAY)]


MEASURED = """
create table customers (customer_id integer primary key, name text);
create table trips (id integer primary key, title text, duration_min integer, wait_seconds integer);
create table songs (id integer primary key, title text, length_ms integer);
create table sensors (id integer primary key, place text, temperature_c numeric);
insert into trips values (1, 'far', 61, 9), (2, 'near', 30, 70);
insert into songs values (1, 'brief', 61000), (2, 'epic', 600001);
insert into sensors values (1, 'roof', 21.5), (2, 'cellar', 11);
"""


def test_numbers_are_compared_in_the_unit_at_the_end_of_a_column_name() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(MEASURED)

    def check(question: str, title: str) -> None:
        answer = write(question, schema_of(connection), previous=None, today=TODAY)
        assert isinstance(answer, WrittenSql)
        assert [row[1] for row in rows(connection, answer.sql)] == [title], answer.sql

    assert_each(
        [
            ("songs longer than 10 minutes", "epic"),
            ("songs shorter than 100 seconds", "brief"),
            ("trips longer than 1 hour", "far"),
            ("longest trip", "far"),
            ("trips with a wait of more than 1 minute", "near"),
            ("sensors with a temperature above 20 degrees", "roof"),
        ],
        check,
    )
    with pytest.raises(Beyond, match="no key that relates trips to customers"):
        write("How many trips per customer?", schema_of(connection), previous=None, today=TODAY)


CLUBS = """
create table teams (id integer primary key, name text, place text, wins integer, founded date,
    growth_rate numeric);
create table games (id integer primary key, team_id integer not null references teams(id),
    played_on date not null, won boolean not null, place text, goals integer, fee numeric not null);
create table drivers (id integer primary key, name text, phone text, birth_date date);
create table races (id integer primary key, driver_id integer references drivers(id), race_date date,
    points integer, place text);
insert into teams values (1, 'Reds', 'York', 5, '2010-01-01', 1.5),
    (2, 'Blues', 'Bath', 0, '2012-01-01', 2.5);
insert into games values (1, 1, '2025-01-05', 1, 'York', 3, 10), (2, 1, '2025-02-05', 0, 'Bath', 1, 0),
    (3, 2, '2025-02-06', 0, 'Bath', 0, 20), (4, 2, '2025-03-01', 1, 'York', 7, 5);
insert into drivers values (1, 'Ann', '1', '1980-01-01'), (2, 'Bo', '2', '1990-05-05');
insert into races values (1, 1, '2025-01-01', 10, 'York'), (2, 1, '2025-06-01', 20, 'Bath'),
    (3, 2, '2026-01-01', 5, 'York'), (4, 2, '2026-03-01', 26, 'Bath'), (5, 1, '2026-03-02', 7, 'York');
"""


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("median points by place", "select 'Bath', 23.0 union select 'York', 7.0"),
        (
            "race with the most points in each place",
            "select place, id, points from races where id in (1, 4)",
        ),
        (
            "race with the most points in each year",
            "select race_date, id, points from races where id in (2, 4)",
        ),
        ("team with the highest growth rate", "select * from teams where id = 2"),
        ("average growth rate of teams", "select 2.0"),
        ("new drivers per year", "select '2025', 1 union select '2026', 1"),
        ("list new drivers by year", "select '2025', 1 union select '2026', 1"),
        ("list the new teams since 2012", "select * from teams where id = 2"),
        ("Which teams are new since 2012?", "select * from teams where id = 2"),
    ],
)
def test_columns_that_are_called_as_words_or_parts_of_a_statement_are_read(question: str, gold: str) -> None:
    _assert_rows(CLUBS, question, gold)


def test_what_a_rate_or_a_gain_is_of_and_who_is_new_by_an_event_is_not_guessed() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(CLUBS)

    def check(question: str) -> None:
        with pytest.raises(Beyond):
            write(question, schema_of(connection), previous=None, today=TODAY)

    assert_each(
        [
            "win rate of teams",
            "fee rate",
            "games won in 2025",
            "York rate",
            "list new drivers in 2026",
            "please list all the new drivers of 2026",
            "Who are the new drivers in 2026?",
            "list drivers acquired in 2026",
        ],
        check,
    )
