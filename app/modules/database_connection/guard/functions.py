"""Functions that a query may call. All others are refused.

Their names are in `allowed_functions`, one file per dialect, in lower case and without a schema.
"""

from functools import cache
from pathlib import Path

from sqlglot import exp

from app.modules.sql.engine_data import engine_data

_LISTS = Path(__file__).parent / "allowed_functions"

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
    return name.lower() in engine_data(dialect).table_functions


def names_of(function: exp.Func) -> set[str]:
    """Returns the names of a function in a parse tree, in lower case."""
    if isinstance(function, _NAMED):
        return {function.name.lower()}
    return {name.lower() for name in function.sql_names()}
