"""What the writer does not understand it says, and nothing makes it write anything but one SELECT."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from app.modules.context_store.model import Term
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.builtin import Beyond, Clarification, Previous, SmallTalk, WrittenSql, write
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.writer import BuiltinWriter
from graph.errors import QuestionBeyondWriter
from graph.ports import Question
from tests.unit.builtin.databases import business, rows, schema_of

TODAY = date(2025, 7, 15)
SCHEMA = schema_of(business())


@pytest.mark.parametrize(
    "question",
    [
        "customers who bought products that are not Tents",
        "all products except returns",
        "cities of customers without orders",
        "Which country has the most customers, and how many orders does it have?",
        "How many orders do they have?",
        "compare revenue of Germany and Tents",
        "compare customers and orders",
        "compare revenue of January 2025 and 2024",
        "compare 2024 to 2025",
        "share of revenue by country for Tents",
        "share of the average salary by region",
        "what percentage of revenue comes from the top 10 customers",
        "how expensive are products",
        "products longer than 10 minutes",
        "average order value by category",
        "average amount of customers",
        "total amount of customers",
        "amount of orders per year",
        "products with more than 10 minutes of orders",
        "products with the greatest length",
        "what is the total discount",
        "total discount per category",
        "why did revenue fall",
        "predict next month's revenue",
        "delete all customers",
        "drop table orders",
        "revenue in Atlantis",
        "how many blue customers",
        "what is the meaning of life",
        "average revenue per month",
        "revenue from Germany or Tents",
        "customers who bought Tents and Stoves",
        "sum of salary per category",
        "number of orders of the customer with the highest revenue",
        "and for Germany?",
        "how many of those are open",
        "what are their names",
        "regions where an employee with a salary above 4000 and an employee with a salary below 3200 work",
        "products with a unit price of at least 300 and a unit price of at most 100",
        "which product names do not",
        "products that are not",
    ],
)
def test_a_question_beyond_the_writer_is_refused_with_a_reason(question: str) -> None:
    with pytest.raises(Beyond) as caught:
        write(question, SCHEMA, previous=None, today=TODAY)
    assert caught.value.reason.endswith((".", "?"))


@pytest.mark.parametrize(
    "question",
    [
        *("Delete all customers", "please drop the orders table", "Truncate products", "wipe the customers"),
        *("Update the price of all products to 2", "Insert a customer", "can you remove every order?"),
    ],
)
async def test_an_order_to_change_data_is_refused_without_a_word_of_a_model(question: str) -> None:
    async def read_index() -> SchemaIndex:
        return SchemaIndex(ScannedSchema(SCHEMA, {}))

    async def read_terms() -> list[Term]:
        return []

    writer = BuiltinWriter("sqlite", read_index, TODAY, read_terms=read_terms, has_rows=None)
    with pytest.raises(QuestionBeyondWriter) as refused:
        await writer.write(Question(text=question), lambda _: None)
    assert refused.value.detail == "KAI only reads data and never changes it. Ask about the data instead."


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("highest price", ["products unit price", "order lines unit price"]),
        ("total quantity", ["order lines quantity", "returns quantity"]),
        ("revenue per region", ["customers", "employees"]),
        ("best customers", ["By what", "customers"]),
        ("price by category", ["average", "total"]),
    ],
)
def test_an_ambiguous_question_is_asked_back_with_its_choices(question: str, choices: Sequence[str]) -> None:
    answer = write(question, SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, Clarification), answer
    assert all(choice in answer.text for choice in choices), answer.text


@pytest.mark.parametrize(
    "question", ["hello", "Hi there!", "help", "what can you do?", "what data do you have?", ""]
)
def test_a_greeting_is_answered_with_the_tables_there_are(question: str) -> None:
    answer = write(question, SCHEMA, previous=None, today=TODAY)
    assert isinstance(answer, SmallTalk)
    assert "order_lines" in answer.text
    assert "How many" in answer.text


def test_thanks_are_answered_shortly() -> None:
    assert write("Thanks a lot!", SCHEMA, previous=None, today=TODAY) == SmallTalk("You are welcome.")


def test_revenue_is_quantity_times_price_where_no_amount_is_stored() -> None:
    tables = [_without(table, "amount", "discount") for table in SCHEMA.tables]
    answer = write("revenue in 2025", replace(SCHEMA, tables=tables), previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    gold = "select sum(quantity * unit_price) from order_lines where order_id > 2"
    assert rows(business(), answer.sql) == rows(business(), gold)


def test_revenue_is_refused_where_a_discount_lowers_it_in_a_way_unknown() -> None:
    tables = [_without(table, "amount") for table in SCHEMA.tables]
    with pytest.raises(Beyond, match="discount"):
        write("revenue in 2025", replace(SCHEMA, tables=tables), previous=None, today=TODAY)


def _without(table: Table, *names: str) -> Table:
    return replace(table, columns=[column for column in table.columns if column.name not in names])


def test_periods_are_cut_in_the_words_of_postgres() -> None:
    schema = replace(SCHEMA, dialect="postgres")
    monthly = write("revenue by month", schema, previous=None, today=TODAY)
    assert isinstance(monthly, WrittenSql)
    assert """TO_CHAR("orders"."order_date", 'YYYY-MM')""" in monthly.sql


def test_names_and_values_are_quoted_whatever_they_hold() -> None:
    name = TableColumn(name='na"me', type="text", database_type="TEXT", values=["O'Hara; drop table x"])
    schema = Schema("sqlite", [Table(name="odd table", kind="table", columns=[name])])
    answer = write('odd tables "O\'Hara; drop table x"', schema, previous=None, today=TODAY)
    assert isinstance(answer, WrittenSql)
    assert """'O''Hara; drop table x'""" in answer.sql
    assert '"na""me"' in answer.sql


_TEXT = """how many top 5 revenue orders customers by month in Germany Tents or and , average highest most
without email over 100 between 2024 2025 last 30 days per each category price not sorted first ' " % only"""
_WORDS = st.sampled_from(_TEXT.split())


