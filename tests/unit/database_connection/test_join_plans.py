"""What is planned for a statement over several databases, before anything is fetched."""

from collections.abc import Sequence

import pytest

from app.modules.database_connection.joining.plan import JoinPlan, MovedStatement, NamedSchema, plan_join
from app.modules.database_connection.schema import ColumnType, Schema, Table, TableColumn
from app.modules.sql.table_names import TableName
from graph.errors import StatementRefused


def _table(shown: str, schema: str, **columns: tuple[ColumnType, str]) -> Table:
    return Table(
        name=shown,
        full_name=TableName("", schema, shown.rsplit(".", maxsplit=1)[-1]),
        kind="table",
        columns=[
            TableColumn(name=each, type=kind, database_type=declared)
            for each, (kind, declared) in columns.items()
        ],
    )


_ID: tuple[ColumnType, str] = ("integer", "integer")
_TEXT: tuple[ColumnType, str] = ("text", "text")
SHOP = Schema(
    "postgres",
    [
        _table(
            "orders", "public", id=_ID, email=_TEXT, weight=("number", "real"), price=("number", "numeric")
        ),
        _table("people", "crm", id=_ID, email=_TEXT),
    ],
    "shop",
)
CRM = Schema(
    "mysql",
    [
        _table("people", "crm", id=_ID, email=_TEXT, api_token=_TEXT),
        _table("orders", "crm", id=_ID, email=_TEXT),
        _table("Orders", "crm", id=_ID),
    ],
    "crm",
)
LITE = Schema(
    "sqlite",
    [
        _table("people", "", id=_ID, email=("text", ""), code=_TEXT, size=("number", "REAL")),
        _table("notes", "", id=_ID, person_id=_ID),
    ],
)
DATABASES = [
    NamedSchema("Shop", SHOP),
    NamedSchema("web", CRM),
    NamedSchema("crm", CRM),
    NamedSchema("lite", LITE),
]


def _plan(sql: str, databases: Sequence[NamedSchema] = DATABASES) -> JoinPlan:
    plan = plan_join(sql, databases)
    assert isinstance(plan, JoinPlan), sql
    return plan


def _parts(sql: str) -> dict[str, str]:
    return {part.table: part.sql for part in _plan(sql).parts}


def test_columns_that_name_more_than_their_table_are_refused_where_that_has_other_meanings() -> None:
    inner = "SELECT 1 FROM web.people WHERE web.people.id = {}.id"
    for sql in (
        f"SELECT * FROM lite.people WHERE EXISTS ({inner.format('lite.people')})",
        "WITH people AS (SELECT * FROM lite.notes) SELECT web.people.id FROM web.people, people",
        "SELECT web.people.id FROM lite.people, orders",
    ):
        with pytest.raises(StatementRefused, match="an alias each"):
            plan_join(sql, DATABASES)
    aliased = "SELECT p.id FROM web.people p WHERE EXISTS (SELECT 1 FROM lite.people q WHERE q.id = p.id)"
    assert len(_plan(aliased).parts) == 2
    assert len(_plan("SELECT lite.people.id, shop.orders.email FROM lite.people, orders").parts) == 2
    assert len(_plan("SELECT id FROM web.people WHERE id NOT IN (SELECT id FROM lite.people)").parts) == 2


def test_a_name_with_two_meanings_is_refused_with_the_name_that_has_one() -> None:
    with pytest.raises(
        StatementRefused, match=r"may be a table of Shop or of the database crm\. .* crm\.crm\.people"
    ):
        plan_join("SELECT * FROM crm.people", DATABASES)
    assert "crm.people" in _parts("SELECT o.id FROM orders o JOIN crm.crm.people USING (id)")
    assert "Shop.people" in _parts("SELECT o.id FROM web.orders o JOIN Shop.crm.people USING (id)")
    # Names of a database's own schemas are no others' where those have no such table.
    assert plan_join("SELECT * FROM public.orders", [DATABASES[0], NamedSchema("public", LITE)]) is None
    # DuckDB's names disregard case.
    assert set(_parts("SELECT count(*) FROM ORDERS, lite.PEOPLE")) == {"Shop.orders", "lite.people"}


