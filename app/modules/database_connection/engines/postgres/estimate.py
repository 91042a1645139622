"""PostgreSQL's estimate of a statement, by EXPLAIN."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, text

_TABLE_ROWS = text(
    "SELECT greatest(c.reltuples, 0) FROM pg_catalog.pg_class AS c "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = :schema AND c.relname = :name"
)


def estimate_rows(connection: Connection, sql: str) -> int:
    """Returns about how many rows the plan goes through: those of each step, as often as it runs. A scan of a
    whole table counts all its rows, also those that a filter leaves out.

    Raises `sqlalchemy.exc.DBAPIError`.
    """
    explained = connection.execution_options(no_parameters=True).exec_driver_sql(
        f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}"
    )
    (found,) = explained.scalar_one()
    return round(_rows(connection, found["Plan"], 1))


def _rows(connection: Connection, node: Mapping[str, Any], times: float) -> float:
    rows = float(node["Plan Rows"])
    if node["Node Type"] == "Seq Scan":
        place = {"schema": node.get("Schema"), "name": node["Relation Name"]}
        rows = max(rows, float(connection.scalar(_TABLE_ROWS, place) or 0))
    total = rows * times
    for child in node.get("Plans", ()):
        # A nested loop runs its inner side once for each row of its outer side.
        is_inner = node["Node Type"] == "Nested Loop" and child.get("Parent Relationship") == "Inner"
        outer = float(node["Plans"][0]["Plan Rows"]) if is_inner else 1
        total += _rows(connection, child, times * max(outer, 1))
    return total
