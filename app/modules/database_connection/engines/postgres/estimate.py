"""PostgreSQL's estimate of a statement, by EXPLAIN."""

import re
from collections.abc import Mapping
from contextlib import closing
from math import inf
from typing import Any

import psycopg
from sqlalchemy import Connection, text

_TABLE_ROWS = text(
    "SELECT greatest(c.reltuples, 0) FROM pg_catalog.pg_class AS c "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = :schema AND c.relname = :name"
)


def estimate_rows(connection: Connection, sql: str) -> int | None:
    """Returns about how many rows the plan goes through: those of each step, as often as it runs. A scan of a
    whole table counts all its rows, also those that a filter leaves out.

    Returns None for a statement that the server cannot plan. Raises `sqlalchemy.exc.DBAPIError`.
    """
    # `binary` selects the extended protocol, which accepts a single statement only.
    with closing(connection.connection.cursor(binary=True)) as cursor:
        try:
            cursor.execute(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}".encode())
        except psycopg.Error:
            return None
        (((found,),),) = cursor.fetchall()
    return round(_rows(connection, found["Plan"], 1, most=inf))


def _rows(connection: Connection, node: Mapping[str, Any], times: float, *, most: float) -> float:
    """Returns the rows of a step and of those below it. `most`: what the step above takes of its rows."""
    rows = float(node["Plan Rows"])
    if node["Node Type"] == "Seq Scan":
        place = {"schema": node.get("Schema"), "name": node["Relation Name"]}
        rows = max(rows, float(connection.scalar(_TABLE_ROWS, place) or 0))
    total = rows * times
    taken = float(node["Plan Rows"]) if node["Node Type"] == "Limit" else inf
    for child in node.get("Plans", ()):
        runs = times * _runs(node, child, min(rows, most))
        total += _rows(connection, child, runs, most=taken)
    return total


def _runs(node: Mapping[str, Any], child: Mapping[str, Any], rows: float) -> float:
    """Returns how often a step of `rows` runs one below it: the inner side of a nested loop once for each row
    of the outer side, and a subquery that depends on the row once for each.
    """
    match child.get("Parent Relationship"):
        case "Inner" if node["Node Type"] == "Nested Loop":
            outer = next(each for each in node["Plans"] if each["Parent Relationship"] == "Outer")
            return max(float(outer["Plan Rows"]), 1)
        case "SubPlan" if not _is_hashed(node, child["Subplan Name"]):
            return max(rows, 1)
        case _:
            return 1


def _is_hashed(node: Mapping[str, Any], subplan: str) -> bool:
    """True if a step runs a subquery once, and keeps its rows."""
    own = [value for name, value in node.items() if name != "Plans"]
    return re.search(rf"\bhashed {re.escape(subplan)}\b", str(own)) is not None
