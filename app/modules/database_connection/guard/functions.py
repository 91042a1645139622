"""Functions that a query may call. All others are refused.

Their names are in `allowed_functions`, one file per dialect, in lower case and without a schema.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sqlglot import exp

_LISTS = Path(__file__).parent / "allowed_functions"

# The only functions allowed in place of a table.
_TABLE_FUNCTIONS: Mapping[str, frozenset[str]] = {
    "sqlite": frozenset({"json_each", "json_tree", "generate_series"}),
    "postgres": frozenset(
        {
            "exploding_generate_series",  # sqlglot's name for generate_series after FROM
            "generate_series",
            "generate_subscripts",
            "json_array_elements",
            "json_array_elements_text",
            "json_each",
            "json_each_text",
            "json_object_keys",
            "json_to_record",
            "json_to_recordset",
            "jsonb_array_elements",
            "jsonb_array_elements_text",
            "jsonb_each",
            "jsonb_each_text",
            "jsonb_object_keys",
            "jsonb_path_query",
            "jsonb_to_record",
            "jsonb_to_recordset",
            "regexp_matches",
            "regexp_split_to_table",
            "string_to_table",
            "unnest",
        }
    ),
    "mysql": frozenset({"j_s_o_n_table"}),
    "clickhouse": frozenset({"numbers"}),
    "duckdb": frozenset(
        {"generate_series", "exploding_generate_series", "json_each", "json_tree", "range", "unnest"}
    ),
}


_NAMED = (exp.Anonymous, exp.AnonymousAggFunc, exp.ParameterizedAgg)
"""Functions that sqlglot knows by their text alone."""


@cache
def allowed_names(dialect: str) -> frozenset[str]:
    """Returns the allowed functions of a dialect, by the database's own names."""
    lines = (_LISTS / f"{dialect}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


@cache
def _known_names(dialect: str) -> frozenset[str]:
    """Returns the allowed names, and the names that sqlglot gives to functions it knows."""
    return allowed_names(dialect) | allowed_names("parsed")


def is_allowed_function(function: exp.Func, dialect: str) -> bool:
    """True if a function in a parse tree may be called."""
    if isinstance(function, _NAMED):
        return function.name.lower() in allowed_names(dialect)
    return not names_of(function).isdisjoint(_known_names(dialect))


def is_table_function(name: str, dialect: str) -> bool:
    """True if a function of this name may be used after FROM."""
    return name.lower() in _TABLE_FUNCTIONS[dialect]


def names_of(function: exp.Func) -> set[str]:
    """Returns the names of a function in a parse tree, in lower case."""
    if isinstance(function, _NAMED):
        return {function.name.lower()}
    return {name.lower() for name in function.sql_names()}
