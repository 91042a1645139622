"""Every word of a question has its part in the answer, on the sample business and on Chinook."""

import sqlite3
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from app.modules.database_connection.schema import Schema
from app.modules.sql_generation.builtin import Beyond, Clarification, WrittenSql, write
from app.modules.sql_generation.linking.stored_texts import StoredTexts
from tests.support.cases import assert_each
from tests.unit.builtin.databases import CHINOOK, SAMPLE_DAY, chinook, rows, sample, schema_of, stored_in

CORPUS = Path(__file__).parents[2] / "corpus"


def golds(name: str) -> dict[str, str]:
    """Questions, and a statement with the rows that each asks for."""
    lines = (CORPUS / f"questions_{name}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


SAMPLE = golds("sample")
MUSIC = golds("chinook")


@cache
def known_of_sample() -> tuple[Schema, StoredTexts]:
    return schema_of(sample()), stored_in(sample())


@cache
def known_of_chinook() -> tuple[Schema, StoredTexts]:
    return schema_of(chinook()), stored_in(chinook())


def answered(question: str, known: tuple[Schema, StoredTexts]) -> WrittenSql:
    schema, stored = known
    answer = write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)
    assert isinstance(answer, WrittenSql), answer
    return answer


def holds(found: list[tuple[object, ...]], gold: list[tuple[object, ...]]) -> bool:
    """As many rows, and every column of the gold, or one column of it that tells its rows apart."""
    if len(found) != len(gold):
        return False
    columns = [Counter(map(str, column)) for column in zip(*found, strict=True)]
    wanted = [Counter(map(str, column)) for column in zip(*gold, strict=True)]
    telling = [column for column in wanted if len(column) == len(gold)] or wanted
    return not gold or any(column in columns for column in telling)


def test_a_question_about_the_sample_business_gets_the_rows_it_asks_for() -> None:
    def check(question: str) -> None:
        answer = answered(question, known_of_sample())
        assert holds(rows(sample(), answer.sql), rows(sample(), SAMPLE[question])), answer.sql

    assert_each(SAMPLE, check)


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize("question", MUSIC)
def test_a_question_about_chinook_gets_the_rows_it_asks_for(question: str) -> None:
    answer = answered(question, known_of_chinook())
    assert holds(rows(chinook(), answer.sql), rows(chinook(), MUSIC[question])), answer.sql


