"""Masks of columns, as expressions of each database's SQL. NULL stays NULL."""

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
_MYSQL_TYPES: Mapping[Kind, str] = {
    "integer": "SIGNED",
    "boolean": "SIGNED",
    "number": "DECIMAL(38, 10)",
    "date": "DATE",
    "datetime": "DATETIME",
    "time": "TIME",
    "binary": "BINARY",
}
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
        text = f"CASE WHEN {name} IS NULL THEN NULL ELSE '{HIDDEN_TEXT}' END"
    elif mask == "last4":
        text = _last_four(name, dialect)
    elif mask == "year":
        text = _year(name, dialect)
    else:
        text = _hash(name, dialect, exp.Literal.string(key).sql(dialect))
    masked: exp.Expr = parsed_one(f"SELECT {text}", dialect).expressions[0]
    return masked


def _null(kind: Kind, database_type: str, dialect: str) -> str:
    if dialect == "sqlite":
        return "NULL"
    if dialect == "mysql":
        return f"CAST(NULL AS {_MYSQL_TYPES.get(kind, 'CHAR')})"
    wanted = database_type.split(" COLLATE ", maxsplit=1)[0]
    try:
        known = exp.DataType.build(wanted, dialect=dialect)
        if known.this != exp.DataType.Type.USERDEFINED:
            return f"CAST(NULL AS {wanted})"
    except (SqlglotError, ValueError):
        pass
    return f"CAST(NULL AS {_PLAIN_TYPES.get(kind, 'TEXT')})"


def _last_four(name: str, dialect: str) -> str:
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
            return f"SUBSTR({name}, 1, 4) || '-01-01'"
        case "mysql":
            return f"MAKEDATE(YEAR({name}), 1)"
    return f"CAST(DATE_TRUNC('year', {name}) AS DATE)"


def _hash(name: str, dialect: str, key: str) -> str:
    match dialect:
        case "sqlite":
            return f"{HASH_FUNCTION}({key}, {name})"
        case "mysql":
            return f"SHA2(CONCAT({key}, {name}), 256)"
        case "duckdb":
            return f"SHA256({key} || {name})"
    return f"ENCODE(SHA256(CONVERT_TO({key} || {name}, 'UTF8')), 'hex')"
