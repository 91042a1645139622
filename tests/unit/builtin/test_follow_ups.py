"""A follow-up edits the statement before it, whoever wrote that."""

from datetime import date

import pytest

from app.modules.sql_generation.builtin import Beyond, FromRows, Previous, Statement, write
from tests.unit.builtin.databases import business, rows, schema_of

TODAY = date(2025, 7, 15)
_BY_MODEL = """select c.country, count(*) as n from orders o join customers c on c.id = o.customer_id
    group by c.country"""


def sql_of(question: str, previous: str | None = None) -> str:
    before = Previous(previous) if previous else None
    answer = write(question, schema_of(business()), previous=before, today=TODAY)
    assert isinstance(answer, Statement), answer
    return answer.sql


@pytest.mark.parametrize(
    ("first", "then", "same_as"),
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
        ("list products", "with price over 100", "products with price over 100"),
        ("list customers", "only the first 2", "first 2 customers"),
        ("list orders", "since June", "orders since June"),
    ],
)
def test_a_follow_up_gives_the_rows_of_the_whole_question(first: str, then: str, same_as: str) -> None:
    edited = sql_of(then, previous=sql_of(first))
    assert rows(business(), edited) == rows(business(), sql_of(same_as)), edited


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("only 2025", [("Germany", 2), ("USA", 2)]),
        ("top 1", [("Germany", 3)]),
        ("bottom 1", [("France", 1)]),
        ("for Berlin", [("Germany", 2)]),
        ("by year instead", [("2024", 2), ("2025", 4)]),
    ],
)
def test_a_statement_that_a_model_wrote_is_edited_too(then: str, expected: list[tuple[object, ...]]) -> None:
    assert sorted(rows(business(), sql_of(then, previous=_BY_MODEL))) == expected


@pytest.mark.parametrize(
    "question",
    ["which of these is the highest?", "summarize that", "explain the result", "what does this mean?"],
)
def test_a_question_about_the_rows_is_left_to_the_rows(question: str) -> None:
    assert write(question, schema_of(business()), previous=Previous(_BY_MODEL), today=TODAY) == FromRows()


@pytest.mark.parametrize(
    ("previous", "then"),
    [
        ("with x as (select 1) select * from x", "in 2025"),
        ("select 1 union select 2", "only 2025"),
        ("select * from (select * from orders) o", "in 2025"),
        ("this is not SQL", "in 2025"),
        (_BY_MODEL, "for Tents"),
        (_BY_MODEL, "and the average price?"),
        (_BY_MODEL, "as a percentage"),
        ("select count(*) from orders where status = 'open' or order_date > '2025-01-01'", "in 2024"),
    ],
)
def test_a_follow_up_that_cannot_be_done_safely_is_refused(previous: str, then: str) -> None:
    with pytest.raises(Beyond):
        write(then, schema_of(business()), previous=Previous(previous), today=TODAY)
