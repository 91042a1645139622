"""What 10,000 tables in 500 schemas cost on PostgreSQL: `python -m tests.bench.scan`.

Limits: all tables listed within 5 s, a first answer before the scan has ended, 50 ms of processor to link a
question, 100 MB of memory for the catalog.
"""

import asyncio
import gc
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
from cryptography.fernet import Fernet

from app.core.secrets import SecretBox
from app.core.storage.sqlite import open_sqlite
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.sql_generation.business import Business
from app.modules.sql_generation.context import context_for
from app.modules.sql_generation.schema_index import SchemaIndexes
from graph.ports import Question
from migrations.runner import migrate
from tests.support.postgres_server import PostgresServer, postgres_server, programs
from tests.support.records import ASKER, no_records

SCHEMAS = 500
TABLES = (
    *("orders", "order_items", "customers", "products", "payments", "invoices", "refunds", "shipments"),
    *("suppliers", "warehouses", "stock_moves", "employees", "shifts", "campaigns", "visits", "tickets"),
    *("contracts", "machines", "sensor_readings", "budgets"),
)
BUDGET = 6_000
QUESTIONS = (
    "Total amount of tenant 17's invoices by status",
    "How many refunds were there in region 240 last year?",
    "Average of sensor readings of the machines of tenant 499",
    "Which customers have open tickets in tenant 77?",
    "Shipments of tenant 3 by month",
)


def schema_name(number: int) -> str:
    return f"{'region' if number % 2 else 'tenant'}_{number}"


def statements(number: int) -> Iterator[str]:
    """Tables of ten columns; each but the first refers to the one before."""
    schema = schema_name(number)
    yield f"create schema {schema}"
    for position, name in enumerate(TABLES):
        parent = f"references {schema}.{TABLES[position - 1]} (id)" if position else ""
        yield (
            f"create table {schema}.{name} (id integer primary key, parent_id integer {parent}, status text, "
            "city text, label text, note text, placed date, amount numeric(10, 2), quantity integer, "
            "is_open boolean)"
        )
        yield (
            f"insert into {schema}.{name} select n, null, 'status ' || n % 4, 'City ' || n % 3, "
            "'label ' || n, '', date '2024-01-01' + n, n, n, n % 2 = 0 from generate_series(1, 5) n"
        )


def build(server: PostgresServer) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as opened:
        for number in range(SCHEMAS):
            with opened.transaction():
                opened.execute(";".join(statements(number)).encode())
        opened.execute("analyze")


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def measure(connections: DatabaseConnections, connection: Connection) -> None:
    before = resident_mb()
    begun, worked = time.perf_counter(), time.process_time()
    await connections.start_scan("bench", connection.id)
    while (await connections.scan_progress("bench", connection.id)).tables_total is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    progress = await connections.scan_progress("bench", connection.id)
    took, worked = time.perf_counter() - begun, time.process_time() - worked
    print(f"{progress.tables_total} tables listed after {took:.2f} s (limit 5), {worked:.2f} s of processor")
    print(f"memory of the catalog: {resident_mb() - before:.0f} MB (limit 100)")
    indexes = SchemaIndexes(4)
    await link(connections, connection, indexes, "first question")
    sql = f"SELECT status, sum(amount) FROM {schema_name(17)}.invoices GROUP BY status"
    await connections.run(connection, sql, ASKER)
    progress = await connections.scan_progress("bench", connection.id)
    print(
        f"first answer after {time.perf_counter() - begun:.2f} s, "
        f"scan {progress.state}: {progress.tables_done} of {progress.tables_total} tables read"
    )
    for question in QUESTIONS:
        await asyncio.sleep(1.5)
        await link(connections, connection, indexes, "during the scan", question)
    while (await connections.scan_progress("bench", connection.id)).state == "running":  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    progress = await connections.scan_progress("bench", connection.id)
    print(
        f"scan {progress.state} after {time.perf_counter() - begun:.1f} s, {progress.tables_done} tables read"
    )
    for question in QUESTIONS:
        await link(connections, connection, indexes, "after the scan", question)
    print(f"memory of catalog, values and indexes: {resident_mb() - before:.0f} MB")


async def link(
    connections: DatabaseConnections,
    connection: Connection,
    indexes: SchemaIndexes,
    when: str,
    question: str = QUESTIONS[0],
) -> None:
    scanned = await connections.scanned_schema(connection)
    begun = time.thread_time()
    index = indexes.of(connection.id, scanned)
    shown = context_for(Question(text=question), index, Business(), budget_tokens=BUDGET)
    milliseconds = (time.thread_time() - begun) * 1_000
    tables = shown["used"]["tables"] if shown["used"] else []
    print(f"{when}: linked in {milliseconds:.0f} ms, {tables[:3]}")


async def main() -> None:
    installed = programs()
    assert installed is not None, "no PostgreSQL server is installed here"
    async with AsyncExitStack() as opened:
        server = opened.enter_context(postgres_server(installed))
        begun = time.perf_counter()
        build(server)
        print(f"built in {time.perf_counter() - begun:.0f} s")
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        storage = await opened.enter_async_context(open_sqlite(folder / "kai.db"))
        await migrate(storage)
        connections = DatabaseConnections(
            storage, SecretBox(Fernet.generate_key()), ConnectionLimits(), records=no_records()
        )
        opened.push_async_callback(connections.close)
        connection = await connections.register("bench", server.url("postgres"), "many", description="")
        await measure(connections, connection)


if __name__ == "__main__":
    asyncio.run(main())
