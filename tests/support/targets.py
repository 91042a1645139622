"""Shops in real databases, and what can be seen of them from outside: has anything changed?"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.threads import Stop
from tests.support.clickhouse_server import ClickhouseServer
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer
from tests.support.shop import make_shop
from tests.support.shops import DUCKDB, MYSQL, MYSQL_ACCOUNTS, POSTGRES
from tests.support.snowflake_server import SnowflakeServer

# What an attack of the corpus would leave behind.
_ENDINGS = ("", ".db", ".csv", ".parquet", ".txt")
_LOOT = [Path(folder) / f"stolen{end}" for folder in ("/tmp", ".") for end in _ENDINGS]  # noqa: S108

_POSTGRES_STATE = """
select 'data', md5(string_agg(x::text, '|' order by x::text)) from (
    select c::text as x from customers c union all select o::text from orders o
    union all select s::text from secret.salaries s) rows
union all select 'relations', string_agg(oid || relname || coalesce(relacl::text, ''), ',' order by oid)
    from pg_class where relnamespace in ('public'::regnamespace, 'secret'::regnamespace)
union all select 'functions', string_agg(proname, ',' order by oid) from pg_proc where oid > 16000
union all select 'settings', md5(string_agg(name || coalesce(setting, ''), ',' order by name))
    from pg_settings where name not like 'application%'
union all select 'roles', string_agg(r::text, ',' order by oid) from pg_roles r
union all select 'sequence', last_value::text from orders_id_seq
union all select 'large objects', count(*)::text from pg_largeobject_metadata
union all select 'slots', count(*)::text from pg_replication_slots
union all select 'extensions', string_agg(extname, ',' order by 1) from pg_extension
"""

_MYSQL_STATE = """
checksum table shop.customers, shop.orders, shop.categories, secret.salaries;
select table_schema, table_name, table_type from information_schema.tables
    where table_schema not in ('information_schema', 'performance_schema') order by 1, 2;
select user, host from mysql.user order by 1, 2;
select routine_name from information_schema.routines order by 1;
select event_name from information_schema.events order by 1;
select variable_name, variable_value from information_schema.global_variables
    where variable_name not regexp 'gtid|timestamp|identity|insert_id' order by 1;
"""


_CLICKHOUSE_STATE = (
    "select sum(cityHash64(id, name)), count() from shop.customers",
    "select sum(cityHash64(id, status)), count() from shop.orders",
    "select sum(cityHash64(*)), count() from secret.salaries",
    "select database, name, create_table_query from system.tables where engine not like 'System%' order by 1",
    "select name from system.databases order by 1",
    "select name from system.functions where origin <> 'System' order by 1",
)
_SNOWFLAKE_STATE = (
    "select * from public.customers order by id",
    "select id, status from public.orders order by id",
    "select * from secret.salaries",
    "select table_schema, table_name, table_type, comment from information_schema.tables order by 1, 2",
    "select table_schema, table_name, column_name from information_schema.columns order by 1, 2, 3",
    "select schema_name from information_schema.schemata order by 1",
)


@dataclass(frozen=True)
class Target:
    """A shop to attack, by an account that only reads."""

    database: Database
    state: Callable[[], object]
    """All that an attack may try to change."""


def sqlite_target(folder: Path) -> Target:
    path = make_shop(folder / "shop.db")
    return Target(read_url(f"sqlite:///{path}"), lambda: (_digest(path), sorted(folder.iterdir()), _loot()))


def duckdb_target(folder: Path) -> Target:
    import duckdb

    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(DUCKDB)
    return Target(read_url(f"duckdb:///{path}"), lambda: (_digest(path), sorted(folder.iterdir()), _loot()))


def postgres_target(server: PostgresServer) -> Target:
    import psycopg

    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("create database attacked")
    with psycopg.connect(server.url("attacked"), autocommit=True) as connection:
        connection.execute(POSTGRES)

    def state() -> object:
        with psycopg.connect(server.url("attacked")) as connection:
            return connection.execute(_POSTGRES_STATE).fetchall(), _loot()

    return Target(read_url(server.url("attacked").replace("analyst", "reader")), state)


def mysql_target(server: MariadbServer) -> Target:
    server.run(MYSQL_ACCOUNTS)
    server.run(MYSQL, "shop")
    return Target(read_url(server.url()), lambda: (server.run(_MYSQL_STATE), _loot()))


def clickhouse_target(server: ClickhouseServer) -> Target:
    database = read_url(server.url())

    def state() -> object:
        with database.engine(Stop(), 60) as engine, engine.connect() as connection:
            return [[*map(tuple, connection.execute(text(each)))] for each in _CLICKHOUSE_STATE], _loot()

    return Target(database, state)


def snowflake_target(server: SnowflakeServer) -> Target:
    database = read_url(server.url())

    def state() -> object:
        with database.engine(Stop(), 60) as engine, engine.connect() as connection:
            return [[*map(tuple, connection.execute(text(each)))] for each in _SNOWFLAKE_STATE], _loot()

    return Target(database, state)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _loot() -> list[Path]:
    return [path for path in _LOOT if path.exists()]
