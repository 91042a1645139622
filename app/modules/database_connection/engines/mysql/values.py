"""Conversions of MySQL's and MariaDB's values, and column types."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from pydantic import JsonValue
from pymysql.constants import FIELD_TYPE
from pymysql.converters import encoders

from app.modules.database_connection.schema import ColumnType


def _moment(text: str) -> str:
    return text.replace(" ", "T", 1)


def _bits(data: bytes | str) -> int:
    return int.from_bytes(data.encode("latin-1") if isinstance(data, str) else data, "big")


def _json(text: str) -> JsonValue:
    value: JsonValue = json.loads(text)
    return value


# Dates and times stay text, in ISO 8601: servers allow values that Python does not (0000-00-00).
CONVERSIONS: dict[int | type[Any], Callable[[Any], Any]] = {
    **dict[int | type[Any], Callable[[Any], Any]](encoders.items()),
    FIELD_TYPE.BIT: _bits,
    FIELD_TYPE.DATETIME: _moment,
    FIELD_TYPE.DECIMAL: Decimal,
    FIELD_TYPE.DOUBLE: float,
    FIELD_TYPE.FLOAT: float,
    FIELD_TYPE.INT24: int,
    FIELD_TYPE.JSON: _json,
    FIELD_TYPE.LONG: int,
    FIELD_TYPE.LONGLONG: int,
    FIELD_TYPE.NEWDECIMAL: Decimal,
    FIELD_TYPE.SHORT: int,
    FIELD_TYPE.TIMESTAMP: _moment,
    FIELD_TYPE.TINY: int,
    FIELD_TYPE.YEAR: int,
}

# Text and bytes share their codes. Their columns are distinguished by the values.
TYPES: Mapping[int, ColumnType] = {
    FIELD_TYPE.BIT: "integer",
    FIELD_TYPE.DATE: "date",
    FIELD_TYPE.DATETIME: "datetime",
    FIELD_TYPE.DECIMAL: "number",
    FIELD_TYPE.DOUBLE: "number",
    FIELD_TYPE.FLOAT: "number",
    FIELD_TYPE.GEOMETRY: "binary",
    FIELD_TYPE.INT24: "integer",
    FIELD_TYPE.JSON: "json",
    FIELD_TYPE.LONG: "integer",
    FIELD_TYPE.LONGLONG: "integer",
    FIELD_TYPE.NEWDECIMAL: "number",
    FIELD_TYPE.SHORT: "integer",
    FIELD_TYPE.TIME: "time",
    FIELD_TYPE.TIMESTAMP: "datetime",
    FIELD_TYPE.TINY: "integer",
    FIELD_TYPE.YEAR: "integer",
}