def test_a_word_that_cannot_be_expressed_declines_the_question_and_is_not_blamed() -> None:
    def check(question: str) -> None:
        schema, stored = known_of_sample()
        with pytest.raises(Beyond) as caught:
            write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)
        assert not set("“”") & set(caught.value.reason)

    assert_each(
        [
            "customers who bought only Tents",
            "customers who ordered all products",
            "orders from January 2026 only",
            "products in neither Tents nor Backpacks",
            "how many blue customers",
            "customers and orders",
            "are all products discontinued?",
            "employees not reporting to Arno Kestrel",
            "products not launched in 2025",
            "orders with more than two hundred order lines",
            "customers with at least twenty five orders",
            "employees who report to Arno Kestrel or Oskar Stone",
            "who reports to Bela Smith",
            "each product with its order lines",
            "three highest salaries",
            "customers who ordered in 2024 and 2025",
            "top 5 customers first 3 by name",
            "customers who bought products that are not Tents",
            "customers with their latest order",
            "customers who bought more than 10 units",
            "products discontinued in 2024",
            "products that cost more than 300 and are still sold",
            "employees hired by Arno Kestrel",
            "orders with more than 3 order lines and Tents",
            "average quantity per order line",
            "total of orders in 2025",
            "customers with at least 3 orders and no Tents",
            "customers named like products",
            "signup rate by country",
            "return rate by reason",
            "orders won in 2025",
            "new employees by region",
            "orders of new customers in 2025",
            "number of orders by new customers per month",
            "number of orders by first-time customers in 2025",
            "growth by quantity in 2025",
            "what share of web orders was cancelled in Germany",
            "fastest growing products by units sold",
            "Which product grew the most in each category?",
            "growth of new customers from 2024 to 2025",
            "which country grew the most since 2023",
        ],
        check,
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("cheapest products", "a number of my own"),
        ("first 3 customers", "in no particular order"),
        ("least expensive product", "one of them, where several are equal"),
        ("orders for each customer", "only of customers that have any"),
        ("top 3 products by units", "the sum of order_lines.quantity"),
    ],
)
def test_what_the_question_does_not_say_is_said_by_the_explanation(question: str, said: str) -> None:
    assert said in answered(question, known_of_sample()).explanation


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
def test_a_value_that_only_another_table_holds_is_looked_for_in_the_own_column() -> None:
    answer = answered("How many customers from Calgary?", known_of_chinook())
    assert rows(chinook(), answer.sql) == [(0,)]
    assert "Customer.City holds no 'Calgary'" in answer.explanation


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize(
    ("question", "many"),
    [("Which artist has the fewest albums?", 1), ("bottom 5 artists by number of albums", 5)],
)
def test_the_fewest_are_none_where_some_have_none(question: str, many: int) -> None:
    found = rows(chinook(), answered(question, known_of_chinook()).sql)
    assert [count for _, count in found] == [0] * many


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("How many tracks does Iron Maiden have?", ["album title", "artist name"]),
        ("Iron Maiden albums", ["album title", "artist name"]),
        ("Metallica tracks", ["artist name", "track composer"]),
    ],
)
def test_a_name_that_several_things_have_is_asked_back(question: str, labels: list[str]) -> None:
    schema, stored = known_of_chinook()
    answer = write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)
    assert isinstance(answer, Clarification)
    assert [option.label for option in answer.options] == labels


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which artists have at least 3 albums and no Rock tracks?", "safely"),
        ("artists with at least 3 albums and Rock tracks", "which of them are counted"),
        ("which playlists contain AC/DC", "does not say how"),
        ("total invoiced to Mark Philips", "or an amount"),
        ("growth in number of tracks", "no date of Track"),
        ("How many invoices per country where the total is above 10?", "of each group"),
        ("average milliseconds per genre where milliseconds is above 300000", "of each group"),
        ("number of tracks by genre, only those longer than 300000", "of each group"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_declined(question: str, said: str) -> None:
    schema, stored = known_of_chinook()
    with pytest.raises(Beyond, match=said):
        write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)


@pytest.mark.skipif(not CHINOOK.exists(), reason="needs the Chinook database")
@pytest.mark.parametrize("question", ["How many albums does Facelift have?", "Facelift's albums"])
def test_a_row_does_not_belong_to_itself(question: str) -> None:
    schema, stored = known_of_chinook()
    with pytest.raises(Beyond, match=r"does not|do not see what belongs"):
        write(question, schema, stored=stored, previous=None, today=SAMPLE_DAY)


def test_a_preposition_names_no_column() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript("""
        create table hirings (id integer primary key, start_from text, city text);
        insert into hirings values (1, '2011', 'Bath'), (2, '2012', 'York');
    """)
    answer = answered("hirings from Bath", (schema_of(connection), stored_in(connection)))
    assert rows(connection, answer.sql) == [(1, "2011", "Bath")]


def test_a_list_is_cut_by_no_limit_of_the_writer() -> None:
    answer = answered("orders between January 2026 and March 2026", known_of_sample())
    assert "LIMIT" not in answer.sql
    assert len(rows(sample(), answer.sql)) > 1_000


LIBRARY = """
create table books (id integer primary key, title text not null, written_by text, printed date,
    lent boolean not null);
insert into books values (1, 'Fog', 'Ann Lee', '2001-05-05', 1), (2, 'Ice', 'Bo Ray', null, 0),
    (3, 'Rain', 'Ann Lee', '2011-01-01', 0), (4, 'Snow', null, null, 0);
"""


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        ("books not written by Ann Lee", {2}),
        ("books written by Ann Lee", {1, 3}),
        ("unprinted books", {2, 4}),
        ("books that were not printed", {2, 4}),
        ("every lent book", {1}),
        ("how many books are not lent", {3}),
        ("books printed in 2005 or later", {3}),
    ],
)
def test_verbs_of_columns_and_their_negation_are_filters(question: str, ids: set[int]) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(LIBRARY)
    answer = answered(question, (schema_of(connection), stored_in(connection)))
    assert {row[0] for row in rows(connection, answer.sql)} == ids, answer.sql


def test_a_list_is_not_sorted_by_a_count_it_does_not_hold() -> None:
    with pytest.raises(Beyond, match="not by a count"):
        answered("customers sorted by number of orders", known_of_sample())
