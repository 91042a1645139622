"""Policies of the shop, the people that they know, and statements that try to get around them.

`tests/corpus/policies.tsv`: dialects (`*` for all), a category, and a statement, with tabs between them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.modules.policies.model import Attribute, Policies

KEY = "not-a-real-key-but-long-enough"
EMAIL = "ann@example.com", "bob@example.com"

_OF_OWN_CUSTOMERS = "customer_id IN (SELECT c.id FROM customers AS c WHERE c.country = {{ user.country }})"
POLICIES = Policies.model_validate(
    {
        "default": "allow",
        "policies": [
            {"name": "hashed mail", "tables": {"customers": {"columns": {"email": "hash"}}}},
            {
                "name": "own country",
                "roles": ["seller"],
                "tables": {
                    "customers": {
                        "rows": ["country = {{ user.country }}"],
                        "columns": {"email": "hidden"},
                    },
                    "orders": {"rows": [_OF_OWN_CUSTOMERS]},
                },
            },
            {
                "name": "everything",
                "roles": ["manager"],
                "tables": {"customers": {"rows": "all"}, "orders": {"rows": "all"}},
            },
            {
                "name": "paid only",
                "roles": ["auditor"],
                "always": True,
                "tables": {
                    "orders": {"rows": ["status = 'paid'"], "columns": {"total": "null"}},
                    "customers": {"columns": {"name": "fixed", "signed_up": "year"}},
                },
            },
            {
                "name": "guests",
                "groups": ["guests"],
                "tables": {
                    "customers": {"rows": ["country IN {{ user.countries }}"]},
                    "orders": {"rows": ["customer_id NOT IN {{ user.blocked }}"]},
                    "categories": {"hidden": True},
                    "order lines": {"hidden": True},
                },
            },
        ],
    }
).model_dump_json()

PEOPLE: Mapping[str, Mapping[str, Attribute]] = {
    "anna": {"roles": ["seller"], "country": "Norway"},
    "bob": {"roles": ["seller", "auditor"], "country": "Japan"},
    "mia": {"roles": ["manager"]},
    "gus": {"groups": ["guests"], "countries": ["Norway", "Peru"], "blocked": []},
    "nil": {"roles": ["seller"]},
}


def _hash_emails() -> str:
    hashes = {each: hashlib.sha256((KEY + each).encode()).hexdigest() for each in EMAIL}
    return "".join(
        f"update customers set email = '{shown}' where email = '{each}';" for each, shown in hashes.items()
    )


def _refresh_views(dialect: str) -> str:
    return "refresh materialized view latest;" if dialect == "postgres" else ""


_DROP_EMAIL = "alter table customers drop column email;"


def _widen_email(dialect: str) -> str:
    return "alter table customers modify email varchar(64);" if dialect == "mysql" else ""


def _drop_lines(dialect: str) -> str:
    if dialect == "postgres":
        return ""
    return "drop table `order lines`;" if dialect == "mysql" else 'drop table "order lines";'


COPIES: Mapping[str, Callable[[str], str]] = {
    "anna": lambda d: (
        "delete from orders where customer_id = 2; delete from customers where id = 2;"
        + _DROP_EMAIL
        + _refresh_views(d)
    ),
    "bob": lambda d: (
        "delete from orders where id in (1, 2); delete from customers where id in (1, 3);"
        "update customers set name = '***', signed_up = '2023-01-01'; update orders set total = null;"
        + _DROP_EMAIL
        + _refresh_views(d)
    ),
    "mia": lambda d: _widen_email(d) + _hash_emails() + _refresh_views(d),
    "gus": lambda d: (
        "delete from customers where id = 2; drop table categories;"
        + _drop_lines(d)
        + _widen_email(d)
        + _hash_emails()
        + _refresh_views(d)
    ),
    "nil": lambda d: "delete from orders; delete from customers;" + _DROP_EMAIL + _refresh_views(d),
}
"""What makes a copy of the shop that holds only what a person may see, in a dialect's SQL."""

_FILE = Path(__file__).parents[1] / "corpus" / "policies.tsv"


def policy_statements(dialect: str) -> Sequence[tuple[str, str]]:
    """Returns categories and statements."""
    lines = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return [
        (category, sql)
        for dialects, category, sql in lines
        if dialects == "*" or dialect in dialects.split(",")
    ]
