"""Corrections on real databases: a statement that the database takes keeps its rows."""

import re
from collections import Counter
from pathlib import Path

import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import collect
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from app.modules.sql_generation.checking.correct import correct
from app.modules.sql_generation.checking.names import SchemaNames
from tests.support.cases import assert_each
from tests.support.corpus import DIALECTS

SALES = """
create table shops (id integer primary key, town varchar(20));
create table sales (id integer primary key, shop_id integer not null references shops (id),
    region varchar(20), town varchar(20), kind varchar(20), units integer, pack integer);
insert into shops values (1, 'Oslo'), (2, 'Bergen'), (3, 'Kiel');
insert into sales values
    (1, 1, 'North', 'Oslo', 'hose', 7, 2), (2, 1, 'North', 'Oslo', 'spade', 5, 2),
    (3, 2, 'North', 'Bergen', 'hose', 9, 4), (4, 2, 'North', 'Bergen', 'hose', 4, 4),
    (5, 3, 'South', 'Kiel', 'spade', 8, 3), (6, 3, 'South', 'Oslo', 'hose', 3, 3);
"""
CLICKHOUSE_SALES = f"""
create database corrected;
create table corrected.shops (id Int32, town String) engine = MergeTree order by id;
create table corrected.sales (id Int32, shop_id Int32, region String, town String, kind String, units Int32,
    pack Int32) engine = MergeTree order by id;
{SALES[SALES.index("insert") :].replace("into ", "into corrected.")}
"""
SNOWFLAKE_SALES = f"""
create database corrected;
create schema corrected.public;
{re.sub("(?<=table )|(?<=into )", "corrected.public.", SALES.replace(" references shops (id)", ""))}
"""
LIMITS = StatementLimits(timeout_seconds=60)

SUMMED = "select region, town, kind, sum(units) as units from sales group by {}"
NAMED = "select town as place, region, count(*) as n from sales group by {}"
SETS = [
    SUMMED.format("rollup (region, town, kind)"),
    SUMMED.format("cube (region, town, kind)"),
    SUMMED.format("grouping sets ((region, town), (kind), ())"),
    SUMMED.format("grouping sets (rollup (region, town), cube (kind))"),
    SUMMED.format("region, rollup (town, kind)"),
    SUMMED.format("region, grouping sets (town, kind)"),
    SUMMED.format("cube (region), rollup (town, kind)"),
    SUMMED.format("rollup ((region, town), kind)"),
    NAMED.format("rollup (place, region)"),
    (
        "select s.town, x.kind, sum(x.units) as units from sales x join shops s on s.id = x.shop_id "
        "group by rollup (s.town, x.kind)"
    ),
    "select town, n from (select town, kind, count(*) as n from sales group by cube (town, kind)) as counts",
    "with r as (select region, town, sum(units) from sales group by rollup (region, town)) select * from r",
]
PLAIN = [
    SUMMED.format("region, town, kind"),
    SUMMED.format("1, 2, 3"),
    SUMMED.format("region, 2, kind"),
    NAMED.format("place, 2"),
    "select count(*) as n from (select distinct units / pack as packs from sales) as different",
    "select units / pack as packs, count(*) as n from sales group by units / pack",
    "select packs, count(*) as n from (select units / pack as packs from sales) as packed group by packs",
    "select a.id, b.id as other from sales a join sales b on a.units / a.pack = b.id",
    "select id from sales where units / pack = 2",
    "select id, units - units / pack * pack as loose from sales",
    "select id, count(*) over (partition by units / pack) as alike from sales",
]
ACCEPTED: dict[str, list[str]] = {
    "sqlite": PLAIN,
    "postgres": [
        *PLAIN,
        *SETS,
        SUMMED.format("distinct rollup (region, town), rollup (region, kind), grouping sets ((town), ())"),
        SUMMED.format("all rollup (region, town), rollup (region, kind)"),
        SUMMED.format("region, town, kind, ()"),
        SUMMED.format("(region, town), kind"),
        SUMMED.format("1, rollup (2, 3)"),
    ],
    "duckdb": [
        *PLAIN,
        *SETS,
        SUMMED.format("all"),
        SUMMED.format("1, rollup (2, 3)"),
        "from sales select region, sum(units) as units group by all",
        "select columns('reg.*'), sum(units) as units from sales group by region",
    ],
    "mysql": [
        *PLAIN,
        SUMMED.format("region, town, kind with rollup"),
        SUMMED.format("1, 2, 3 with rollup"),
        NAMED.format("place, 2 with rollup"),
        "select region, max(town) as town, sum(units) as units from sales group by region with rollup",
    ],
    "clickhouse": [
        *PLAIN,
        SUMMED.format("rollup (region, town, kind)"),
        SUMMED.format("cube (region, town, kind)"),
        SUMMED.format("grouping sets ((region, town), (kind), ())"),
        SUMMED.format("region, town, kind with rollup"),
        SUMMED.format("all"),
        NAMED.format("rollup (place, region)"),
        "select region, sumIf(units, kind = 'hose') as hoses from sales group by region",
        "select region, uniqExact(town), quantile(0.5)(units) from sales group by region",
        "select region, id from sales order by units desc limit 1 by region",
    ],
    "snowflake": [
        *PLAIN,
        SUMMED.format("rollup (region, town, kind)"),
        SUMMED.format("cube (region, town, kind)"),
        SUMMED.format("grouping sets ((region, town), (kind), ())"),
        SUMMED.format("all"),
        NAMED.format("rollup (place, region)"),
        "select region, count_if(kind = 'hose') as hoses from sales group by region",
        "select region, id from sales qualify row_number() over (partition by region order by id desc) = 1",
    ],
}


