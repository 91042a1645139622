"""Masks of columns, as expressions of each database's SQL. NULL stays NULL."""

import re
from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.modules.policies.model import Kind, Mask
from app.modules.sql.parsing import parsed_one

HASH_FUNCTION = "kai_hash"
"""SQL function of SQLite's sessions, which has none of its own for a hash. No statement may call it."""
HIDDEN_TEXT = "***"

_KINDS: Mapping[Mask, frozenset[Kind]] = {
    "fixed": frozenset({"text"}),
    "last4": frozenset({"text"}),
    "year": frozenset({"date", "datetime"}),
    "hash": frozenset({"text", "integer"}),
}
_SHORTEST = 8
"""Characters of a text whose last four are shown."""
_BEGINS_WITH_YEAR = "[0-9][0-9][0-9][0-9]-*"
_MYSQL_TYPES: Mapping[Kind, str] = {
    "integer": "SIGNED",
    "boolean": "SIGNED",
    "number": "DECIMAL(38, 10)",
    "date": "DATE",
    "datetime": "DATETIME",
    "time": "TIME",
    "binary": "BINARY",
}
_CLICKHOUSE_TYPE = re.compile(r"(?:LowCardinality\(|Nullable\()*([A-Za-z]+\w*(?:\(\d+(?:, \d+)?\))?)\)*")
_PLAIN_TYPES: Mapping[Kind, str] = {
    "integer": "BIGINT",
    "boolean": "BOOLEAN",
    "number": "DECIMAL(38, 10)",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
}


def fits(mask: Mask, kind: Kind) -> bool:
    """True if a column of this kind can have the mask."""
    return kind in _KINDS.get(mask, {kind})


def masked_column(
    column: exp.Column, mask: Mask, *, kind: Kind, database_type: str, dialect: str, key: str
) -> exp.Expr:
    """Returns what stands in the place of a column. A mask that does not fit the column gives NULL."""
    if mask == "clear":
        return column
    name = column.sql(dialect)
    if mask == "null" or not fits(mask, kind):
        text = _null(kind, database_type, dialect)
    elif mask == "fixed":
        text = _fixed(name, dialect)
    elif mask == "last4":
        text = _last_four(name, dialect)
    elif mask == "year":
        text = _year(name, dialect)
    else:
        text = _hash(name, dialect, exp.Literal.string(key).sql(dialect))
    masked: exp.Expr = parsed_one(f"SELECT {text}", dialect).expressions[0]
    return masked


def _fixed(name: str, dialect: str) -> str:
    if dialect == "clickhouse":  # whose functions see whether a type has NULL
        return f"concat('{HIDDEN_TEXT}', substring(toString({name}), 1, 0))"
    return f"CASE WHEN {name} IS NULL THEN NULL ELSE '{HIDDEN_TEXT}' END"


def _null(kind: Kind, database_type: str, dialect: str) -> str:
    if dialect == "sqlite":
        return "NULL"
    if dialect == "mysql":
        return f"CAST(NULL AS {_MYSQL_TYPES.get(kind, 'CHAR')})"
    if dialect == "clickhouse":
        return _null_of_clickhouse(kind, database_type)
    wanted = database_type.split(" COLLATE ", maxsplit=1)[0]
    try:
        known = exp.DataType.build(wanted, dialect=dialect)
        if known.this != exp.DataType.Type.USERDEFINED:
            return f"CAST(NULL AS {wanted})"
    except (SqlglotError, ValueError):
        pass
    return f"CAST(NULL AS {_PLAIN_TYPES.get(kind, 'TEXT')})"


def _null_of_clickhouse(kind: Kind, database_type: str) -> str:
    """Returns NULL of the type itself: an aggregate of another type could differ. Lists have no NULL."""
    found = _CLICKHOUSE_TYPE.fullmatch(database_type)
    if kind in {"json", "binary"} or found is None:
        return "NULL"
    return f"CAST(NULL AS Nullable({found[1]}))"


def _last_four(name: str, dialect: str) -> str:
    if dialect == "clickhouse":
        text = f"toString({name})"
        shown = f"if(lengthUTF8({text}) < {_SHORTEST}, '', substringUTF8({text}, -4))"
        return f"concat('{HIDDEN_TEXT}', {shown})"
    length = "CHAR_LENGTH" if dialect == "mysql" else "LENGTH"
    last = f"SUBSTR({name}, -4)" if dialect == "sqlite" else f"RIGHT({name}, 4)"
    shown = f"CONCAT('{HIDDEN_TEXT}', {last})" if dialect == "mysql" else f"'{HIDDEN_TEXT}' || {last}"
    return (
        f"CASE WHEN {name} IS NULL THEN NULL WHEN {length}({name}) < {_SHORTEST} THEN '{HIDDEN_TEXT}' "
        f"ELSE {shown} END"
    )


def _year(name: str, dialect: str) -> str:
    match dialect:
        case "sqlite":
            # A date may be a number, or begin with its day.
            return f"CASE WHEN {name} GLOB '{_BEGINS_WITH_YEAR}' THEN SUBSTR({name}, 1, 4) || '-01-01' END"
        case "mysql":
            return f"MAKEDATE(YEAR({name}), 1)"
        case "clickhouse":
            return f"makeDate32(toYear({name}), 1, 1)"
    return f"CAST(DATE_TRUNC('year', {name}) AS DATE)"


def _hash(name: str, dialect: str, key: str) -> str:
    match dialect:
        case "sqlite":
            return f"{HASH_FUNCTION}({key}, {name})"
        case "mysql":
            return f"SHA2(CONCAT({key}, {name}), 256)"
        case "duckdb":
            return f"SHA256({key} || {name})"
        case "clickhouse":
            return f"lower(hex(SHA256(concat({key}, toString({name})))))"
    return f"ENCODE(SHA256(CONVERT_TO({key} || {name}, 'UTF8')), 'hex')"
