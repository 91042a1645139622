"""The container image, built by the steps of its Dockerfile, asks every kind of database."""

import json
import tempfile
from pathlib import Path

import duckdb
import openpyxl
import psycopg
import pytest

from tests.support.clickhouse_server import ClickhouseServer
from tests.support.dockerfile import BuiltImage
from tests.support.mariadb_server import MariadbServer
from tests.support.postgres_server import PostgresServer
from tests.support.wheels import ROOT

pytestmark = pytest.mark.timeout(900)  # the first test builds the image: an environment and the page
ROWS = [("Ada", "France"), ("Bo", "France"), ("Cy", "Norway")]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> BuiltImage:
    built = BuiltImage(tmp_path_factory.mktemp("image"))
    built.build(ROOT)
    built.environment["KAI_DATABASES__NETWORKS"] = '["127.0.0.0/8"]'
    built.environment["KAI_DATABASES__FOLDERS"] = json.dumps([tempfile.gettempdir()])
    return built


def test_the_image_asks_postgresql(image: BuiltImage, postgres: PostgresServer, tmp_path: Path) -> None:
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as server:
        server.execute("CREATE DATABASE image")
    with psycopg.connect(postgres.url("image")) as shop:
        shop.execute("CREATE TABLE customers (name text, country text)")
        with shop.cursor() as cursor:
            cursor.executemany("INSERT INTO customers VALUES (%s, %s)", ROWS)
    assert_answers(image, postgres.url("image"), tmp_path)


def test_the_image_asks_mariadb(image: BuiltImage, mariadb: MariadbServer, tmp_path: Path) -> None:
    values = ", ".join(map(str, ROWS))
    mariadb.run(
        "CREATE DATABASE image; USE image; CREATE TABLE customers (name text, country text);"
        f"INSERT INTO customers VALUES {values};"
        "CREATE USER image@'127.0.0.1' IDENTIFIED BY 's3cret/with@signs';"
        "GRANT SELECT ON image.* TO image@'127.0.0.1';"
    )
    assert_answers(image, mariadb.url("image", "image"), tmp_path)


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "duckdb"])
def test_the_image_asks_files(image: BuiltImage, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"customers.{ending}"
    with duckdb.connect(str(path) if ending == "duckdb" else ":memory:") as made:
        made.execute("CREATE TABLE customers (name text, country text)")
        made.executemany("INSERT INTO customers VALUES (?, ?)", ROWS)
        if ending in {"csv", "parquet"}:
            made.execute(f"COPY customers TO '{path}' (FORMAT {ending})")
    if ending == "xlsx":
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "customers"
        for row in [("name", "country"), *ROWS]:
            sheet.append(row)
        book.save(path)
    assert_answers(image, f"duckdb:///{path}" if ending == "duckdb" else str(path), tmp_path)


def test_the_tag_of_all_drivers_asks_a_warehouse(
    image: BuiltImage, clickhouse: ClickhouseServer, tmp_path: Path
) -> None:
    values = ", ".join(map(str, ROWS))
    clickhouse.run(
        "CREATE DATABASE image;\nCREATE TABLE image.buyers (name String, country String) "
        f"ENGINE = MergeTree ORDER BY name;\nINSERT INTO image.buyers VALUES {values};\n"
    )
    image.build_all(ROOT)
    assert_answers(image, clickhouse.url("image"), tmp_path, things="buyers")
    python = str(image.folder / "opt/kai/bin/python")
    assert image.run(python, "-c", "import snowflake.sqlalchemy; print('there')", cwd=tmp_path) == "there\n"


def assert_answers(image: BuiltImage, database: str, folder: Path, *, things: str = "customers") -> None:
    program, *_ = image.command
    said = image.run(program, "ask", f"How many {things} per country?", "--db", database, cwd=folder)
    assert "France" in said
    assert "Norway" in said
