"""Checked statements as text in their dialect, without comments."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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


_CLAUSES = (
    *(exp.CTE, exp.Distinct, exp.From, exp.Group, exp.Having, exp.Join, exp.Lateral, exp.Limit, exp.Offset),
    *(exp.Pivot, exp.Qualify, exp.Query, exp.Where, exp.Window, exp.With),
)


def outline(nodes: Iterable[exp.Expr]) -> Counter[Sequence[object]]:
    """Returns the clauses, columns and tables among the nodes of a statement.

    A name of an output column is none of them, as text may have what it stands for in its place.
    """
    found = Counter(each for node in nodes if (each := _outlined(node)))
    for key, *names in list(found):
        if key == exp.Alias.key:
            found.pop((exp.Column.key, *names), None)
    return found


def is_same(meant: Counter[Sequence[object]], written: Counter[Sequence[object]]) -> bool:
    """True if the outline of a tree and that of its text have the same parts, and the text none less often.

    Some may occur more often: MySQL's text of NULLS LAST names the key twice.
    """
    return written.keys() == meant.keys() and meant <= written


def _outlined(node: exp.Expr) -> Sequence[object]:
    if isinstance(node, exp.Column | exp.Table):
        parts = (part.name if isinstance(part, exp.Identifier) else part.key for part in node.parts)
        return (node.key, *parts)
    if isinstance(node, exp.Alias | exp.TableAlias):
        return (node.key, node.alias_or_name)
    if isinstance(node, _CLAUSES):
        words = (
            (name, value) for name, value in node.args.items() if value and isinstance(value, bool | str)
        )
        return (node.key, *words)
    return ()


def _regexp(generator: Generator, node: exp.RegexpLike) -> str:
    return generator.binary(node, "REGEXP")


class _BothMySQL(MySQL):
    """SQL that both MySQL and MariaDB accept: MariaDB has no REGEXP_LIKE."""

    class Generator(MySQLGenerator):
        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
            **MySQLGenerator.TRANSFORMS,
            exp.RegexpLike: _regexp,
        }
