"""Policies of the shop, the people that they know, and statements that try to get around them.

`tests/corpus/policies.tsv`: dialects (`*` for all), a category, and a statement, with tabs between them.
"""

import hashlib
import re
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
                    "sales": {"rows": ["region = {{ user.country }}"]},
                    "visits": {
                        "rows": ["country = {{ user.country }}"],
                        "columns": {"phone": "last4"},
                    },
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
                    "visits": {"rows": ["country IN {{ user.countries }}"]},
                    "orders": {"rows": ["customer_id NOT IN {{ user.blocked }}"]},
                    "categories": {"hidden": True},
                    "order lines": {"hidden": True},
                },
            },
        ],
    }
).model_dump_json()

_OTHER_FORMS = {
    '"customers":{"rows":["country = {{ user.country }}"]': (
        '"customers":{"rows":["EXISTS (SELECT 1 FROM visits AS v'
        ' WHERE v.country = customers.country AND v.country = {{ user.country }})"]'
    ),
    '"country = {{ user.country }}"': '"country = {{ user.country }} OR id = -1"',
    f'"{_OF_OWN_CUSTOMERS}"': (
        '"EXISTS (SELECT 1 FROM customers AS c WHERE c.id = orders.customer_id'
        ' AND c.country = {{ user.country }})"'
    ),
}


def _in_other_forms(policies: str) -> str:
    for form, other in _OTHER_FORMS.items():
        assert form in policies
        policies = policies.replace(form, other)
    return policies


SLOW_POLICIES = _in_other_forms(POLICIES)
"""The same rows by filters that planners run late: after conditions that cost less."""

_VISITS = """
insert into visits values (1, '2023-05-01', 'Norway', 3, '+47 5550 1234'),
    (2, '2023-06-01', 'Japan', 5, '+81 5550 9876'), (3, '2024-02-01', 'Norway', 7, null),
    (4, '2024-03-01', 'Peru', 1, '5550');
create index customers_country on customers (country);
create unique index customers_email on customers (email);
create view norwegians as select id, name from customers where country = 'Norway';
create view norwegian_orders as
    select n.id, n.name, o.total from norwegians n join orders o on o.customer_id = n.id;
create view mails as select id, email from customers;
create view tree as with recursive t as (
    select id, name from categories where parent_id is null
    union all select k.id, k.name from categories k join t on k.parent_id = t.id) select * from t;
"""
_TABLE_OF_VISITS = "create table visits (id int, day date, country varchar(50), pages int, phone varchar(50))"
MORE: Mapping[str, str] = {
    "sqlite": f"""{_TABLE_OF_VISITS};
        create virtual table notes using fts5 (body); insert into notes values ('a secret');
        {_VISITS} analyze;""",
    "duckdb": f"{_TABLE_OF_VISITS}; {_VISITS}",
    "postgres": f"""{_TABLE_OF_VISITS} partition by list (country);
        create table visits_north partition of visits for values in ('Norway');
        create table visits_other partition of visits default; {_VISITS} analyze;""",
    "clickhouse": """create table visits (id Int32, day Date, country LowCardinality(String), pages Int32,
        phone Nullable(String), index by_pages pages type set(100) granularity 1)
        engine = MergeTree order by id partition by country;
        create table all_orders as orders engine = Merge(currentDatabase(), '^orders$');
        create table buffered as orders engine = Buffer(currentDatabase(), orders, 1, 9, 9, 9, 9, 9, 9);
        """
    + re.sub("create (unique )?index.*\n", "", _VISITS),
    "mysql": f"""{_TABLE_OF_VISITS}
        partition by range columns (phone)
        (partition low values less than ('+'), partition high values less than (maxvalue));
        {_VISITS}""",
}
"""Beside the shop: views of views, partitions (MariaDB's by a column that some see masked), indexes,
statistics, a table of full texts.
"""
LAST: Mapping[str, str] = {
    "postgres": "refresh materialized view latest;",
    "clickhouse": """create materialized view paid engine = MergeTree order by id populate as
        select id, total from orders where status = 'paid';""",
}
"""Run once the rows are those of a person."""

