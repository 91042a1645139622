"""Types of columns, by Snowflake's names of them, and by the codes of its driver."""

from collections.abc import Mapping

from app.modules.database_connection.schema import ColumnType

_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("FLOAT", "DECFLOAT"), "number"),
    **dict.fromkeys(("TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIMESTAMP_TZ"), "datetime"),
    **dict.fromkeys(("ARRAY", "GEOGRAPHY", "GEOMETRY", "MAP", "OBJECT", "VARIANT", "VECTOR"), "json"),
    "BINARY": "binary",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIME": "time",
}
_CODES: Mapping[int, str] = {
    0: "NUMBER",
    1: "FLOAT",
    2: "TEXT",
    3: "DATE",
    4: "TIMESTAMP_NTZ",
    5: "VARIANT",
    6: "TIMESTAMP_LTZ",
    7: "TIMESTAMP_TZ",
    8: "TIMESTAMP_NTZ",
    9: "OBJECT",
    10: "ARRAY",
    11: "BINARY",
    12: "TIME",
    13: "BOOLEAN",
    14: "GEOGRAPHY",
    15: "GEOMETRY",
    16: "VECTOR",
}


def column_type(declared: str, scale: object) -> ColumnType:
    """Returns the type of a column of a table. A number without digits after the point is an integer."""
    if declared == "NUMBER":
        return "integer" if scale == 0 else "number"
    return _TYPES.get(declared, "text")


def result_type(code: int, scale: object) -> ColumnType:
    """Returns the type of a column of a result."""
    return column_type(_CODES.get(code, "TEXT"), scale)
