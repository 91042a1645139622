"""The estimate of a statement by MySQL and MariaDB, by EXPLAIN."""

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import Connection


@dataclass
class _Joined:
    """The tables of a SELECT that were joined so far, and how often it runs."""

    read: float = 0
    result: float = 1
    times: float = 1


def estimate_rows(connection: Connection, sql: str) -> int:
    """Returns about how many rows are read, and made by joins. A table that is joined without a hash or a
    buffer is read once for each row of the tables before it, and so is a subquery that depends on the row.

    Raises `sqlalchemy.exc.DBAPIError`.
    """
    explained = connection.execution_options(no_parameters=True).exec_driver_sql(f"EXPLAIN {sql}")
    selects: defaultdict[object, _Joined] = defaultdict(_Joined)
    for line in explained.mappings():
        rows = float(line["rows"] or 0)
        joined = selects[line["id"]]
        if str(line["select_type"]).startswith(("DEPENDENT", "UNCACHEABLE")):
            outermost = next(iter(selects.values()))
            joined.times = max(outermost.read, 1)
        is_buffered = "join buffer" in str(line["Extra"] or "")
        joined.read += rows if is_buffered else rows * joined.result
        filtered = line.get("filtered")
        joined.result *= max(rows * (100 if filtered is None else float(filtered)) / 100, 1)
    return round(sum(max(each.read, each.result) * each.times for each in selects.values()))
