"""Types of columns, by ClickHouse's names of them."""

import re
from collections.abc import Mapping

from app.modules.database_connection.schema import ColumnType

_WRAPPED = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)", re.DOTALL)
_TYPES: Mapping[str, ColumnType] = {
    r"U?Int\d+": "integer",
    r"(BFloat|Float|Decimal)\d*\b.*": "number",
    r"Bool": "boolean",
    r"Date(32)?": "date",
    r"DateTime(32|64)?\b.*": "datetime",
    r"Time(64)?\b.*": "time",
    r"(Array|Dynamic|JSON|Map|Nested|Object|Tuple|Variant)\b.*": "json",
    r"AggregateFunction\(.*": "binary",
}


def column_type(declared: str) -> ColumnType:
    """Returns the type of a column that is declared as, for example, `LowCardinality(Nullable(String))`."""
    while wrapped := _WRAPPED.fullmatch(declared):
        declared = wrapped[1]
    found = (kind for known, kind in _TYPES.items() if re.fullmatch(known, declared, re.DOTALL))
    return next(found, "text")
