"""Which URLs are accepted, and that refusals never repeat them."""

from pathlib import Path

import pytest

from app.modules.database_connection.engines.urls import read_url, with_kept_secrets
from app.modules.database_connection.errors import UrlNotSupported
from tests.support.cases import assert_each

SERVER = "postgresql://ann:hunter2@db.example.com"

REFUSED = [
    "",
    "hunter2",
    "oracle://ann:hunter2@db/shop",
    "mysql+mysqldb://ann:hunter2@db/shop",
    "mysql://ann:hunter2@/shop",
    "mysql://ann:hunter2@db/shop?client_flag=65536",
    "mysql://ann:hunter2@db/shop?local_infile=1",
    "mysql://ann:hunter2@db/shop?ssl_ca=/etc/hunter2",
    "mysql://ann:hunter2@db/shop?read_default_file=/etc/hunter2",
    "mysql://ann:hunter2@db/shop?unix_socket=/run/hunter2",
    "mysql://ann:hunter2@db/shop?init_command=hunter2",
    "mysql://ann:hunter2@db/shop?ssl_mode=hunter2",
    "duckdb:///hunter2.db",
    "duckdb:///:memory:",
    "duckdb://",
    "duckdb:////tmp?hunter2=1",
    "sqlite+aiosqlite:///hunter2.db",
    "sqlite://",
    "sqlite:///:memory:",
    "sqlite:///file:hunter2.db?uri=true",
    "sqlite:///no/such/hunter2.db",
    "sqlite:////",
    "sqlite://ann:hunter2@host/a.db",
    "postgresql:///shop",
    "postgresql://ann:hunter2@/shop",
    "postgresql://:hunter2@db/shop",
    SERVER,
    f"{SERVER}:port/shop",
    f"{SERVER},other/shop",
    f"{SERVER}/shop?host=/var/run/hunter2",
    f"{SERVER}/shop?service=hunter2",
    f"{SERVER}/shop?passfile=/etc/hunter2",
    f"{SERVER}/shop?options=-chunter2",
    f"{SERVER}/shop?sslkey=hunter2",
    f"{SERVER}/shop?sslmode=hunter2",
    f"{SERVER}/shop?sslmode=require&sslmode=disable",
    f"{SERVER}/shop?connect_timeout=3600",
    f"{SERVER}/shop?connect_timeout=-1",
]


def test_a_url_that_is_not_named_as_supported_is_refused_without_repeating_it() -> None:
    def check(url: str) -> None:
        with pytest.raises(UrlNotSupported) as refused:
            read_url(url)
        assert "hunter2" not in repr(refused.value)
        assert len(refused.value.detail) > 10

    assert_each(REFUSED, check)


def test_a_refusal_says_what_is_supported() -> None:
    with pytest.raises(UrlNotSupported) as refused:
        read_url("oracle://db")
    forms = ("sqlite:///path/to/file", "duckdb:///path/to/file", "parquet:///path/to/folder", "postgresql://")
    assert all(each in refused.value.detail for each in (*forms, "mysql://", "mariadb://", "clickhouse://"))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_is_shown_without_its_password(scheme: str) -> None:
    database = read_url(f"{scheme}://ann:hunter%402@db.example.com/shop?sslmode=require&connect_timeout=10")
    assert database.masked_url == "postgresql://ann@db.example.com:5432/shop"
    assert database.dialect == "postgres"
    assert "hunter" not in repr(database)
    assert read_url(database.url) == database


def test_a_file_is_shown_by_its_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my shop.db").touch()
    monkeypatch.chdir(tmp_path)
    database = read_url("sqlite:///my shop.db")
    assert (database.masked_url, database.dialect) == ("my shop.db", "sqlite")
    assert read_url(database.url) == database


STORED = "postgresql://ann:hunter2@db.example.com:5432/shop?sslmode=require"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            "postgresql://ann@db.example.com/crm",
            "postgresql://ann:hunter2@db.example.com/crm?sslmode=require",
        ),
        (
            "postgres://ann:new@db.example.com:5432/shop",
            "postgres://ann:new@db.example.com:5432/shop?sslmode=require",
        ),
        ("postgresql://ann:@db.example.com/shop", "postgresql://ann:@db.example.com/shop?sslmode=require"),
        (
            "postgresql://ann@new.example.com/shop",
            "postgresql://ann@new.example.com/shop?sslmode=require",
        ),
        (
            "postgresql://ann@db.example.com:5433/shop",
            "postgresql://ann@db.example.com:5433/shop?sslmode=require",
        ),
        (
            "postgresql://bob:own@db.example.com/shop",
            "postgresql://bob:own@db.example.com/shop?sslmode=require",
        ),
    ],
)
def test_a_url_keeps_what_it_leaves_out_and_another_account_no_password(given: str, kept: str) -> None:
    assert with_kept_secrets(given, STORED) == kept


@pytest.mark.parametrize("secret", ["token=t0ken", "private_key=PEM"])
def test_a_key_and_a_token_go_to_no_other_account_and_give_way_to_a_password(secret: str) -> None:
    stored = f"snowflake://ann@myorg-a/SHOP?{secret}&warehouse=asking"
    kept = {
        "snowflake://ann@myorg-a/CRM": f"snowflake://ann@myorg-a/CRM?{secret}&warehouse=asking",
        "snowflake://ann:own@myorg-a/SHOP": "snowflake://ann:own@myorg-a/SHOP?warehouse=asking",
        "snowflake://ann@evil-b/SHOP": "snowflake://ann@evil-b/SHOP?warehouse=asking",
        "snowflake://bob@myorg-a/SHOP": "snowflake://bob@myorg-a/SHOP?warehouse=asking",
        "snowflake://ann@127.0.0.1:9/SHOP": "snowflake://ann@127.0.0.1:9/SHOP?warehouse=asking",
    }

    def check(given: str, expected: str) -> None:
        assert with_kept_secrets(given, stored) == expected

    assert_each(list(kept.items()), check)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann@evil.example.com/shop?sslmode=disable",
        "postgresql://ann@db.example.com/shop?sslmode=disable",
        "mysql://ann@db.example.com:5432/shop",
        "postgresql:///shop",
        "sqlite:////data/shop.db",
        "no address",
    ],
)
def test_no_password_goes_where_it_was_not_given_for(given: str) -> None:
    assert with_kept_secrets(given, STORED) == given


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@ss@host/db",
        "postgresql://u:p@s/s@host:5432/db",
        "mysql://u:@@host/db",
        "mariadb://u:a@b@c@host:3306/db",
    ],
)
def test_a_password_with_a_sign_of_urls_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(UrlNotSupported, match="writes as %40"):
        read_url(url)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_relative_path_to_no_file_is_refused_with_the_form_of_an_absolute_one(kind: str) -> None:
    with pytest.raises(UrlNotSupported, match=f"four slashes: {kind}:////path/to/file$"):
        read_url(f"{kind}:///tmp/x")
    with pytest.raises(UrlNotSupported, match=r"names no existing file\.$"):
        read_url(f"{kind}:////tmp/no such file")
