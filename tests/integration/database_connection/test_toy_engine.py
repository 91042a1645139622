"""A database engine is a folder and two files of facts: a toy one is added to a copy of KAI, and asked."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.support.cases import assert_each

ROOT = Path(__file__).parents[3]
TOY = {
    "app/modules/sql/engines/materialize.toml": """
name = "Toy"
default_schema = "main"
session_names = ["current_toy"]
view_definitions = "SELECT '', name, sql FROM sqlite_master WHERE type = 'view'"
""",
    "app/modules/database_connection/guard/allowed_functions/materialize.txt": "count sum upper\n",
    "app/modules/database_connection/engines/toy/__init__.py": "",
    "app/modules/database_connection/engines/toy/kind.py": """
from app.modules.database_connection.engines.kinds import file_kind, file_path


def _read(url, access):
    from app.modules.database_connection.engines.toy.database import ToyDatabase

    return ToyDatabase(file_path(url, access))


KINDS = [file_kind("toy", "materialize", read=_read)]
""",
    "app/modules/database_connection/engines/toy/database.py": """
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass

from sqlalchemy import StaticPool, create_engine

from app.modules.database_connection.engines.databases import stopped
from app.modules.database_connection.engines.files import FileDatabase
from app.modules.database_connection.engines.sqlite.catalog import has_tables, list_tables
from app.modules.database_connection.results import RawRows
from graph.errors import StatementFailed


@dataclass(frozen=True)
class ToyDatabase(FileDatabase):
    dialect: str = "materialize"

    @property
    def url(self):
        return f"toy:///{self.path}"

    def schema_names(self, connection):
        return []

    def has_tables(self, connection, schemas):
        return has_tables(connection)

    def list_tables(self, connection, schemas):
        return list_tables(connection)

    @contextmanager
    def session(self, stop, connect_seconds):
        with closing(self._open(stop)) as connection:
            yield ToySession(connection, stop)

    @contextmanager
    def engine(self, stop, connect_seconds):
        with closing(self._open(stop)) as connection:
            yield create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)

    def _open(self, stop):
        connection = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)
        connection.set_progress_handler(lambda: stop.due, 1_000)
        return connection


@dataclass(frozen=True)
class ToySession:
    connection: sqlite3.Connection
    stop: object

    def execute(self, sql):
        try:
            cursor = self.connection.execute(sql)
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            raise (stopped(self.stop) if self.stop.due else StatementFailed(str(error))) from None
        names = [each[0] for each in cursor.description]
        return RawRows(names, [None] * len(names), iter(rows))
""",
}
ASK = """
import sys
from datetime import date

from app.commands.check_sql import check_sql
from app.modules.database_connection.engines.execution import UncheckedStatement
from app.modules.database_connection.engines.urls import KINDS, read_url
from app.modules.database_connection.limits import ConnectionLimits, StatementLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.threads import Stop
from app.modules.sql.engine_data import DATABASE_NAMES
from app.modules.sql_generation.builtin import write
from graph.errors import StatementFailed

url = sys.argv[1]
database = read_url(url)
schema = scan(database, ConnectionLimits(), Stop())
kind = next(each for each in KINDS if "toy" in each.schemes)


def run(sql, seconds=60):
    limits = StatementLimits(timeout_seconds=seconds)
    statement = UncheckedStatement(
        sql=sql, schema=schema, database=database, limits=limits, connect_seconds=5
    )
    try:
        return statement.run(Stop()).rows
    except StatementFailed as failed:
        return failed.detail


print("name", DATABASE_NAMES["materialize"])
print("asked", [each.label for each in kind.fields], kind.write({"path": url.removeprefix("toy:///")}) == url)
answer = write("how many customers are there?", schema, previous=None, today=date(2026, 1, 1))
print("written", run(answer.sql))
print("honest", run("select upper(name) from main.customers"))
print("write", run("delete from customers"))
print("function", run("select lower(name) from customers"))
print("session", run("select current_toy from customers"))
print("table", run("select * from generate_series(1, 2)"))
endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
print("limit", run(endless, 0.2))
check_sql("select nme from customers", "materialize", url, jsonl=None)
"""
SAID = {
    "name": "Toy",
    "asked": "['Path'] True",
    "written": "[[2]]",
    "honest": "[['ANN'], ['BOB']]",
    "write": "Only queries may run",
    "function": "is not allowed here",
    "session": "CURRENT_TOY is a function of the session",
    "table": "may not be used as a table",
    "limit": "The statement was stopped after 0.2 s",
    "block": "(column): unknown column nme",
}


def test_a_toy_engine_is_added_by_a_folder_and_two_files(tmp_path: Path) -> None:
    for package in ("app", "graph"):
        ignored = shutil.ignore_patterns("static")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    for name, text in TOY.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as made:
        made.executescript(
            "create table customers (id integer primary key, name text);"
            "insert into customers values (1, 'Ann'), (2, 'Bob');"
        )
    done = subprocess.run(
        [sys.executable, "-c", ASK, f"toy:///{tmp_path}/shop.db"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def check(name: str, said: str) -> None:
        assert said in found[name]

    assert_each(list(SAID.items()), check)


def test_contributing_names_each_place_of_the_toy() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text[text.index("## Add a database engine") : text.index("## Add a protocol")]
    for name in TOY:
        place = name.replace("materialize", "<dialect>").replace("toy", "<name>")
        assert place.removeprefix("app/modules/database_connection/") in recipe or "__init__" in name
