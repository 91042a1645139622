"""Names in policies, where the list of tables has other names by now."""

import pytest

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.limited_schemas import limit_schema
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.schema import Schema, Table, TableColumn, TableProfile
from app.modules.policies.model import Attribute, Kind, Policies
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
    return limit_schema(scanned, policies.model_dump_json(), Person("ann"), found_at=0, key="k").schema


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
            "SELECT id, pay FROM staff",
            limit_schema(scanned, policies, Person("a"), found_at=0, key="k").schema,
        )

    assert "NULL AS" in run("pay")
    with pytest.raises(StatementRefused, match="no table"):
        run("salary")


@pytest.mark.parametrize(
    ("condition", "value", "written"),
    [
        ("buyer IN (SELECT p.id FROM people AS p WHERE p.team = {{ user.a }})", "7x", "1 = 0"),
        ("buyer IN (SELECT id FROM people WHERE team = {{ user.a }})", "7x", "1 = 0"),
        ("buyer IN (SELECT id FROM people WHERE team = {{ user.a }})", "7", "= '7'"),
        ("EXISTS (SELECT 1 FROM people AS p WHERE p.id = buyer AND p.code = {{ user.a }})", 0, "= '0'"),
        ("EXISTS (SELECT 1 FROM people AS p WHERE p.id = buyer AND orders.code = {{ user.a }})", 0, "= 0"),
        ("EXISTS (SELECT 1 FROM people AS p WHERE p.id = buyer AND team = {{ user.a }})", True, "= TRUE"),
    ],
)
def test_an_attribute_has_the_kind_of_its_column_in_a_query_of_a_condition(
    condition: str, value: Attribute, written: str
) -> None:
    def table(name: str, **kinds: Kind) -> Table:
        columns = [TableColumn(name=each, type=kind, database_type="") for each, kind in kinds.items()]
        return Table(name=name, full_name=TableName("", "shop", name), kind="table", columns=columns)

    tables = [
        table("orders", buyer="integer", code="integer"),
        table("people", id="integer", team="integer", code="text"),
    ]
    own = {"name": "own", "tables": {"orders": {"rows": [condition]}}}
    policies = Policies.model_validate({"default": "allow", "policies": [own]}).model_dump_json()
    known = limit_schema(
        ScannedSchema(Schema("mysql", tables)), policies, Person("ann", {"a": value}), found_at=0, key="k"
    )
    assert written in check("SELECT buyer FROM orders", known.schema)


def test_a_table_is_unknown_when_another_schema_has_got_one_of_the_name_in_a_policy() -> None:
    for sql in ("SELECT region FROM public.orders", "SELECT region FROM archive.orders"):
        with pytest.raises(StatementRefused, match="no table"):
            check(sql, schema("orders", "public", "archive"))


def test_a_policy_with_the_schema_in_its_name_holds_for_that_table_alone() -> None:
    both = schema("archive.orders", "public", "archive")
    assert "'north'" in check("SELECT region FROM archive.orders", both)
    assert "'north'" not in check("SELECT region FROM public.orders", both)


def test_tables_found_since_are_unknown_to_whom_a_policy_limits_by_a_name_that_is_gone() -> None:
    names = [TableColumn(name=each, type="text", database_type="TEXT") for each in ("id", "pay")]
    says: dict[str, dict[str, object]] = {
        "rows": {"tables": {"staff": {"rows": ["id = '1'"]}}},
        "column": {"tables": {"staff": {"columns": {"pay": "hidden"}}}},
        "table": {"tables": {"staff": {"hidden": True}}},
        "schema": {"hidden_schemas": ["hr"]},
    }
    written_for = [_table("staff", "hr", names), _table("plain", "public", names)]
    before = ScannedSchema(Schema("postgres", [])).replace_catalog(written_for, 1)
    assert {each.found_at for each in before.schema.tables} == {1}
    renamed = [_table("people", "hr2", names), _table("plain", "public", names)]
    after = before.replace_catalog(renamed, 2)
    after = after.add_profiles([TableProfile(table, {}) for table in renamed])
    grown = before.replace_catalog([*written_for, _table("more", "public", names)], 2)
    taken = before.replace_catalog([_table("plain", "public", [*names, names[0]])], 2)  # a name of before
    for kind, fields in says.items():
        policy = {"name": "own", "when": {"team": "a"}, **fields}
        policies = Policies.model_validate({"default": "allow", "policies": [policy]}).model_dump_json()

        def shown(
            scanned: ScannedSchema, team: str = "a", found_at: int = 1, policies: str = policies
        ) -> set[str]:
            person = Person("ann", {"team": team})
            limited = limit_schema(scanned, policies, person, found_at=found_at, key="k").schema
            return {table.name for table in limited.tables}

        assert shown(after) == {"plain"}, kind
        assert shown(after, team="b") == {"people", "plain"}, kind
        assert shown(after, found_at=2) == {"people", "plain"}, kind
        assert shown(grown) >= {"plain", "more"}, kind
        assert shown(taken) == set(), kind


def _table(name: str, schema: str, columns: list[TableColumn]) -> Table:
    return Table(name=name, full_name=TableName("", schema, name), kind="table", columns=columns)
