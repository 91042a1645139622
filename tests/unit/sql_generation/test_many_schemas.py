"""Six schemas with tables of the same names among 2,000 others: the schema that is asked for is read."""

from collections.abc import Iterable
from datetime import date
from functools import cache

import pytest
from sqlglot import exp

from app.modules.context_store.model import Term
from app.modules.database_connection.guard.check import check
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ColumnType, ForeignKey, Schema, Table, TableColumn
from app.modules.sql.parsing import parsed_one
from app.modules.sql.table_names import TableName, shown_names
from app.modules.sql_generation.context import linked_for
from app.modules.sql_generation.schema_index import SchemaIndex
from app.modules.sql_generation.writer import BuiltinWriter
from graph.errors import QuestionBeyondWriter, StatementRefused
from graph.ports import Question

DIALECTS = ("postgres", "mysql", "duckdb")
SCHEMAS = ("sales", "archive", "wholesale", "outlet", "partners", "exports")
COLUMNS: dict[str, dict[str, ColumnType]] = {
    "orders": {"id": "integer", "customer_id": "integer", "ordered_on": "date", "amount": "number"},
    "customers": {"id": "integer", "name": "text", "country": "text"},
    "invoices": {"id": "integer", "order_id": "integer", "due_on": "date", "total": "number"},
    "returns": {"id": "integer", "order_id": "integer", "reason": "text", "refund": "number"},
}
KEYS = {
    "orders": ("customer_id", "customers"),
    "invoices": ("order_id", "orders"),
    "returns": ("order_id", "orders"),
}
DECOYS = (
    "orders",
    "customers",
    "invoices",
    "returns",
    "sessions",
    "events",
    "stock",
    "prices",
    "routes",
    "logs",
)
DECLINED = "how many customers are there in {schema}?"
"""The built-in writer does not read the name of a schema behind `in`."""
FORMS = {
    "How many {schema} orders are there?": {"orders"},
    "total amount of {schema} orders per year": {"orders"},
    DECLINED: {"customers"},
    "number of {schema} customers per country": {"customers"},
    "list the {schema} invoices": {"invoices"},
    "average refund of {schema} returns per reason": {"returns"},
    "total amount of {schema} orders per country": {"orders", "customers"},
}


@cache
def index_of(dialect: str) -> SchemaIndex:
    """The index of six schemas with four tables each, and of 2,000 decoys in them."""
    found: dict[TableName, dict[str, ColumnType]] = {
        TableName("", schema, name): columns for schema in SCHEMAS for name, columns in COLUMNS.items()
    }
    for number in range(2_000):
        decoy = f"{('stg', 'tmp', 'bak')[number % 3]}_{DECOYS[number % 10]}_{number}"
        found[TableName("", SCHEMAS[number % 6], decoy)] = {"id": "integer", "value": "text", "at": "date"}
    shown = {name: each.text for name, each in shown_names(found, dialect).items()}
    tables = []
    for name, columns in found.items():
        keys = []
        if name.name in KEYS:
            column, referred = KEYS[name.name]
            keys.append(ForeignKey([column], shown[TableName("", name.schema, referred)], ["id"]))
        tables.append(
            Table(
                name=shown[name],
                full_name=name,
                kind="table",
                columns=[
                    TableColumn(name=each, type=kind, database_type=kind, primary_key=each == "id")
                    for each, kind in columns.items()
                ],
                foreign_keys=keys,
                row_count=1_000,
            )
        )
    return SchemaIndex(ScannedSchema(Schema(dialect, tables), {}))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_schema_that_is_asked_for_is_in_the_prompt_and_no_other_one_is_read(dialect: str) -> None:
    index = index_of(dialect)

    async def read_index() -> SchemaIndex:
        return index

    async def read_terms() -> list[Term]:
        return []

    writer = BuiltinWriter(dialect, read_index, date(2026, 11, 29), read_terms=read_terms, has_rows=None)
    unlinked: list[str] = []
    for form, tables in FORMS.items():
        for schema in SCHEMAS:
            question = Question(text=form.format(schema=schema))
            linked = linked_for(question, index, budget_tokens=6_000)
            if not _named(schema, tables) <= set(linked.tables):
                unlinked.append(question.text)
    assert unlinked == []
    astray: list[str] = []
    declined: list[str] = []
    for at, (form, tables) in enumerate(FORMS.items()):
        schema = SCHEMAS[(at + 2 * DIALECTS.index(dialect)) % len(SCHEMAS)]
        text = form.format(schema=schema)
        try:
            answer = await writer.write(Question(text=text), lambda _: None)
        except QuestionBeyondWriter:
            declined.append(form)
            continue
        assert answer.route == "sql", text
        if _read(answer.text, index) != _named(schema, tables):
            astray.append(f"{text}: {answer.text}")
    assert astray == []
    assert set(declined) <= {DECLINED}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_reads_the_schema_that_it_names_or_is_refused_with_the_choice(dialect: str) -> None:
    index = index_of(dialect)
    for schema in SCHEMAS:
        sql = (
            f"SELECT count(*) FROM {schema}.orders AS o JOIN {schema}.customers AS c ON c.id = o.customer_id"
        )
        assert _read(sql, index) == {f"{schema}.orders", f"{schema}.customers"}
        with pytest.raises(StatementRefused, match=rf"{schema}\.orders"):
            check(f"SELECT count(*) FROM orders JOIN {schema}.customers AS c ON true", index.scanned.schema)


def _named(schema: str, tables: Iterable[str]) -> set[str]:
    return {f"{schema}.{each}" for each in tables}


def _read(sql: str, index: SchemaIndex) -> set[str | None]:
    """Returns the tables that the database reads for a statement."""
    schema = index.scanned.schema
    to_run = parsed_one(check(sql, schema), schema.dialect)
    return {schema.names.find(each) for each in to_run.find_all(exp.Table)}
