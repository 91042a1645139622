"""Facts of each engine that the contract of an engine asks for, by dialect. A new engine adds its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

_RUNAWAY = "with recursive n(x) as (select 1 union all select x + 1 from n) select {} from n"
_VALUES = (
    "select 9007199254740993 as i, cast('12.50' as decimal(10, 2)) as n, 'Zoë' as t, cast(null as {}) as z, "
    "cast('2024-02-29' as date) as d, {} as m"
)
_SERVER_CAUSES = {
    "password": "the user name or the password is wrong",
    "database": "no database of this name",
    "port": "nothing listens at this host and port",
}
_TYPES = ("integer", "number", "text", "text", "date", "datetime")
_ROW: Sequence[JsonValue] = ("9007199254740993", 12.5, "Zoë", None, "2024-02-29", "2024-02-29T10:00:00")


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What one engine is held to."""

    runaway: str = _RUNAWAY.format("count(*)")
    """A statement that ends after minutes at the earliest, and reads no table."""
    endless: str = _RUNAWAY.format("x")
    """A statement with rows without end."""
    values: str
    """A statement of an integer beyond 2^53, a decimal, a text, an empty text, a date and a moment."""
    types: Sequence[str] = _TYPES
    row: Sequence[JsonValue] = _ROW
    failing: str
    """A statement that the guard allows and the database refuses while it runs."""
    cause: str
    """What the database says of that."""
    unreachable: Mapping[str, str]
    """What is wrong with the URL, and what is said of it. Empty for a file."""
    running: str | None = None
    """A statement that counts the statements that run in the server, but itself. None for a file."""


CONTRACTS: Mapping[str, Contract] = {
    "sqlite": Contract(
        values="select 9007199254740993 as i, 12.50 as n, 'Zoë' as t, cast(null as text) as z, "
        "date('2024-02-29') as d, datetime('2024-02-29 10:00:00') as m",
        row=[*_ROW[:5], "2024-02-29 10:00:00"],
        failing="select json_extract('{', '$.a') as broken from customers",
        cause="malformed JSON",
        unreachable={},
    ),
    "postgres": Contract(
        values=_VALUES.format("text", "timestamp '2024-02-29 10:00:00'"),
        failing="select cast(name as integer) as broken from customers",
        cause="invalid input syntax for type integer",
        unreachable=_SERVER_CAUSES,
        running="select count(*) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() "
        "and application_name = 'kai'",
    ),
    "mysql": Contract(
        values=_VALUES.format("char", "cast('2024-02-29 10:00:00' as datetime)"),
        failing="select (select id from customers) as many from customers",
        cause="more than 1 row",
        unreachable={**_SERVER_CAUSES, "database": "no database of this name that the user may read"},
        running="select count(*) from information_schema.processlist where info like '%recursive%' "
        "and id <> connection_id()",
    ),
    "duckdb": Contract(
        endless="select * from range(1000000000000)",
        values=_VALUES.format("varchar", "timestamp '2024-02-29 10:00:00'"),
        failing="select cast(name as integer) as broken from customers",
        cause="Could not convert string",
        unreachable={},
    ),
    "snowflake": Contract(
        endless="with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000) "
        "select x, repeat('x', 200) as t from n",
        values="select 9007199254740993 as i, cast('12.50' as decimal(10, 2)) as n, 'Zoë' as t, "
        "cast(null as varchar) as z, to_date('2024-02-29') as d, "
        "to_timestamp_ntz('2024-02-29 10:00:00') as m",
        failing="select cast(name as integer) as broken from customers",
        cause="Could not convert string 'Ann'",
        unreachable={**_SERVER_CAUSES, "database": "no database of this name that the role may use"},
        running="select count(*) from table(information_schema.query_history_by_session())",
    ),
    "clickhouse": Contract(
        runaway="select count() from numbers(10000000000000)",
        endless="select number, toString(number) as text from numbers(10000000000000)",
        values="select toInt64('9007199254740993') as i, toDecimal64('12.50', 2) as n, 'Zoë' as t, "
        "toNullable('') as z, toDate('2024-02-29') as d, toDateTime('2024-02-29 10:00:00') as m",
        row=[*_ROW[:3], "", *_ROW[4:]],
        failing="select toInt32(name) as broken from customers",
        cause="Cannot parse string 'Ann' as Int32",
        unreachable=_SERVER_CAUSES,
        running="select count() from system.processes where query like '%10000000000000%' "
        "and query not like '%system.processes%'",
    ),
}