@pytest.fixture(scope="module")
def made() -> dict[str, tuple[Database, Schema]]:
    return {}


@pytest.fixture
def sales(
    dialect: str,
    made: dict[str, tuple[Database, Schema]],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> tuple[Database, Schema]:
    if dialect not in made:
        database = read_url(_make(dialect, tmp_path_factory.mktemp("sales"), request))
        made[dialect] = (database, scan(database, ConnectionLimits(), Stop()))
    return made[dialect]


def _make(dialect: str, folder: Path, request: pytest.FixtureRequest) -> str:
    match dialect:
        case "sqlite":
            import sqlite3
            from contextlib import closing

            with closing(sqlite3.connect(folder / "sales.db")) as file:
                file.executescript(SALES)
            return f"sqlite:///{folder / 'sales.db'}"
        case "duckdb":
            import duckdb

            with duckdb.connect(str(folder / "sales.duckdb")) as embedded:
                embedded.execute(SALES)
            return f"duckdb:///{folder / 'sales.duckdb'}"
        case "postgres":
            import psycopg

            server = request.getfixturevalue("postgres")
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute("create database corrected")
            with psycopg.connect(server.url("corrected"), autocommit=True) as connection:
                connection.execute(SALES)
            return str(server.url("corrected"))
        case "clickhouse":
            clickhouse = request.getfixturevalue("clickhouse")
            clickhouse.run(CLICKHOUSE_SALES)
            return str(clickhouse.url("corrected"))
        case "snowflake":
            snowflake = request.getfixturevalue("snowflake")
            snowflake.run(SNOWFLAKE_SALES)
            return str(snowflake.url(database="CORRECTED"))
        case _:
            mariadb = request.getfixturevalue("mariadb")
            mariadb.run(f"create database corrected; use corrected; {SALES}")
            return str(mariadb.root_url("corrected"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_that_the_database_takes_keeps_its_rows(
    dialect: str, sales: tuple[Database, Schema]
) -> None:
    database, schema = sales
    with database.session(Stop(), 60) as session:

        def keeps_its_rows(sql: str) -> None:
            corrected = correct(sql, SchemaNames(schema)).sql
            ran = UncheckedStatement(
                sql=corrected, schema=schema, database=database, limits=LIMITS, connect_seconds=60
            ).run(Stop())
            as_written = collect(session.execute(sql), LIMITS)
            assert Counter(map(repr, ran.rows)) == Counter(map(repr, as_written.rows))
            assert corrected == sql

        assert_each(ACCEPTED[dialect], keeps_its_rows)


@pytest.mark.parametrize("sets", ["rollup (region, town)", "cube (region, town)", "region, town with rollup"])
@pytest.mark.parametrize("dialect", ["sqlite"])
def test_grouping_sets_that_the_database_lacks_become_no_other_groups(
    sets: str, sales: tuple[Database, Schema]
) -> None:
    sql = f"select region, town, sum(units) as units from sales group by {sets}"
    assert correct(sql, SchemaNames(sales[1])).sql == sql
