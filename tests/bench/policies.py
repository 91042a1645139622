"""What policies cost: the rewrite of a statement of twenty tables, and the barriers of honest statements.

`python -m tests.bench.policies` prints milliseconds of processor time, and shares of statements by dialect.
"""

import sys
import time
from collections.abc import Callable, Sequence

from sqlglot import exp

from app.modules.database_connection.guard.check import check_shape, written
from app.modules.database_connection.guard.rewriting import rewritten
from app.modules.database_connection.limited_schemas import catalog_of
from app.modules.database_connection.schema import Schema, Table, TableColumn
from app.modules.policies.limiting import Limiter
from app.modules.policies.model import Policies
from app.modules.policies.rights import Person, rights_of
from graph.errors import StatementRefused
from tests.support.corpus import honest
from tests.support.policy_corpus import KEY, PEOPLE, POLICIES, policy_statements

MOST_MILLISECONDS = 2.0
_DIALECTS = ("sqlite", "postgres", "mysql", "duckdb", "clickhouse")
_TABLES = 20
_TIMES = 200
_SHOP = {
    "customers": ("id", "name", "country", "email", "signed_up", "vip"),
    "orders": ("id", "customer_id", "placed", "status", "note", "total", "details"),
    "visits": ("id", "day", "country", "pages", "phone"),
    "categories": ("id", "parent_id", "name"),
    "order lines": ("order_id", "select", "quantity", "unit price"),
}


def main() -> int:
    cost = rewrite_milliseconds()
    print(f"rewrite of {_TABLES} tables: {cost:.2f} ms (at most {MOST_MILLISECONDS} ms)")
    for dialect in _DIALECTS:
        barred, all_ = barriers(dialect)
        print(f"{dialect}: {barred} of {all_} honest statements need a barrier ({barred / all_:.0%})")
    return int(cost > MOST_MILLISECONDS)


def rewrite_milliseconds() -> float:
    """Returns the processor time that policies add to one statement, without that of its text."""
    names = [f"t{number}" for number in range(_TABLES)]
    columns = ["id", "region", "amount", "name"]
    tables = [_table(name, columns) for name in names]
    policies = Policies.model_validate(
        {
            "default": "allow",
            "policies": [
                {
                    "name": "own region",
                    "tables": {
                        name: {"rows": ["region = {{ user.region }}"], "columns": {"name": "fixed"}}
                        for name in names
                    },
                }
            ],
        }
    )
    limiter = _limiter(Schema("postgres", tables, ""), policies, Person("ann", {"region": "EMEA"}))
    joins = " ".join(f"JOIN {name} ON {name}.id = t0.id" for name in names[1:])
    tree = written(f"SELECT t0.region, sum(t0.amount) FROM t0 {joins} GROUP BY t0.region", "postgres").tree
    limiter.limit(tree.copy())
    writing = _least_seconds(lambda copy: rewritten(copy, "postgres"), tree)
    return (_least_seconds(limiter.limit, tree) - writing) * 1000


def _least_seconds(run: Callable[[exp.Expr], object], tree: exp.Expr) -> float:
    """Returns the least processor time of a call for a copy of a statement, without that of copying."""
    took = []
    for _ in range(_TIMES):
        copy = tree.copy()
        began = time.process_time()
        run(copy)
        took.append(time.process_time() - began)
    return min(took)


def barriers(dialect: str) -> tuple[int, int]:
    """Returns how many honest statements need a barrier for some person, and how many there are."""
    schema = Schema(dialect, [_table(name, columns) for name, columns in _SHOP.items()], "shop")
    policies = Policies.model_validate_json(POLICIES)
    limiters = [_limiter(schema, policies, Person(name, known)) for name, known in PEOPLE.items()]
    statements = [line.sql for line in honest(dialect)]
    statements += [sql for category, sql in policy_statements(dialect) if category == "honest"]
    barred = 0
    counted = 0
    for sql in statements:
        outcomes = [limited for each in limiters if (limited := _has_barrier(each, sql, dialect)) is not None]
        counted += bool(outcomes)
        barred += any(outcomes)
    return barred, counted


def _has_barrier(limiter: Limiter, sql: str, dialect: str) -> bool | None:
    try:
        check_shape(sql, dialect)
        return limiter.limit(written(sql, dialect).tree.copy()).has_barrier
    except StatementRefused:
        return None


def _limiter(schema: Schema, policies: Policies, person: Person) -> Limiter:
    return Limiter(
        catalog_of(schema),
        rights_of(policies, person),
        key=KEY,
        write=lambda tree: rewritten(tree, schema.dialect),
    )


def _table(name: str, columns: Sequence[str]) -> Table:
    known = [TableColumn(name=each, type="text", database_type="text") for each in columns]
    return Table(name=name, kind="table", columns=known)


if __name__ == "__main__":
    sys.exit(main())
