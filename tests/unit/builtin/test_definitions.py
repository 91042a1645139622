"""Terms of the glossary whose SQL a question asks for, grouped and filtered as any number or flag."""

import pytest

from app.modules.sql_generation.builtin import Beyond, WrittenSql, write
from tests.unit.builtin.databases import business, rows, schema_of
from tests.unit.builtin.test_questions import TODAY

TERMS = {
    "net revenue": "sum(amount) - sum(discount * amount)",
    "Basket size": "1.0 * SUM(order_lines.quantity) / COUNT(DISTINCT order_lines.order_id)",
    "gross margin": "(order_lines.unit_price - products.cost) * quantity",
    "German customer": "country = 'Germany'",
    "delivered": "shipped_date IS NOT NULL AND status <> 'cancelled'",
    "revenue": "sum(quantity * order_lines.unit_price)",
    "broken": "sum(nowhere)",
    "whole": "SELECT sum(amount) FROM order_lines",
    "which": "sum(id)",
    "employee": "hired_on >= '2022-01-01'",
}
NET = "sum(amount) - sum(discount * amount)"
JOINED = "order_lines l join orders o on o.id = l.order_id join customers c on c.id = o.customer_id"
PRODUCTS = "order_lines l join products p on p.id = l.product_id"
ASKED = {
    "net revenue": f"select {NET} from order_lines",
    "What is the net revenue?": f"select {NET} from order_lines",
    "net revenue per country": f"select c.country, {NET} n from {JOINED} group by 1 order by n desc",
    "net revenue by month": f"select strftime('%Y-%m', o.order_date) m, {NET} from {JOINED} group by 1"
    " order by 1",
    "net revenue in Germany in 2025": f"select {NET} from {JOINED} where c.country = 'Germany'"
    " and o.order_date like '2025%'",
    "top 2 products by net revenue": f"select p.name, {NET} n from {PRODUCTS} group by p.id order by n desc"
    " limit 2",
    "which country has the lowest net revenue": f"select c.country, {NET} n from {JOINED} group by 1"
    " order by n limit 1",
    "net revenue and basket size per category": f"select p.category, {NET}, 1.0 * sum(quantity)"
    f" / count(distinct order_id) from {PRODUCTS} group by 1 order by 2 desc",
    "basket size per country": "select c.country, 1.0 * sum(l.quantity) / count(distinct l.order_id) n"
    f" from {JOINED} group by 1 order by n desc",
    "revenue per category": f"select p.category, sum(l.quantity * l.unit_price) n from {PRODUCTS} group by 1"
    " order by n desc",
    "total gross margin per category": "select p.category, sum((l.unit_price - p.cost) * l.quantity) n"
    f" from {PRODUCTS} group by 1 order by n desc",
    "average gross margin": f"select avg((l.unit_price - p.cost) * l.quantity) from {PRODUCTS}",
    "How many German customers do we have?": "select count(*) from customers where country = 'Germany'",
    "German customers": "select * from customers where country = 'Germany'",
    "net revenue from German customers": f"select {NET} from {JOINED} where c.country = 'Germany'",
    "how many delivered orders": "select 4",
    "How many employees are there?": "select count(*) from employees where hired_on >= '2022-01-01'",
    "average salary of employees": "select avg(salary) from employees where hired_on >= '2022-01-01'",
    "how many orders are not delivered": "select 2",
    "delivered orders per country": "select c.country, count(*) n from orders o join customers c"
    " on c.id = o.customer_id where o.shipped_date is not null and o.status <> 'cancelled' group by 1"
    " order by n desc",
    "customers with net revenue over 500": f"select c.name, {NET} n from {JOINED} group by c.id"
    " having n > 500",
}


def answered(question: str) -> WrittenSql:
    found = write(question, schema_of(business()), terms=TERMS, previous=None, today=TODAY)
    assert isinstance(found, WrittenSql), found
    return found


@pytest.mark.parametrize(("question", "expected"), ASKED.items())
def test_a_term_is_computed_as_the_glossary_defines_it(question: str, expected: str) -> None:
    found = answered(question).sql
    assert sorted(rows(business(), found), key=repr) == sorted(rows(business(), expected), key=repr), found


def test_the_explanation_gives_the_definition() -> None:
    assert answered("net revenue by month").explanation.startswith(
        "“net revenue” as the glossary defines it (sum(amount) - sum(discount * amount)) per month of"
    )
    assert (
        "customers is “German customer” as the glossary defines it (country = 'Germany')"
        in answered("German customers").explanation
    )


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("average net revenue", "computed as the glossary defines it"),
        ("gross margin per category", "ask for the total or the average"),
        ("net revenue per reason", "more than once"),
        ("whole", "did not understand"),
        ("broken per country", "did not understand"),
    ],
)
def test_what_a_definition_does_not_say_is_refused_with_the_cure(question: str, reason: str) -> None:
    with pytest.raises(Beyond) as caught:
        answered(question)
    assert reason in caught.value.reason
