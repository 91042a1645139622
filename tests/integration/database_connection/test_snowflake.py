"""What is Snowflake's own, beside the contract of every engine."""

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from app.modules.database_connection.connection_steps import take_steps
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import KINDS, read_url
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.results import ResultSet
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed
from tests.support.cases import assert_each
from tests.support.corpus import shop_schema
from tests.support.snowflake_server import TOKEN, SnowflakeServer

OTHER_KEY = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    .decode()
)
KIND = next(each for each in KINDS if each.dialect == "snowflake")


def run(sql: str, url: str) -> ResultSet:
    statement = UncheckedStatement(
        sql=sql,
        schema=shop_schema("snowflake"),
        database=read_url(url),
        limits=StatementLimits(timeout_seconds=60),
        connect_seconds=10,
    )
    return statement.run(Stop())


def test_a_password_a_private_key_and_a_token_sign_in(snowflake: SnowflakeServer) -> None:
    for url in (
        snowflake.url(),
        snowflake.url(private_key=snowflake.private_key),
        snowflake.url(token=TOKEN),
        snowflake.url(role="owner"),
    ):
        assert run("select count(*) from customers", url).rows == [[3]]
        database = read_url(url)
        assert read_url(database.url) == database
        for secret in ("s3cret", "PRIVATE KEY", TOKEN):
            assert secret not in database.masked_url + repr(database)


def test_what_keeps_a_statement_from_running_is_said_with_its_cure(snowflake: SnowflakeServer) -> None:
    wrong = {
        "suspended": (snowflake.url(warehouse="suspended"), "AUTO_RESUME = TRUE"),
        "quota": (snowflake.url(warehouse="capped"), "quota of its resource monitor"),
        "warehouse": (snowflake.url(warehouse="nothing"), "GRANT USAGE ON WAREHOUSE"),
        "role": (snowflake.url(role="unknown"), "GRANT ROLE its name TO USER"),
        "database": (snowflake.url(database="NOTHING"), "no database of this name"),
        "key": (snowflake.url(private_key=OTHER_KEY), "SET RSA_PUBLIC_KEY"),
        "token": (snowflake.url(token="expired"), "make a new one"),
        "password": (snowflake.url().replace("s3cret", "wrong"), "password is wrong"),
    }

    def check(_: str, tried: tuple[str, str]) -> None:
        url, said = tried
        with pytest.raises(DatabaseUnavailable) as refused:
            run("select count(*) from customers", url)
        assert said in refused.value.detail
        assert refused.value.detail.count(". ") == 0  # one sentence
        assert not any(each in refused.value.detail for each in ("s3cret", "expired ", "390", "sfqid"))

    assert_each(list(wrong.items()), check)


def test_what_snowflake_says_of_a_statement_is_read_without_its_codes(snowflake: SnowflakeServer) -> None:
    with pytest.raises(StatementFailed) as failed:
        run("select nothing from customers", snowflake.url())
    assert not any(each in failed.value.detail for each in ("sfqid", "request_id", "(42"))


def test_the_catalog_has_keys_comments_and_both_schemas(snowflake: SnowflakeServer) -> None:
    schema = scan(read_url(snowflake.url()), ConnectionLimits(), Stop())
    assert {table.in_database.schema for table in schema.tables} == {"PUBLIC", "SECRET"}
    customers, orders = schema.by_name["CUSTOMERS"], schema.by_name["ORDERS"]
    assert customers.description == "Who buys"
    assert [column.name for column in customers.columns if column.primary_key] == ["ID"]
    assert [(key.columns, key.referred_table) for key in orders.foreign_keys] == [
        (["CUSTOMER_ID"], "CUSTOMERS")
    ]
    assert {column.type for column in orders.columns} == {"datetime", "integer", "json", "number", "text"}


def test_a_role_that_may_write_is_warned_of_and_one_that_sees_nothing_is_helped(
    snowflake: SnowflakeServer,
) -> None:
    limits = ConnectionLimits()
    assert read_url(snowflake.url()).warnings(Stop(), limits.connect_seconds) == ()
    (warning,) = read_url(snowflake.url(role="owner")).warnings(Stop(), limits.connect_seconds)
    assert "INSERT, OWNERSHIP" in warning
    empty = read_url(snowflake.url(database="EMPTY", role="public"))
    failed = next(each for each in take_steps(empty, limits, Stop(), schemas=()) if each.state == "failed")
    assert (failed.name, "GRANT SELECT ON ALL TABLES" in failed.detail) == ("read", True)


