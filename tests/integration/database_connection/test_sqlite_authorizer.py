"""SQLite's own authorizer, as a second lock: it reads only what the guard has seen in a statement."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.sqlite.database import SqliteDatabase
from app.modules.database_connection.guard.named import named_tables
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from graph.errors import StatementFailed, StatementRefused

MADE = """
create table fruit (id integer primary key, name text, price real, twice as (price * 2), code text);
create table secret (name text);
create table vault (a text, b text);
create table "two words" ("a b" text);
create view cheap as select name, row_number() over (order by price) as place from fruit where price < 5;
create view cheaper as select name from cheap where name in (select name from secret);
create view by_parts as with parts as (select name from secret) select parts.name from parts;
create view counting as with recursive n(x) as (select 1 union all select x + 1 from n where x < 3)
  select x from n;
create view "Äpfel" as select name from fruit;
create table "Öl" ("ÄID" integer primary key, x text);
create trigger on_fruit after insert on fruit begin delete from secret; end;
create index by_code on fruit (lower(code)) where price > 1;
create virtual table notes using fts5 (body);
insert into fruit (name, price, code) values ('plum', 2, 'P'), ('fig', 9, 'F');
insert into secret values ('plum');
insert into vault values ('a', 'b');
insert into "two words" values ('x');
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabase:
    path = tmp_path_factory.mktemp("fruit") / "fruit.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(MADE)
    return SqliteDatabase(path)


@pytest.fixture(scope="module")
def schema(database: SqliteDatabase) -> Schema:
    return scan(database, ConnectionLimits(), Stop())


def without_codes(schema: Schema) -> Schema:
    """The schema whose owner hides the column `code`."""
    fruit = next(table for table in schema.tables if table.name == "fruit")
    columns = [replace(column, hidden=column.name == "code") for column in fruit.columns]
    others = [table for table in schema.tables if table is not fruit]
    return replace(schema, tables=[*others, replace(fruit, columns=columns).without_hidden()])


def run_for(seen: str, sql: str, database: SqliteDatabase, schema: Schema) -> Sequence[Sequence[object]]:
    """The rows of `sql` where the guard has seen `seen` in its place."""
    with database.reading_only(named_tables(seen, schema)).session(Stop(), 60) as session:
        return list(session.execute(sql).rows)


UNSEEN = {
    "a name after IN": "select 'plum' in secret from fruit",
    "a row value in a table": "select ('a', 'b') in vault from fruit",
    "a view": "select count(*) from cheap",
    "a view after IN": "select 'plum' in by_parts from fruit",
    "a table in a subquery": "select (select max(name) from secret) from fruit",
    "the rows of a table": "select exists (select 1 from secret) from fruit",
    "a common table expression": "with c as (select name from secret) select * from c",
    "one that is called as a view is": "with cheap as (select name from secret) select * from cheap",
    "the catalog": "select sql from sqlite_master",
    "a pragma as a table": "select name from pragma_table_info('secret')",
    "a pragma after IN": "select 'name' in (select name from pragma_table_info('secret')) from fruit",
    "another column": "select name, code from fruit",
    "all columns": "select * from fruit",
    "the row id": "select rowid from fruit",
    "a function of tables": "select value from json_each('[1]')",
    "a row that is added": "insert into fruit (name) values ('kiwi')",
    "a table that is made": "create temp table copied as select * from secret",
    "an attached file": "attach ':memory:' as other",
}


@pytest.mark.parametrize("sql", UNSEEN.values(), ids=UNSEEN.keys())
def test_sqlite_reads_nothing_that_the_guard_did_not_see(
    sql: str, database: SqliteDatabase, schema: Schema
) -> None:
    with pytest.raises(StatementFailed):
        run_for("select name from fruit", sql, database, schema)


def test_the_error_names_the_table_that_was_not_seen(database: SqliteDatabase, schema: Schema) -> None:
    with pytest.raises(StatementRefused, match=r"would read secret, which is in no FROM or JOIN of it\."):
        run_for("select name from fruit", UNSEEN["a name after IN"], database, schema)
    with pytest.raises(StatementRefused, match=r"would read a column of fruit that it does not name\."):
        run_for("select name from fruit", UNSEEN["another column"], database, schema)


