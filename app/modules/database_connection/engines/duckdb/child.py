"""Child process with one connection to a DuckDB file, or to one in memory; `process.py` starts it.
Imports nothing of KAI.

It reads requests from standard input and answers on standard output, one line of JSON each. Its memory has
a limit, and the parent kills it when a statement takes too long. A value that JSON cannot express is written
as {"$": [kind, text]}.
"""

import base64
import json
import os
import re
import resource
import sys
import threading
import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from math import isfinite

import _duckdb as duckdb  # the engine alone starts in half the time of its Python library

_LONGEST_CELL = 1_000_000  # characters; KAI keeps fewer
_LONGEST_ANSWER = 64 * 1024 * 1024
_LOCKED = {"enable_external_access", "lock_configuration"}  # set once the paths of files are
_QUERIES = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
_QUERY = re.compile(r"\s*(\(\s*)*(SELECT|WITH|FROM|PIVOT|PIVOT_WIDER|EXPLAIN)\b(?!\s+ANALYZE)", re.IGNORECASE)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    opened = json.loads(sys.stdin.readline())
    for bound, most in ((resource.RLIMIT_DATA, opened["memory_bytes"]), (resource.RLIMIT_FSIZE, 0)):
        resource.setrlimit(bound, (most, most))
    try:
        if opened["parquet"]:
            connection = _over_parquet(opened["parquet"], opened["configuration"])
        else:
            connection = duckdb.connect(
                opened["path"], read_only=opened["path"] != ":memory:", config=opened["configuration"]
            )
    except duckdb.Error as error:
        _say({"error": [type(error).__name__, str(error)]})
        return
    _say({})
    for line in sys.stdin:
        _say(_answer(connection, json.loads(line)))


def _over_parquet(
    tables: dict[str, list[str]], configuration: dict[str, str | bool | int | float | list[str]]
) -> duckdb.DuckDBPyConnection:
    """Open a database in memory with a view of the files of each table. It can read these files alone."""
    import duckdb as library  # noqa: F401, PLC0415 - it adds `read_parquet`

    unlocked = {name: value for name, value in configuration.items() if name not in _LOCKED}
    connection = duckdb.connect(":memory:", config=unlocked)
    connection.execute("SET allowed_paths = ?", [[path for paths in tables.values() for path in paths]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    for name, paths in tables.items():
        connection.read_parquet(paths, hive_partitioning=True, union_by_name=True).create_view(name)
    return connection


def _answer(connection: duckdb.DuckDBPyConnection, request: dict[str, object]) -> dict[str, object]:
    try:
        if "fetch" in request:
            return {
                "rows": [
                    [_plain(cell) for cell in row] for row in connection.fetchmany(int(str(request["fetch"])))
                ]
            }
        sql = str(request["sql"])
        parameters = request.get("parameters")
        if parameters is None and not _is_one_query(connection, sql):
            return {"error": ["NotOneQuery", ""]}
        connection.execute(sql, parameters or None)
        return {"columns": [[each[0], str(each[1])] for each in connection.description or ()]}
    except duckdb.Error as error:
        return {"error": [type(error).__name__, str(error)]}
    except MemoryError:
        return {"error": ["OutOfMemoryException", ""]}


def _is_one_query(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    statements = connection.extract_statements(sql)
    try:
        if len(statements) == 1 and statements[0].type == duckdb.StatementType.MULTI:
            return _QUERY.match(sql) is not None  # PIVOT first queries its columns
        return len(statements) == 1 and statements[0].type in _QUERIES
    except ValueError:
        return False  # a statement type that DuckDB's Python API does not know


def _plain(value: object) -> object:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if isfinite(value) else {"$": ["float", repr(value)]}
        case str():
            return value[:_LONGEST_CELL]
        case bytes():
            return {"$": ["bytes", base64.b64encode(value[:_LONGEST_CELL]).decode()]}
        case Decimal():
            return {"$": ["decimal", str(value)]}
        case datetime() if value.tzinfo is not None:
            return {"$": ["datetime", value.astimezone(UTC).isoformat()]}  # not in the local time zone
        case datetime() | date() | clock():
            return {"$": [type(value).__name__, value.isoformat()]}
        case timedelta():
            return {"$": ["timedelta", f"{value.days} {value.seconds} {value.microseconds}"]}
        case list() | tuple():
            return [_plain(each) for each in value]
        case dict():
            return {"$": ["map", [[_plain(key), _plain(each)] for key, each in value.items()]]}
    return str(value)


def _say(answer: dict[str, object]) -> None:
    line = json.dumps(answer)
    if len(line) > _LONGEST_ANSWER:
        line = json.dumps({"error": ["OutOfMemoryException", ""]})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _end_with(parent: int) -> None:
    """End this process once its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
