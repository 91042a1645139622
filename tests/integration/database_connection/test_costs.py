"""What statements cost: as the database reports it, in the owner's day, and up to the owner's limit."""

import pytest
from cryptography.fernet import Fernet

from app.core.llm.calls import metered
from app.core.secrets import SecretBox
from app.core.storage.port import Storage
from app.core.storage.sqlite import SqliteStorage
from app.modules.database_connection.errors import DatabaseBytesSpent
from app.modules.database_connection.limits import ConnectionLimits
from app.modules.database_connection.model import Connection
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.statement_audit import Asker
from app.modules.usage.errors import BytesSpent
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from tests.support.clickhouse_server import ClickhouseServer
from tests.support.records import no_records

ASKER = Asker(owner="ada", purpose="question")


async def _registered(
    storage: Storage, url: str, *, bytes_per_day: int | None = None
) -> tuple[DatabaseConnections, Connection, Allowances]:
    allowances = Allowances(UsageRepository(storage), Quotas(None, None, None, bytes_per_day))
    connections = DatabaseConnections(
        storage,
        SecretBox(Fernet.generate_key()),
        ConnectionLimits(),
        records=no_records(),
        allowances=allowances,
    )
    return connections, await connections.register("ada", url, "Shop", description=""), allowances


async def test_what_clickhouse_reads_is_counted_and_a_spent_day_refuses_every_statement(
    storage: SqliteStorage, clickhouse: ClickhouseServer
) -> None:
    clickhouse.run(
        "CREATE OR REPLACE TABLE shop.readings (at Int64, value Int64) ENGINE = MergeTree ORDER BY at;\n"
        "INSERT INTO shop.readings SELECT number, number % 7 FROM numbers(200000);\n"
    )
    connections, connection, allowances = await _registered(
        storage, clickhouse.url(), bytes_per_day=4_000_000
    )
    summed = "SELECT sum(value) AS total FROM shop.readings"
    with metered() as meter:
        result = await connections.run(connection, summed, ASKER)
    assert (result.rows_read, result.bytes_read) == (200_000, 1_600_000)
    assert (meter.rows_read, meter.bytes_read) == (200_000, 1_600_000)
    assert meter.database_ms > 0
    # Rows that stream out are all counted, too, though the first of them come before the last is read.
    few = "SELECT at, value FROM shop.readings WHERE value = 3 AND at % 50000 = 4"
    assert (await connections.run(connection, few, ASKER)).rows_read == 200_000
    assert (await allowances.usage("ada")).bytes_today == 1_600_000 + 3_200_000
    with pytest.raises(DatabaseBytesSpent, match="KAI_QUOTAS__BYTES_PER_DAY"):
        await connections.run(connection, "SELECT 1 AS one", ASKER)
    with pytest.raises(BytesSpent):
        await connections.sample("ada", connection.id, "readings")
    await connections.close()


async def test_a_result_of_clickhouse_is_cut_as_any_other_though_the_server_holds_it(
    storage: SqliteStorage, clickhouse: ClickhouseServer
) -> None:
    connections, connection, _ = await _registered(storage, clickhouse.url())
    result = await connections.run(connection, "SELECT a.id FROM shop.customers AS a", ASKER)
    assert not result.truncated
    assert result.rows_read == len(result.rows)
    await connections.close()
