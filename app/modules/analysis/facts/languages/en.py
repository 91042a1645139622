"""Statements in English."""

from collections.abc import Mapping

STATEMENTS: Mapping[str, str] = {}

NOUNS: Mapping[str, str] = {
    "day": "day|days",
    "week": "week|weeks",
    "month": "month|months",
    "quarter": "quarter|quarters",
    "year": "year|years",
    "row": "row|rows",
    "column": "column|columns",
    "value": "value|values",
    "point": "point|points",
}
