"""The built-in writer names the instructions that it did not follow, where they apply."""

import pytest

from app.modules.context_store.model import Instruction, Term
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.sql_generation.business import Business
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.unheeded import find_unheeded


def table(name: str, *columns: str) -> Table:
    made = [TableColumn(name=each, type="text", database_type="TEXT") for each in columns]
    return Table(name=name, kind="table", columns=made)


INDEX = SchemaIndex(
    ScannedSchema(
        Schema(
            "sqlite",
            [
                table("customers", "id", "name", "country", "kind"),
                table("orders", "id", "customer_id", "amount", "status", "placed"),
            ],
        ),
        {"customers": {"kind": ["private", "test"]}, "orders": {"status": ["paid", "cancelled"]}},
    )
)
REVENUE = "SELECT SUM(orders.amount) FROM orders"
PAID = "SELECT COUNT(*) FROM orders WHERE orders.status = 'paid'"
COUNT = "SELECT COUNT(*) FROM customers"
LIST = "SELECT customers.name FROM customers"


def instruction(text: str, scope: str | None = None) -> Instruction:
    return Instruction(
        id=text, owner="me", db_connection_id="db", text=text, scope=scope, created_at=0, updated_at=0
    )


def term(name: str, sql: str | None = None) -> Term:
    return Term(
        id=name,
        owner="me",
        db_connection_id="db",
        term=name,
        meaning="m",
        sql=sql,
        created_at=0,
        updated_at=0,
    )


@pytest.mark.parametrize(
    ("text", "scope", "asked", "sql"),
    [
        ("Leave out orders under 10.", None, "total amount of orders", REVENUE),
        ("Revenue excludes tax.", None, "revenue per month", REVENUE),
        ("Amounts are in cents.", None, "total amount", REVENUE),
        ("Cancelled ones do not count.", None, "revenue", REVENUE),
        ("Never count cancelled orders.", None, "revenue", REVENUE),
        ("Test accounts do not count.", "customers", "how many customers", COUNT),
        ("Stornierte zählen nicht.", "orders", "revenue", REVENUE),
        ("Names are first names.", "customers", "list the customers", LIST),
        ("Only paid ones count.", "orders", "revenue", REVENUE),
    ],
)
def test_an_instruction_that_applies_is_named(text: str, scope: str | None, asked: str, sql: str) -> None:
    found = find_unheeded(Business(instructions=[instruction(text, scope)]), asked, sql, index=INDEX)
    assert found is not None
    assert found.text == f"The built-in writer does not follow instructions (“{text}”); a model would."


@pytest.mark.parametrize(
    ("text", "scope", "asked", "sql"),
    [
        ("Fiscal years begin in July.", None, "how many customers", COUNT),
        ("Always answer in German.", None, "revenue", REVENUE),
        ("Round money to whole euros.", None, "how many customers", COUNT),
        ("Leave out orders under 10.", None, "how many customers", COUNT),
        ("Cancelled ones do not count.", None, "how many customers", COUNT),
        ("Cancelled ones do not count.", "orders", "how many customers", COUNT),
        ("Names are first names.", "customers", "how many customers", COUNT),
        ("Only paid ones count.", "orders", "how many paid orders", PAID),
        ("Leave out orders under 10.", None, "orders of at least 10", f"{REVENUE} WHERE orders.amount >= 10"),
    ],
)
def test_an_instruction_that_does_not_apply_or_is_kept_is_not_named(
    text: str, scope: str | None, asked: str, sql: str
) -> None:
    assert not find_unheeded(Business(instructions=[instruction(text, scope)]), asked, sql, index=INDEX)


def test_a_term_is_named_only_if_no_sql_says_what_it_is() -> None:
    business = Business(terms=[term("net revenue", "sum(amount)"), term("revenue")])
    found = find_unheeded(business, "net revenue", REVENUE, index=INDEX)
    assert found is not None
    assert found.text == "The built-in writer does not follow the glossary (“revenue”); a model would."


def test_only_the_first_three_instructions_are_named() -> None:
    many = [instruction(f"Leave out orders under {number}.") for number in range(5)]
    found = find_unheeded(Business(instructions=many), "revenue of orders", REVENUE, index=INDEX)
    assert found is not None
    assert found.text.count("“Leave") == 3
    assert "and 2 more" in found.text
    assert "und 2 weitere" in found.say("de")