def test_each_step_of_snowflake_passes_or_fails_in_words_of_its_own(snowflake: SnowflakeServer) -> None:
    def failed_at(url: str) -> str:
        found = take_steps(read_url(url), ConnectionLimits(), Stop(), schemas=())
        return next((each.name for each in found if each.state == "failed"), "")

    assert failed_at(snowflake.url()) == ""
    assert failed_at(snowflake.url(role="unknown")) == "sign_in"
    assert failed_at(snowflake.url().replace(str(snowflake.port), "1")) == "port"


def test_a_session_sends_nothing_but_queries(snowflake: SnowflakeServer) -> None:
    procedure = "with p as procedure () returns int language sql as 'begin return 1; end' call p()"
    for sql in ("delete from customers", "call p()", "execute immediate 'select 1'", procedure):
        with (
            read_url(snowflake.url()).session(Stop(), 10) as session,
            pytest.raises(StatementFailed, match="Only queries may run"),
        ):
            session.execute(sql)


REFUSED = {
    "snowflake://a:b@account/": "must name a user, an account and a database",
    "snowflake://a@account/shop": "one of a password, private_key and token",
    "snowflake://a:b@account/shop?token=c": "one of a password, private_key and token",
    "snowflake://a@account/shop?private_key=c": "text of an unencrypted PEM file",
    "snowflake://a:b@account/shop?host=db.example.com": "may have the parameters",
    "snowflake://a:b@evil.example.com%2F/shop": "The account is its identifier",
}


def test_a_url_that_snowflake_cannot_be_reached_by_is_refused() -> None:
    def check(url: str, said: str) -> None:
        with pytest.raises(UrlNotSupported, match=said):
            read_url(url)

    assert_each(list(REFUSED.items()), check)


@pytest.mark.parametrize(
    ("account", "host"),
    [
        ("MYORG-account_1", "myorg-account-1.snowflakecomputing.com"),
        ("xy12345.eu-central-1", "xy12345.eu-central-1.snowflakecomputing.com"),
        ("a.privatelink.snowflakecomputing.com", "a.privatelink.snowflakecomputing.com"),
        ("evil.example.com", "evil.example.com.snowflakecomputing.com"),
        ("203.0.113.7", "203.0.113.7.snowflakecomputing.com"),
        ("myorg-a:8443", "myorg-a.snowflakecomputing.com"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_an_account_is_looked_for_at_snowflake_alone(account: str, host: str) -> None:
    database = read_url(f"snowflake://ann:b@{account}/shop")
    assert f"host='{host}'" in repr(database)
    assert read_url(database.url) == database


def test_the_answers_of_people_make_a_url(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(OTHER_KEY, encoding="ascii")
    answers = dict.fromkeys((each.name for each in KIND.fields), "")
    answers |= {"account": "myorg-a", "database": "SHOP", "user": "ann", "role": "reader"}
    for given in ({"password": "p/w"}, {"key_file": str(tmp_path / "key.pem")}, {"token": TOKEN}):
        database = read_url(KIND.write({**answers, **given}))
        assert database.masked_url == "snowflake://ann@myorg-a/SHOP"
        assert "role='reader'" in repr(database)
    with pytest.raises(UrlNotSupported, match="cannot be read"):
        KIND.write({**answers, "key_file": "/nothing/of/the/kind.pem"})


def test_the_driver_is_loaded_with_the_first_database_of_its_kind() -> None:
    program = (
        "import sys, app.main, app.modules.database_connection.engines.urls as urls;"
        "urls.read_url('postgresql://a:b@localhost/shop');"
        "print([each for each in ('snowflake', 'clickhouse_connect') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_driver_is_refused_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("snowflake")]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("snowflake", "snowflake.connector", "snowflake.connector.errors"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("database", "session"):
        module = f"app.modules.database_connection.engines.snowflake.{name}"
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(UrlNotSupported, match=r"pip install -e '\.\[warehouses\]'"):
        read_url("snowflake://a:b@account/shop")