@given(
    question=st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=12).map(" ".join)),
    before=st.sampled_from([None, "how many orders", "list customers", "revenue by month and category"]),
)
def test_any_text_gives_an_answer_or_a_reason_and_at_most_one_runnable_select(
    question: str, before: str | None
) -> None:
    previous = None
    if before is not None:
        first = write(before, SCHEMA, previous=None, today=TODAY)
        assert isinstance(first, WrittenSql)
        previous = Previous(first.plan)
    try:
        answer = write(question, SCHEMA, previous=previous, today=TODAY)
    except Beyond:
        return
    if isinstance(answer, WrittenSql):
        (statement,) = sqlglot.parse(answer.sql, dialect="sqlite")
        assert isinstance(statement, exp.Select)
        rows(business(), answer.sql)


def test_a_condition_that_is_left_out_of_a_follow_up_is_not_read_as_a_missing_value() -> None:
    listed = write("list products with their unit price", SCHEMA, previous=None, today=TODAY)
    assert isinstance(listed, WrittenSql)
    with pytest.raises(Beyond):
        write(
            "do not list those whose unit price is lower than or equal to 100",
            SCHEMA,
            previous=Previous(listed.plan),
            today=TODAY,
        )


def test_a_singular_verb_asks_for_one_of_many() -> None:
    one = write("Which of the regions has the most customers?", SCHEMA, previous=None, today=TODAY)
    several = write("Which of the regions have the most customers?", SCHEMA, previous=None, today=TODAY)
    assert isinstance(one, WrittenSql)
    assert isinstance(several, WrittenSql)
    assert rows(business(), one.sql) == [("Europe", 4)]
    assert rows(business(), several.sql) == [("Europe", 4), ("Americas", 1)]
