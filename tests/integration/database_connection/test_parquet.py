"""Parquet files of a folder, as the tables of a database."""

import os
from pathlib import Path

import duckdb
import pytest

from app.modules.database_connection.engines.databases import Database
from app.modules.database_connection.engines.duckdb.lake import parquet_tables
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.errors import UrlNotSupported
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.network import Access
from app.modules.database_connection.results import ResultSet, collect
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Orders of two years in folders, customers in a file with a quote in its name, a secret beside them."""
    lake = tmp_path / "lake"
    for year in (2023, 2024):
        (lake / "orders" / f"year={year}").mkdir(parents=True)
        copy(
            f"select {year} * 10 as id, 1 as customer_id, 1.50 as total",
            lake / f"orders/year={year}/a.parquet",
        )
    copy("select 1 as id, 'Ann' as name", lake / "cust'omers.parquet")
    copy("select 'Ann' as name, 100 as salary", tmp_path / "salaries.parquet")
    return lake


def copy(query: str, path: Path) -> None:
    with duckdb.connect() as connection:
        connection.sql(query).write_parquet(str(path))


def run(sql: str, database: Database) -> ResultSet:
    schema = scan(database, ConnectionLimits(), Stop())
    return UncheckedStatement(
        sql=sql,
        schema=schema,
        database=database,
        limits=StatementLimits(timeout_seconds=60),
        connect_seconds=60,
    ).run(Stop())


def run_unguarded(sql: str, database: Database) -> ResultSet:
    stop = Stop()
    with database.session(stop, 60) as session:
        return collect(session.execute(sql), StatementLimits())


def test_files_and_folders_are_tables_and_names_of_folders_are_columns(folder: Path) -> None:
    database = read_url(f"parquet:///{folder}")
    assert read_url(database.url) == database
    schema = scan(database, ConnectionLimits(), Stop())
    assert schema.by_name.keys() == {"cust'omers", "orders"}
    joined = 'select c.name, o.year, sum(o.total) as total from orders o join "cust\'omers" c '
    found = run(f"{joined} on o.customer_id = c.id group by all order by o.year", database)
    assert found.rows == [["Ann", 2023, 1.5], ["Ann", 2024, 1.5]]


def test_a_new_file_is_read_by_the_next_statement(folder: Path) -> None:
    database = read_url(f"parquet:///{folder}")
    (folder / "orders" / "year=2025").mkdir()
    copy("select 20250 as id, 1 as customer_id, 2.50 as total", folder / "orders/year=2025/a.parquet")
    assert run("select count(*) from orders", database).rows == [[3]]


def test_a_folder_is_walked_again_only_once_something_came_or_went(tmp_path: Path) -> None:
    for name in ("eu/west", "us"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.parquet").touch()
    places = (tmp_path, tmp_path / "eu", tmp_path / "eu/west", tmp_path / "us")

    def settle() -> None:
        for place in places:
            os.utime(place, (1_700_000_000, 1_700_000_000))

    settle()
    first = parquet_tables(tmp_path)
    (tmp_path / "eu/west/b.parquet").touch()
    assert len(parquet_tables(tmp_path)["eu"]) == 2
    (tmp_path / "eu/west/b.parquet").unlink()
    settle()
    assert parquet_tables(tmp_path) == first
    (tmp_path / "us/unseen.parquet").touch()
    settle()  # as if nothing had come
    assert parquet_tables(tmp_path) == first
    (tmp_path / "us/b.parquet").touch()
    assert len(parquet_tables(tmp_path)["us"]) == 3


def test_a_folder_with_too_many_files_of_other_kinds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    for name in range(50_000):
        os.mknod(tmp_path / str(name))
    with pytest.raises(DatabaseUnavailable, match=r"50,000 files and folders.*Name a folder in it"):
        parquet_tables(tmp_path)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from '{beside}'",
        "select * from read_parquet('{beside}')",
        "select * from read_parquet('{folder}/../salaries.parquet')",
        "select * from read_parquet('{folder}/linked.parquet')",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from glob('/etc/*')",
        "copy orders to '{folder}/stolen.parquet'",
        "attach '{folder}/stolen.db'",
        "create table stolen as select * from orders",
        "create or replace view orders as select 1",
        "set enable_external_access = true",
        "load httpfs",
        "install httpfs",
    ],
)
def test_a_session_alone_reads_no_other_file_and_writes_none(sql: str, folder: Path) -> None:
    beside = folder.parent / "salaries.parquet"
    (folder / "linked.parquet").symlink_to(beside)
    database = read_url(f"parquet:///{folder}")
    before = sorted(folder.rglob("*"))
    with pytest.raises((StatementFailed, DatabaseUnavailable)):
        run_unguarded(sql.format(beside=beside, folder=folder), database)
    assert sorted(folder.rglob("*")) == before


def test_a_link_out_of_the_folder_is_no_table(folder: Path) -> None:
    (folder / "linked.parquet").symlink_to(folder.parent / "salaries.parquet")
    schema = scan(read_url(f"parquet:///{folder}"), ConnectionLimits(), Stop())
    assert "linked" not in schema.by_name


def test_what_is_wrong_with_a_folder_is_said_with_its_file(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.parquet").write_text("no Parquet")
    with pytest.raises(DatabaseUnavailable, match=r"cannot be used: .*broken\.parquet") as refused:
        run_unguarded("select 1", read_url(f"parquet:///{folder}"))
    assert str(tmp_path) not in str(refused.value)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatabaseUnavailable, match="no Parquet files"):
        run_unguarded("select 1", read_url(f"parquet:///{tmp_path / 'empty'}"))
    (folder / "broken.parquet").rename(folder / "orders.parquet")
    with pytest.raises(DatabaseUnavailable, match="two tables of the name orders"):
        run_unguarded("select 1", read_url(f"parquet:///{folder}"))


def test_a_folder_without_parquet_files_is_no_table(folder: Path) -> None:
    (folder / "cust'omers").mkdir()
    assert run("select count(*) from orders", read_url(f"parquet:///{folder}")).rows == [[2]]


@pytest.mark.parametrize("url", ["parquet:///", "parquet://"])
def test_a_url_without_a_folder_is_refused(url: str) -> None:
    with pytest.raises(UrlNotSupported, match="must name a folder"):
        read_url(url)


def test_a_folder_is_opened_where_databases_may_be_and_not_over_kais_own_data(folder: Path) -> None:
    with pytest.raises(UrlNotSupported, match="KAI_DATABASES__FOLDERS"):
        read_url(f"parquet:///{folder}", Access(folders=(folder / "orders",)))
    for own in (folder / "orders", folder.parent, folder):
        with pytest.raises(UrlNotSupported, match="KAI's own data"):
            read_url(f"parquet:///{folder}", Access(own_folders=(own,)))
    with pytest.raises(UrlNotSupported, match="no existing folder"):
        read_url(f"parquet:///{folder}/nowhere")


def test_a_slow_statement_ends_at_its_time_limit(folder: Path) -> None:
    slow = UncheckedStatement(
        sql="select count(*) from range(100000000000) a, orders",
        schema=scan(read_url(f"parquet:///{folder}"), ConnectionLimits(), Stop()),
        database=read_url(f"parquet:///{folder}"),
        limits=StatementLimits(timeout_seconds=0.5),
        connect_seconds=60,
    )
    with pytest.raises(StatementFailed, match="stopped after"):
        slow.run(Stop())
