"""What is ClickHouse's own, beside the contract of every engine."""

import asyncio
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support.clickhouse_server import ClickhouseServer
from tests.support.corpus import shop_schema
from tests.support.fault_proxy import fault_proxy


def run(sql: str, url: str, schema: Schema | None = None) -> ResultSet:
    statement = UncheckedStatement(
        sql=sql,
        schema=schema or shop_schema("clickhouse"),
        database=read_url(url),
        limits=StatementLimits(timeout_seconds=60),
        connect_seconds=60,
    )
    return statement.run(Stop())


def test_a_statement_that_reads_more_than_the_url_allows_is_refused_with_the_cure(
    clickhouse: ClickhouseServer,
) -> None:
    few = f"{clickhouse.url()}?max_bytes_to_read=1000"
    assert run("select count(*) from customers", few).rows == [[3]]
    with pytest.raises(StatementFailed, match="Add filters"):
        run("select sum(number) from numbers(1000000)", few)


def test_an_outer_join_without_a_match_gives_null(clickhouse: ClickhouseServer) -> None:
    sql = "select c.name from customers c left join orders o on o.customer_id = c.id where o.id is null"
    assert run(sql, clickhouse.url()).rows == [["Zoë"]]


def test_a_column_wins_over_an_alias_of_its_name(clickhouse: ClickhouseServer) -> None:
    sql = "select email as name, name as shown from customers where id = 1"
    assert run(sql, clickhouse.url()).rows == [["ann@example.com", "Ann"]]


def test_nested_values_and_comments_are_read(clickhouse: ClickhouseServer) -> None:
    found = run("select tags, map('a', 1) as m from orders where id = 1", clickhouse.url())
    assert [column.type for column in found.columns] == ["json", "json"]
    assert found.rows == [[["new", "gift"], {"a": 1}]]
    schema = scan(read_url(clickhouse.url()), ConnectionLimits(), Stop())
    assert schema.by_name["customers"].description == "Who buys"
    assert schema.by_name["spending"].kind == "view"


def test_tables_of_two_databases_are_read_by_their_full_names(clickhouse: ClickhouseServer) -> None:
    schema = scan(read_url(clickhouse.url()), ConnectionLimits(), Stop())
    assert {table.in_database.schema for table in schema.tables} == {"secret", "shop"}
    joined = "select c.name, s.salary from shop.customers c join secret.salaries s on s.name = c.name"
    assert run(joined, clickhouse.url(), schema).rows == [["Ann", 100]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?secure=maybe", "secure is true or false"),
        ("?max_bytes_to_read=lots", "max_bytes_to_read is a whole number"),
        ("?readonly=0", "may have the parameters secure, max_bytes_to_read"),
    ],
)
def test_a_parameter_that_is_not_known_is_refused(query: str, said: str) -> None:
    with pytest.raises(UrlNotSupported, match=said):
        read_url(f"clickhouse://a:b@localhost/shop{query}")


def test_a_missing_driver_is_refused_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("clickhouse_connect")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "clickhouse_connect", None)
    monkeypatch.delitem(
        sys.modules, "app.modules.database_connection.engines.clickhouse.database", raising=False
    )
    monkeypatch.delitem(
        sys.modules, "app.modules.database_connection.engines.clickhouse.session", raising=False
    )
    with pytest.raises(UrlNotSupported, match=r"pip install -e '\.\[warehouses\]'"):
        read_url("clickhouse://a:b@localhost/shop")


def test_a_redirect_of_the_server_is_not_followed(clickhouse: ClickhouseServer) -> None:
    class Redirects(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{clickhouse.port}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Redirects)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    elsewhere = clickhouse.url().replace(str(clickhouse.port), str(server.server_port))
    try:
        with pytest.raises(DatabaseUnavailable, match="cannot be used"):
            run("select 1", elsewhere)
    finally:
        server.shutdown()
        server.server_close()


async def test_a_server_that_dies_in_the_middle_of_a_result_is_unavailable(
    clickhouse: ClickhouseServer,
) -> None:
    async with fault_proxy(clickhouse.port) as proxy:
        url = clickhouse.url().replace(f":{clickhouse.port}/", f":{proxy.port}/")
        few = "select number, repeat('x', 500) as text from numbers(100)"
        assert len((await asyncio.to_thread(run, few, url)).rows) == 100
        proxy.cut_after = 150_000
        with pytest.raises(DatabaseUnavailable, match="broke the connection off"):
            await asyncio.to_thread(run, few.replace("(100)", "(9000)"), url)
