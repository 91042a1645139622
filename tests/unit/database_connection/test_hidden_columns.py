"""Hidden columns: no statement reads them."""

import sqlite3
from contextlib import closing

import pytest
import sqlglot

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import ForeignKey, Schema, Table, TableColumn, TableProfile
from graph.errors import StatementRefused


def column(name: str, *, hidden: bool = False) -> TableColumn:
    return TableColumn(name=name, type="text", database_type="TEXT", hidden=hidden)


CUSTOMERS = Table(
    name="customers", kind="table", columns=[column("id"), column("email", hidden=True), column("city")]
)
ORDERS = Table(
    name="orders",
    kind="table",
    columns=[column("id"), column("customer_id"), column("email")],
    foreign_keys=[
        ForeignKey(["email"], "customers", ["email"]),
        ForeignKey(["customer_id"], "customers", ["id"]),
    ],
)
SCANNED = ScannedSchema(
    Schema("sqlite", [CUSTOMERS, ORDERS]), {"customers": {"email": ["a@example.org"], "city": ["Chur"]}}
)
VISIBLE = SCANNED.visible.schema


@pytest.fixture
def database() -> sqlite3.Connection:
    opened = sqlite3.connect(":memory:")
    opened.execute("CREATE TABLE customers (id TEXT, email TEXT, city TEXT)")
    opened.execute("CREATE TABLE orders (id TEXT, customer_id TEXT, email TEXT)")
    opened.execute("INSERT INTO customers VALUES ('1', 'a@example.org', 'Chur')")
    opened.execute("INSERT INTO orders VALUES ('7', '1', 'of the order')")
    return opened


def rows(database: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    with closing(database):
        return database.execute(check(sql, VISIBLE)).fetchall()


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT * FROM customers", [("1", "Chur")]),
        ("SELECT c.* FROM customers AS c", [("1", "Chur")]),
        ("SELECT customers.city FROM customers", [("Chur",)]),
        (
            "SELECT o.email, c.city FROM orders o JOIN customers c ON c.id = o.customer_id",
            [("of the order", "Chur")],
        ),
        ("SELECT city FROM (SELECT * FROM customers)", [("Chur",)]),
        ("WITH customers AS (SELECT id AS email FROM orders) SELECT email FROM customers", [("7",)]),
        ("SELECT id FROM orders WHERE customer_id IN (SELECT id FROM CUSTOMERS)", [("7",)]),
        ("SELECT id FROM customers UNION SELECT id FROM orders ORDER BY 1", [("1",), ("7",)]),
    ],
)
def test_a_statement_reads_the_other_columns(
    database: sqlite3.Connection, sql: str, found: list[tuple[object, ...]]
) -> None:
    assert rows(database, sql) == found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT email FROM customers",
        "SELECT c.email FROM customers c",
        'SELECT "c"."EMAIL" FROM "Customers" AS "c"',
        "SELECT count(*) FROM customers WHERE email LIKE 'a%'",
        "SELECT id FROM customers ORDER BY email",
        "WITH c AS (SELECT * FROM customers) SELECT email FROM c",
        "SELECT 1 FROM orders o JOIN customers c USING (email)",
        "SELECT (SELECT email FROM customers) FROM orders o2 LIMIT 1",
    ],
)
def test_a_statement_that_names_a_hidden_column_does_not_run(database: sqlite3.Connection, sql: str) -> None:
    try:
        found = rows(database, sql)
    except (sqlite3.OperationalError, StatementRefused):
        return
    assert "a@example.org" not in str(found), "only names of other tables may be read"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb"])
def test_the_rewritten_statement_has_no_hidden_column_on_any_engine(dialect: str) -> None:
    checked = check("SELECT * FROM customers", Schema(dialect, VISIBLE.tables))
    names = {each.name for each in sqlglot.parse_one(checked, dialect=dialect).find_all(sqlglot.exp.Column)}
    assert names == {"id", "city"}


def test_a_table_whose_columns_are_all_hidden_cannot_be_read() -> None:
    secret = Table(name="secrets", kind="table", columns=[column("word", hidden=True)])
    with pytest.raises(StatementRefused):
        check("SELECT count(*) FROM secrets", ScannedSchema(Schema("sqlite", [secret])).visible.schema)


def test_the_visible_schema_names_no_hidden_column() -> None:
    customers, orders = VISIBLE.tables
    assert [each.name for each in customers.columns] == ["id", "city"]
    assert orders.foreign_keys == [ForeignKey(["customer_id"], "customers", ["id"])]
    assert SCANNED.visible.texts == {"customers": {"city": ["Chur"]}}
    plain = ScannedSchema(Schema("sqlite", [Table(name="plain", kind="table", columns=[column("id")])]))
    assert plain.visible is plain


def test_what_users_have_written_of_a_column_outlasts_a_scan() -> None:
    written = TableColumn(
        name="total", type="number", database_type="REAL", description="Net", unit="EUR", hidden=True
    )
    before = ScannedSchema(Schema("sqlite", [Table(name="orders", kind="table", columns=[written])]))
    again = TableColumn(name="total", type="number", database_type="REAL", description="comment", minimum="1")
    changed = TableColumn(name="total", type="integer", database_type="INTEGER")
    for found in (again, changed):
        table = Table(name="orders", kind="table", columns=[found])
        for scanned in (before.replace_catalog([table], 1), before.add_profiles([TableProfile(table, {})])):
            (kept,) = scanned.schema.tables[0].columns
            assert (kept.description, kept.unit, kept.hidden) == ("Net", "EUR", True)
