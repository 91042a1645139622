"""What a schema of a thousand tables costs: `python -m tests.bench.thousand_tables [--postgres]`."""

import asyncio
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path

from cryptography.fernet import Fernet

from app.core.llm.tokens import approximate_tokens
from app.core.secrets import SecretBox
from app.core.storage.sqlite import open_sqlite
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.scan.scanned import ScannedSchema
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.business import Business
from app.modules.sql_generation.checking.check import check
from app.modules.sql_generation.context import context_for
from app.modules.sql_generation.schema_index import SchemaIndex
from graph.ports import Question
from migrations.runner import migrate
from tests.support.postgres_server import postgres_server, programs
from tests.support.records import ASKER, no_records

TABLES = 1_000
ROWS = 300
WORDS = ("order", "invoice", "customer", "sensor", "payment", "ticket", "product", "machine", "route")
BUDGET = 6_000
SQL = "SELECT t.status, sum(t.amount) FROM {} AS t WHERE t.city = 'City 7' GROUP BY t.status"


def name(number: int) -> str:
    return f"{WORDS[number % 9]}_{WORDS[number // 9 % 9]}_{number}"


def statements() -> Iterator[str]:
    """Tables of fifteen columns; each but the first nine refers to one of them."""
    for number in range(TABLES):
        columns = [f"extra_{each} integer" for each in range(8)]
        parent = f", parent_id integer references {name(number % 9)} (id)" if number >= 9 else ""
        yield (
            f"create table {name(number)} (id integer primary key, status text, city text, label text, "
            f"placed date, amount numeric(10, 2), {', '.join(columns)}{parent})"
        )
        values = ", ".join(
            f"({row}, 'status {row % 4}', 'City {row % 60}', 'label {number} {row}', "
            f"'2024-01-{row % 28 + 1:02}', {row})"
            for row in range(ROWS)
        )
        yield f"insert into {name(number)} (id, status, city, label, placed, amount) values {values}"


@contextmanager
def database(folder: Path, postgres: bool) -> Iterator[str]:
    if not postgres:
        path = folder / "thousand.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements():
                connection.execute(statement)
        yield f"sqlite:///{path}"
        return
    import psycopg

    installed = programs()
    assert installed is not None, "no PostgreSQL server is installed here"
    with postgres_server(installed) as server:
        with psycopg.connect(server.url("postgres")) as opened:
            for statement in statements():
                opened.execute(statement.encode())
        yield server.url("postgres")


async def scanned(connections: DatabaseConnections, url: str) -> ScannedSchema:
    connection = await connections.register("bench", url, "thousand", description="")
    begun = time.perf_counter()
    await connections.start_scan("bench", connection.id)
    while (await connections.scan_progress("bench", connection.id)).tables_total is None:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    print(f"all tables known after {time.perf_counter() - begun:.2f} s")
    waits: list[float] = []
    while (await connections.scan_progress("bench", connection.id)).state == "running":
        asked = time.perf_counter()
        await connections.run(connection, SQL.format(name(3)), ASKER)
        waits.append(time.perf_counter() - asked)
        await asyncio.sleep(0.5)
    progress = await connections.scan_progress("bench", connection.id)
    print(f"profiles of {progress.tables_done} complete after {time.perf_counter() - begun:.2f} s")
    if waits:
        middle, worst = statistics.median(waits) * 1_000, max(waits) * 1_000
        print(f"{len(waits)} statements meanwhile: {middle:.0f} ms in the middle, {worst:.0f} ms at worst")
    return await connections.scanned_schema(connection)


def linked(scanned: ScannedSchema) -> None:
    index = SchemaIndex(scanned)
    text = ""
    question = Question(text="Total amount of claims of the payment machines by status in City 7?")
    for turn in ("first", "later"):
        begun = time.perf_counter()
        shown = context_for(question, index, Business(), budget_tokens=BUDGET)
        text = shown["schema"] + shown["details"]
        took = (time.perf_counter() - begun) * 1_000
        print(f"{turn} question linked in {took:.0f} ms")
    print(f"prompt: {index.tokens} tokens of schema before linking, {approximate_tokens(text)} after")
    begun = time.perf_counter()
    names = index.names
    print(f"names indexed in {(time.perf_counter() - begun) * 1_000:.0f} ms")
    begun = time.perf_counter()
    for number in range(100):
        assert not check(SQL.format(name(number)), names).faults
    print(f"statement checked in {(time.perf_counter() - begun) * 10:.2f} ms")


async def main() -> None:
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        url = opened.enter_context(database(folder, "--postgres" in sys.argv))
        storage = await opened.enter_async_context(open_sqlite(folder / "kai.db"))
        await migrate(storage)
        connections = DatabaseConnections(
            storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
        )
        opened.push_async_callback(connections.close)
        linked(await scanned(connections, url))
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB of memory")


if __name__ == "__main__":
    asyncio.run(main())
