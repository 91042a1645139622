"""Checked statements as text in their dialect, without comments."""

from collections.abc import Callable
from typing import ClassVar

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.generator import Generator
from sqlglot.generators.mysql import MySQLGenerator

from app.modules.sql.parsing import sqlglot_errors_only


def rewritten(statement: exp.Expr, dialect: str) -> str:
    """Returns the SQL of a tree, which may be changed: it is of no use afterwards.

    Raises `sqlglot.errors.UnsupportedError` if the dialect lacks something.
    """
    target = _BothMySQL if dialect == "mysql" else dialect
    with sqlglot_errors_only():
        return statement.sql(dialect=target, copy=False, comments=False, unsupported_level=ErrorLevel.RAISE)


def _regexp(generator: Generator, node: exp.RegexpLike) -> str:
    return generator.binary(node, "REGEXP")


class _BothMySQL(MySQL):
    """SQL that both MySQL and MariaDB accept: MariaDB has no REGEXP_LIKE."""

    class Generator(MySQLGenerator):
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
            **MySQLGenerator.TRANSFORMS,
            exp.RegexpLike: _regexp,
        }