def test_a_view_that_is_seen_reveals_only_what_it_reads(database: SqliteDatabase, schema: Schema) -> None:
    """Its tables are read within it, not beside it."""
    assert run_for("select * from by_parts", "select name from by_parts", database, schema) == [("plum",)]
    for sql in ("select 'plum' in secret from by_parts", "with c as (select a from vault) select a from c"):
        with pytest.raises(StatementRefused):
            run_for("select * from by_parts", sql, database, schema)


@pytest.mark.parametrize("sql", ["select code from fruit", "select * from fruit", "select 'F' in fruit"])
def test_a_hidden_column_is_not_read_though_all_columns_are_asked_for(
    sql: str, database: SqliteDatabase, schema: Schema
) -> None:
    with pytest.raises(StatementRefused, match="a column of fruit"):
        run_for("select * from fruit", sql, database, without_codes(schema))


def test_a_temporary_table_of_the_name_of_a_table_is_not_read(
    database: SqliteDatabase, schema: Schema
) -> None:
    named = named_tables("select name from fruit", schema)
    with database.reading_only(named).session(Stop(), 60) as session:
        session.connection.set_authorizer(None)
        session.connection.execute("pragma query_only = off")
        session.connection.execute("create temp table fruit as select 'plum' as name")
        session.connection.set_authorizer(session.authorizer)
        with pytest.raises(StatementRefused):
            session.execute("select name from fruit")


HONEST = {
    "a column": "select name from fruit order by price",
    "a generated column whose expression reads others": "select twice from fruit where twice > 3",
    "a view": "select name, place from cheap",
    "the rows of a view": "select count(*) from cheap",
    "a view of a view": "select * from cheaper",
    "the rows of a view of a view": "select count(*) from cheaper",
    "a view with a common table expression": "select name from by_parts",
    "one of the same name beside it": "with parts as (select 1 as x) select x, name from parts, by_parts",
    "a recursive view": "select max(x) from counting",
    "a table and a view of it": "select f.code from fruit as f join cheap as c on c.name = f.name",
    "a name after IN": "select name from fruit where name in secret",
    "a row value in a table": "select ('a', 'b') in vault",
    "a view after IN": "select 'plum' in by_parts",
    "recursion": "with recursive n(x) as (values (1) union all select 2 from n limit 3) select * from n",
    "the rows of a common table expression": "with c as (select price from fruit) select count(*) from c",
    "one called as a table": "with secret as (select name from fruit) select count(*) from secret",
    "a natural join": "select price from fruit natural join secret",
    "USING": "select price from fruit join secret using (name)",
    "the row id": "select rowid, name from fruit",
    "the row id of a table without a key": "select _rowid_ from secret",
    "all columns of one": "select f.* from fruit as f",
    "a union": "select name from fruit union select name from secret",
    "a window": "select name, rank() over (partition by code order by price) from fruit",
    "positions": "select name, sum(price) from fruit group by 1 order by 2",
    "a function of tables": "select value from fruit, json_each('[1, 2]') where name = 'fig'",
    "a function of a column": "select value from fruit, json_each(json_array(code, name)) as j",
    "its rows": "select count(*) from json_each('[1, 2]')",
    "an index of an expression": "select name from fruit where lower(code) = 'p' and price > 1",
    "names in other letters": "SELECT NAME FROM Main.FRUIT",
    "names with a blank": 'select "a b" from "two words"',
    "a view with a name that is not ASCII": 'select name from "Äpfel"',
    "a row id with a name that is not ASCII": 'select rowid from "Öl"',
    "EXISTS": "select exists (select 1 from secret)",
    "a plan": "explain query plan select name from cheap",
    "no table": "select 1 union all values (2)",
}


@pytest.mark.parametrize("sql", HONEST.values(), ids=HONEST.keys())
def test_a_statement_gets_what_sqlite_would_answer(
    sql: str, database: SqliteDatabase, schema: Schema
) -> None:
    limits = StatementLimits(timeout_seconds=60)
    got = UncheckedStatement(
        sql=sql, schema=schema, database=database, limits=limits, connect_seconds=60
    ).run(Stop())
    with closing(sqlite3.connect(database.path)) as connection:
        assert [list(row) for row in got.rows] == [list(row) for row in connection.execute(sql)]


def test_a_table_with_a_hidden_column_is_read_without_it(database: SqliteDatabase, schema: Schema) -> None:
    for sql in ("select * from fruit", "select count(*) from fruit", "select place from cheap, fruit"):
        UncheckedStatement(
            sql=sql,
            schema=without_codes(schema),
            database=database,
            limits=StatementLimits(timeout_seconds=60),
            connect_seconds=60,
        ).run(Stop())