_OF_SALES = "case {0} % 40 when 0 then 'Norway' else {1} end, {0} % 100"
_SALES = """
create table sales (id int, region varchar(50), amount int);
insert into sales {} select {}, {} from {};
create index sales_region on sales (region);
analyze {} sales;
"""
SALES: Mapping[str, str] = {
    "sqlite": _SALES.format(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)",
        "i",
        _OF_SALES.format("i", "'r' || (i % 40)"),
        "n",
        "",
    ),
    "postgres": _SALES.format(
        "", "i", _OF_SALES.format("i", "'r' || (i % 40)"), "generate_series(1, 2000) i", ""
    ),
    "mysql": _SALES.format(
        "", "seq", _OF_SALES.format("seq", "concat('r', seq % 40)"), "seq_1_to_2000", "table"
    ),
    "duckdb": "",
    "clickhouse": "",
}
"""A table whose index on the filtered column is worth its use. No copy has it."""

PEOPLE: Mapping[str, Mapping[str, Attribute]] = {
    "anna": {"roles": ["seller"], "country": "Norway"},
    "bob": {"roles": ["seller", "auditor"], "country": "Japan"},
    "mia": {"roles": ["manager"]},
    "gus": {"groups": ["guests"], "countries": ["Norway", "Peru"], "blocked": []},
    "nil": {"roles": ["seller"]},
}


def _hash_emails(dialect: str) -> str:
    hashes = {each: hashlib.sha256((KEY + each).encode()).hexdigest() for each in EMAIL}
    wider = {
        "mysql": "alter table customers modify email varchar(64);",
        "duckdb": "drop index customers_email;",  # which updates no column of a unique index
    }
    return wider.get(dialect, "") + "".join(
        f"update customers set email = '{shown}' where email = '{each}';" for each, shown in hashes.items()
    )


def _drop_email(dialect: str) -> str:
    on = " on customers" if dialect == "mysql" else ""
    # DuckDB alters no table that has an index.
    indexes = ["customers_email", *(["customers_country"] if dialect == "duckdb" else [])]
    if dialect == "clickhouse":
        indexes = []
    dropped = "".join(f"drop index {each}{on};" for each in indexes)
    return f"drop view mails; {dropped} alter table customers drop column email;"


def _keep_visits(*countries: str) -> str:
    kept = ", ".join(f"'{each}'" for each in countries)
    return f"delete from visits where country not in ({kept});"


_LAST_DIGITS = """
update visits set phone = case when length(phone) < 8 then '***' when phone like '%1234' then '***1234'
    else '***9876' end where phone is not null;
"""


def _drop_lines(dialect: str) -> str:
    if dialect == "postgres":
        return ""
    return "drop table `order lines`;" if dialect == "mysql" else 'drop table "order lines";'


COPIES: Mapping[str, Callable[[str], str]] = {
    "anna": lambda d: (
        "delete from orders where customer_id = 2; delete from customers where id = 2;"
        + _keep_visits("Norway")
        + _LAST_DIGITS
        + _drop_email(d)
    ),
    "bob": lambda d: (
        "delete from orders where id in (1, 2); delete from customers where id in (1, 3);"
        "update customers set name = '***', signed_up = '2023-01-01'; update orders set total = null;"
        + _keep_visits("Japan")
        + _LAST_DIGITS
        + _drop_email(d)
    ),
    "mia": _hash_emails,
    "gus": lambda d: (
        "delete from customers where id = 2; drop view tree; drop table categories;"
        + _drop_lines(d)
        + _keep_visits("Norway", "Peru")
        + _hash_emails(d)
    ),
    "nil": lambda d: "delete from orders; delete from customers; delete from visits;" + _drop_email(d),
}
"""What makes a copy of the shop that holds only what a person may see, in a dialect's SQL."""

_HIDDEN_FROM_ALL = (KEY, "_p.", "kai_hash", "@example.com")
HIDDEN: Mapping[str, Sequence[str]] = {
    "anna": (*_HIDDEN_FROM_ALL, "Bob", "Japan", "Peru"),
    "bob": (*_HIDDEN_FROM_ALL, "Ann", "Bob", "Zoë", "Norway", "Peru"),
    "mia": _HIDDEN_FROM_ALL,
    "gus": (*_HIDDEN_FROM_ALL, "Bob", "notebooks"),
    "nil": (*_HIDDEN_FROM_ALL, "Ann", "Bob", "Zoë", "Norway", "Japan", "Peru"),
}
"""Texts of the data and of the rewrite that no error may quote to a person."""

_FILE = Path(__file__).parents[1] / "corpus" / "policies.tsv"


def policy_statements(dialect: str) -> Sequence[tuple[str, str]]:
    """Returns categories and statements."""
    lines = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return [
        (category, sql)
        for dialects, category, sql in lines
        if dialects == "*" or dialect in dialects.split(",")
    ]
