"""ClickHouse's estimate of a statement, by EXPLAIN ESTIMATE."""

from typing import cast

from clickhouse_connect.dbapi.connection import Connection as ClickhouseConnection
from clickhouse_connect.driver.exceptions import ClickHouseError
from sqlalchemy import Connection


def estimate_rows(connection: Connection, sql: str) -> int | None:
    """Returns how many rows of tables the statement will read at most. Views and functions count nothing.

    Returns None for a statement that the server cannot plan.
    """
    driver = cast("ClickhouseConnection", connection.connection.driver_connection)
    try:
        found = driver.client.query(f"EXPLAIN ESTIMATE {sql}")
    except ClickHouseError:
        return None
    rows = found.column_names.index("rows") if found.result_rows else 0
    return sum(int(line[rows]) for line in found.result_rows)