def test_common_tables_hide_no_table_of_a_database() -> None:
    ratio = "WITH people AS (SELECT id FROM {0} WHERE id > 1) SELECT count(*) FROM people, {0} AS p"
    moved = plan_join(ratio.format("web.people"), DATABASES)
    assert isinstance(moved, MovedStatement)
    assert moved.sql.count("`crm`.`people`") == 2
    moved = plan_join(ratio.format("lite.people"), DATABASES)
    assert isinstance(moved, MovedStatement)
    assert moved.sql.count('"main"."people"') == 2
    plan = _plan(
        'WITH "lite.people" AS (SELECT 1 AS id) SELECT count(*) FROM lite.people, orders, "lite.people"'
    )
    assert [part.table for part in plan.parts] == ["lite.people (2)", "Shop.orders"]


def test_tables_whose_names_differ_in_case_or_in_the_place_of_a_dot_stay_apart() -> None:
    assert len(_parts('SELECT count(*) FROM web."orders", web."Orders", lite.people')) == 3
    dotted = Schema("postgres", [_table("b.c", "public", id=_ID)])
    plain = Schema("postgres", [_table("c", "public", id=_ID, word=_TEXT)])
    plan = _plan(
        'SELECT x.id, y.word FROM a."b.c" x, "a.b".c y', [NamedSchema("a", dotted), NamedSchema("a.b", plain)]
    )
    assert len({part.table for part in plan.parts}) == 2


def test_only_tests_that_every_database_makes_alike_are_left_to_it() -> None:
    wanted = {
        "o.price <= 0.1": True,
        "o.weight <= 0.1": False,  # a real of 0.1 is more than 0.1
        "o.email = 'a'": True,
        "o.email <> 'a'": False,
        "o.email > 'a'": False,
        "o.email IS NULL": False,
        "NOT o.email = 'a'": False,
        "(o.email = 'a' OR p.id = 1)": False,
        "lower(o.email) = 'a'": False,
        "o.id = '5'": False,
        "o.id NOT IN (1, 2)": False,
        "o.id IN (1, NULL)": False,
    }
    wrong = [
        test
        for test, is_pushed in wanted.items()
        if (
            "WHERE"
            in _parts(f"SELECT 1 FROM orders o LEFT JOIN lite.people p USING (id) WHERE {test}")[
                "Shop.orders"
            ]
        )
        is not is_pushed
    ]
    assert not wrong
    of_lite = {"p.email = '5'": False, "p.code = '5'": True, "p.size > 1.5": True}
    wrong = [
        test
        for test, is_pushed in of_lite.items()
        if (
            "WHERE"
            in _parts(f"SELECT 1 FROM orders o JOIN lite.people p USING (id) WHERE {test}")["lite.people"]
        )
        is not is_pushed
    ]
    assert not wrong
    for source in (
        "orders o POSITIONAL JOIN lite.people p",
        "orders o TABLESAMPLE 10 PERCENT (bernoulli), lite.people p",
    ):
        try:
            parts = _parts(f"SELECT 1 FROM {source} WHERE o.id = 1")
        except StatementRefused:
            continue
        assert "WHERE" not in parts["Shop.orders"], source


def test_what_is_made_of_secrets_of_a_part_is_secret_in_the_result_under_every_name() -> None:
    plan = _plan(
        "WITH x AS (SELECT id, api_token AS harmless FROM web.people) "
        "SELECT o.id, harmless AS city, upper(harmless) || o.email AS mixed FROM orders o JOIN x USING (id)"
    )
    assert plan.secret is not None
    assert list(plan.secret.among(["id", "city", "mixed"])) == [False, True, True]
    starred = _plan("SELECT * FROM orders o JOIN web.people p ON o.id = p.id")
    assert starred.secret is not None
    names = ["id", "email", "weight", "price", "id_2", "email_2", "api_token"]
    assert list(starred.secret.among(names)) == [False] * 6 + [True]
