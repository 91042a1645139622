"""Names in policies, where the list of tables has other names by now."""

import pytest

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.limited_schemas import limit_schema
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.policies.model import Policies
from app.modules.policies.rights import Person
from app.modules.sql.table_names import TableName
from graph.errors import StatementRefused


def schema(policies_name: str, *schemas: str) -> Schema:
    """The schema of a person whom a policy of this table lets see one region; each schema has `orders`."""
    columns = [TableColumn(name="region", type="text", database_type="TEXT")]
    tables = [
        Table(
            name="orders" if len(schemas) == 1 else f"{each}.orders",
            full_name=TableName("", each, "orders"),
            kind="table",
            columns=columns,
        )
        for each in schemas
    ]
    own = {"name": "own", "tables": {policies_name: {"rows": ["region = 'north'"]}}}
    policies = Policies.model_validate({"default": "allow", "policies": [own]})
    scanned = ScannedSchema(Schema("postgres", tables))
    return limit_schema(scanned, policies.model_dump_json(), Person("ann"), key="k").schema


def test_a_policy_holds_when_the_last_other_table_of_its_name_is_gone() -> None:
    for name in ("orders", "public.orders"):
        assert "'north'" in check("SELECT region FROM orders", schema(name, "public"))


def test_a_table_is_unknown_while_a_mask_names_a_column_that_it_has_not() -> None:
    columns = [TableColumn(name=each, type="integer", database_type="INTEGER") for each in ("id", "pay")]
    scanned = ScannedSchema(Schema("sqlite", [Table(name="staff", kind="table", columns=columns)]))

    def run(column: str) -> str:
        policy = {"name": "own", "tables": {"staff": {"columns": {column: "null"}}}}
        policies = Policies.model_validate({"default": "allow", "policies": [policy]}).model_dump_json()
        return check(
            "SELECT id, pay FROM staff", limit_schema(scanned, policies, Person("a"), key="k").schema
        )

    assert "NULL AS" in run("pay")
    with pytest.raises(StatementRefused, match="no table"):
        run("salary")


def test_a_table_is_unknown_when_another_schema_has_got_one_of_the_name_in_a_policy() -> None:
    for sql in ("SELECT region FROM public.orders", "SELECT region FROM archive.orders"):
        with pytest.raises(StatementRefused, match="no table"):
            check(sql, schema("orders", "public", "archive"))


def test_a_policy_with_the_schema_in_its_name_holds_for_that_table_alone() -> None:
    both = schema("archive.orders", "public", "archive")
    assert "'north'" in check("SELECT region FROM archive.orders", both)
    assert "'north'" not in check("SELECT region FROM public.orders", both)
