"""What the guard says of a statement before any database sees it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import sqlglot

from app.modules.database_connection.guard.check import check
from app.modules.database_connection.guard.rewriting import is_same, outline
from app.modules.database_connection.schema import Schema, Table
from graph.errors import StatementFailed, StatementRefused
from tests.support.corpus import shop_schema

OPERATIONS = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
NAMES = ["orders", "customers", "Invoice"]
POSTGRES = Schema("postgres", [Table(name=name, kind="table", columns=[]) for name in NAMES])
MYSQL = Schema("mysql", [Table(name=name, kind="table", columns=[]) for name in NAMES])
SQLITE = Schema("sqlite", [Table(name=name, kind="table", columns=[]) for name in NAMES])


def refusal(sql: str, schema: Schema) -> str:
    with pytest.raises(StatementFailed) as refused:
        check(sql, schema)
    return refused.value.detail


def test_what_is_run_is_generated_without_comments() -> None:
    assert check("select 1 -- one\n /*! drop table orders */ ; -- done", SQLITE) == "SELECT 1"


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("select * from custmers", "There is no table custmers; did you mean customers?"),
        ("select * from main.order_s", "There is no table main.order_s; did you mean orders?"),
        ("select * from x", "There is no table x. The tables are: orders, customers, Invoice."),
        ("select 1; select 2", "Send exactly one statement; these are 2."),
        ("-- nothing", "Send exactly one statement; these are 0."),
        ("select * from orders where id = ?", "The statement has a placeholder; write the value itself."),
        ("select load_extension('x')", "The function load_extension is not allowed here."),
        ("select 1 \0", "The statement contains a NUL character."),
        ("select '\ud800'", "The statement contains half a character (a lone surrogate)."),
        ("select " + "1," * 40_000 + "1", "The statement is longer than 65,536 characters; shorten it."),
        ("select " + "(" * 2_000 + "1" + ")" * 2_000, "The statement is nested too deeply; simplify it."),
    ],
)
def test_a_refusal_helps_to_repair_the_statement(sql: str, advice: str) -> None:
    assert refusal(sql, SQLITE) == advice


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("select '\ufeff'", "text"),
        ("select " + "1," * 40_000 + "1", "length"),
        ("select from where", "syntax"),
        ("select " + "(" * 2_000 + "1" + ")" * 2_000, "nesting"),
        ("select 1; select 2", "one-statement"),
        ("delete from orders", "not-a-query"),
        ("select ?", "placeholder"),
        ("select * into x from orders", "construct"),
        ("select load_extension('x')", "function"),
        ("select * from x", "table"),
        ("select replace(hex(randomblob(9)), 'a', printf('%1000000000d', 1))", "function"),
        ("select lpad('x', id, 'y') from orders", "amplification"),
    ],
)
def test_a_refusal_names_the_rule_that_is_documented(sql: str, rule: str) -> None:
    schema = POSTGRES if rule == "amplification" else SQLITE
    with pytest.raises(StatementRefused) as refused:
        check(sql, schema)
    assert refused.value.rule == rule
    assert f" {rule}," in OPERATIONS or f" {rule} " in OPERATIONS


def test_a_syntax_error_is_reported_with_its_place_and_without_terminal_colours() -> None:
    said = refusal("select from where", SQLITE)
    assert "Line 1, Col" in said
    assert "\x1b" not in said


def test_names_are_compared_as_the_database_compares_them() -> None:
    assert check("select * from INVOICE", SQLITE) == "SELECT * FROM INVOICE"
    assert check('select * from "Invoice"', POSTGRES) == 'SELECT * FROM "Invoice"'
    assert refusal("select * from Invoice", POSTGRES).endswith('did you mean "Invoice"?')
    assert "no table" in refusal('select * from "ORDERS"', POSTGRES)


@pytest.mark.parametrize(
    ("sql", "schema"),
    [
        ("with pg_shadow as (select * from pg_shadow) select * from pg_shadow", POSTGRES),
        ("with a as (select * from b), b as (select 1) select * from a", POSTGRES),
        ('with "PG_SHADOW" as (select 1) select * from pg_shadow', POSTGRES),
        ("select * from pg_shadow where exists (with pg_shadow as (select 1) select 1)", POSTGRES),
        ("select 1 from (with x as (select 1) select * from x) y, x", SQLITE),
        ("with x as (select 1) select * from main.x", SQLITE),
    ],
)
def test_a_common_table_expression_hides_no_table_outside_its_sight(sql: str, schema: Schema) -> None:
    assert "no table" in refusal(sql, schema)


@pytest.mark.parametrize(
    ("sql", "schema"),
    [
        ("with a as (select 1), b as (select * from a) select * from b", POSTGRES),
        ("with recursive r as (select 1 as n union all select n + 1 from r) select * from r", POSTGRES),
        ("with r as (select 1 as n union all select n + 1 from r where n < 3) select * from r", SQLITE),
        ("with X as (select 1) select * from x where exists (select 1 from x)", POSTGRES),
        ("select * from (with x as (select 1) select * from x) as y", SQLITE),
    ],
)
def test_a_common_table_expression_in_sight_is_a_table(sql: str, schema: Schema) -> None:
    assert check(sql, schema)


@pytest.mark.parametrize(
    "sql",
    [
        "select 'plum' in secret",
        "select (1, 'XX99') in bank",
        "select 1 from orders where 'x' not in main.secret",
        "select 'plum' in \"secret\" or 'plum' in 'secret' or 'plum' in [secret]",
        "with secrets as (select 'plum' in secret as found) select found from secrets",
        "select 1 in temp.orders",
        "select count(*) filter (where 'a' in secret) from orders",
    ],
)
def test_a_name_after_in_is_a_table_in_sqlite(sql: str) -> None:
    assert "There is no table" in refusal(sql, SQLITE)


@pytest.mark.parametrize("sql", ["select 1 in json_each('[1]')", "select 1 in a.b.c"])
def test_nothing_but_a_list_a_query_or_a_table_stands_after_in(sql: str) -> None:
    assert "Expecting a list, a query or a table after IN" in refusal(sql, SQLITE)


def test_a_known_table_after_in_is_read_as_its_rows() -> None:
    assert check("select 1 in orders", SQLITE) == "SELECT 1 IN (SELECT * FROM orders)"
    assert check("with x as (select 1) select 1 in x", SQLITE).endswith("SELECT 1 IN (SELECT * FROM x)")


@pytest.mark.parametrize("pivot", ["PIVOT ({}) ON status USING count(*)", "UNPIVOT ({}) ON id, status"])
def test_columns_below_a_pivot_keep_their_tables(pivot: str) -> None:
    joined = "SELECT c.id, o.status FROM customers AS c JOIN orders AS o ON c.id = o.customer_id"
    below = f"{joined} WHERE c.id < (SELECT MAX(g.id) FROM categories AS g)"
    assert f"({below})" in check(pivot.format(below), shop_schema("duckdb"))


def outlined(sql: str, dialect: str) -> Counter[Sequence[object]]:
    return outline(sqlglot.parse_one(sql, dialect=dialect).walk())


@pytest.mark.parametrize(
    ("meant", "text"),
    [
        ("select b.id from b join o on b.id = o.id", "select id from b join o on id = id"),
        ("select a from s.t", "select a from t"),
        ("select a from t as x", "select a from t"),
        ("select a from t left join u on a = b", "select a from t join u on a = b"),
        ("select a from t union all select a from t", "select a from t union select a from t"),
        ("select a from t where a in (select b from u)", "select a from t where a in (b)"),
        ("select distinct a from t", "select a from t"),
        ("select a, a from t", "select a from t"),
    ],
)
def test_text_that_names_or_does_something_else_is_another_statement(meant: str, text: str) -> None:
    assert not is_same(outlined(meant, "duckdb"), outlined(text, "duckdb"))
    assert is_same(outlined(meant, "duckdb"), outlined(meant, "duckdb"))


def test_a_database_without_nulls_first_orders_by_two_keys() -> None:
    text = check(
        "select name as n, count(*) as c from customers group by name order by c desc nulls first", MYSQL
    )
    assert "CASE WHEN" in text


POSTGRES_ATTACKS = [
    "with d as (delete from orders returning *) select * from d",
    "with i as (insert into orders values (1) returning 1) select * from i",
    "with u as (update orders set id = 1 returning *) select * from u",
    "select * into stolen from orders",
    "select * from orders for update",
    "explain analyze delete from orders",
    "copy orders to program 'sh'",
    "copy (select 1) to '/tmp/x'",
    "do $$ begin end $$",
    "call p()",
    "set statement_timeout = 0",
    "reset all",
    "begin; delete from orders; commit",
    "lock table orders",
    "listen x",
    "prepare p as delete from orders",
    "declare c cursor with hold for select 1",
    "select pg_read_file('/etc/passwd')",
    "select PG_CATALOG.Pg_Read_File('/etc/passwd')",
    "select \"pg_read_file\"('/etc/passwd')",
    "select U&\"pg_read_fil\\0065\"('/etc/passwd')",
    "select * from pg_ls_dir('.')",
    "select * from rows from (pg_ls_dir('.')) as x",
    "select 1 from orders, lateral pg_ls_dir('.') as x",
    "select id from orders order by pg_sleep(10)",
    "select sum(id) filter (where pg_sleep(1) is null) from orders",
    "select case when true then lo_import('/etc/passwd') end",
    "select set_config('default_transaction_read_only', 'off', false)",
    "select nextval('s')",
    "select pg_advisory_lock(1)",
    "select pg_terminate_backend(1)",
    "select query_to_xml('delete from orders', true, true, '')",
    "select * from dblink('host=x', 'delete from orders') as t(a int)",
    "select dblink_exec('delete from orders')",
    "select * from ts_stat('select secret from orders')",
    "select * from pg_authid",
    "select * from pg_catalog.pg_shadow",
    "select * from information_schema.tables",
    "select * from secret.orders",
    "select * from shop.public.orders",
    "table pg_user",
    "select $1",
    "values (pg_sleep(1))",
]


@pytest.mark.parametrize("sql", POSTGRES_ATTACKS)
def test_an_attack_on_a_server_does_not_pass(sql: str) -> None:
    refusal(sql, POSTGRES)


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from orders tablesample system (10)",
        "select date_trunc('month', placed) + interval '1 month' as update from public.orders",
        "select extract(year from placed), placed at time zone 'UTC', placed::date from orders",
        "select percentile_cont(0.5) within group (order by total) from orders",
        "select region, sum(total) from orders group by grouping sets ((region), ()), rollup (status)",
        "select sum(total) filter (where paid) over w from orders window w as (partition by a order by b)",
        "select distinct on (customer_id) * from orders order by customer_id, placed desc nulls last",
        "select details ->> 'delete', details #>> '{a,b}' from orders where details @> '{}'",
        "select * from generate_series(1, 3) as n, unnest(array[1, 2]) as u(x)",
        "select o.*, t.x from orders o cross join lateral (select o.id + 1 as x) t",
        "select x.key from orders, jsonb_each_text(details) as x",
        "select a ilike 'drop%', a ~ 'x', a is distinct from b, (a, b) in (select 1, 2) from orders",
        "select string_agg(a, ', ' order by b), array_agg(distinct c), pg_typeof(d) from orders",
        "select * from orders fetch first 5 rows only",
        "table orders",
    ],
)
def test_an_honest_question_to_a_server_passes(sql: str) -> None:
    assert check(sql, POSTGRES)


@pytest.mark.parametrize(
    ("sql", "dialect", "rule"),
    [
        ("SELECT DATE_SUB(INTERVAL 'name' DAY)", "mysql", "syntax"),
        ("id EXCEPT SELECT 1", "sqlite", "syntax"),
        ("SELECT 1 LIMIT DATE_TRUNC('day', x)", "postgres", "construct"),
        ("SELECT 1 AS $$x, pg_sleep(10) AS y$$", "postgres", "text"),
    ],
)
def test_a_statement_that_the_parser_misreads_is_refused(sql: str, dialect: str, rule: str) -> None:
    with pytest.raises(StatementRefused) as refused:
        check(sql, Schema(dialect, []))
    assert refused.value.rule == rule


@pytest.mark.parametrize(
    ("sql", "schema", "advice"),
    [
        ("SELECT * FROM sakila.Track", "mysql", "only the tables of Chinook are read"),
        ("SELECT * FROM sakila.public.track", "postgres", "only the tables of public are read"),
        ("SELECT * FROM memory.main.track", "duckdb", "only the tables of main are read"),
        ("SELECT * FROM temp.track", "sqlite", "only the tables of main are read"),
        ("SELECT * FROM Chinook.Trak", "mysql", "There is no table Chinook.Trak; did you mean Track?"),
    ],
)
def test_a_table_of_another_database_is_refused_with_the_own_one_named(
    sql: str, schema: str, advice: str
) -> None:
    tables = [Table(name="Track" if schema == "mysql" else "track", kind="table", columns=[])]
    assert advice in refusal(sql, Schema(schema, tables, "Chinook"))


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT Chinook.Track.Name FROM Chinook.Track", "mysql"),
        ('SELECT * FROM public."Track", "Chinook".public."Track" AS t', "postgres"),
        ("SELECT * FROM main.Track", "sqlite"),
        ("SELECT * FROM main.track, chinook.Track AS a, Chinook.main.TRACK AS b", "duckdb"),
    ],
)
def test_a_table_may_be_named_with_its_own_database(sql: str, dialect: str) -> None:
    assert check(sql, Schema(dialect, [Table(name="Track", kind="table", columns=[])], "Chinook"))


def test_an_escaped_string_is_checked_as_what_it_means() -> None:
    said = check("select U&'d!0061t\\!+000061!!' uescape '!', U&'it''s \\D83D\\DE00'", POSTGRES)
    assert said == "SELECT 'dat\\a!', 'it''s 😀'"


def test_options_of_explain_are_generated() -> None:
    said = check("explain ( format 'json' , COSTS true,verbose) select 1", POSTGRES)
    assert said == "EXPLAIN (FORMAT JSON, COSTS TRUE, VERBOSE) SELECT 1"


@pytest.mark.parametrize("sql", ["select current_schema", "select 'customers'::regclass"])
def test_names_that_read_the_session_or_the_catalog_are_refused_in_duckdb_too(sql: str) -> None:
    with pytest.raises(StatementFailed):
        check(sql, shop_schema("duckdb"))
