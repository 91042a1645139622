"""sqlglot's parser, with unexpected exceptions converted to sqlglot's own errors."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token

import app.modules.sql.dialects  # noqa: F401 - replaces two of sqlglot's

MOST_TOKENS = 10_000
"""Most words and signs of a statement that is parsed."""
MOST_NODES = 5_000
"""Most nodes of its tree. All that reads a tree takes at least linear time."""


MOST_JOINS = 250
"""Most joins in it. The sources of a comma list are joins, too."""
MOST_SELECTS = 400
"""Most SELECTs in it: each is a scope of its own. SQLite takes 500 in a union."""
MOST_MERGING_JOINS = 60
"""Most of them that are NATURAL or have USING, which take squares of time to read. SQLite and
MySQL take as many."""


class StatementTooLarge(ParseError):
    """The statement has more parts than are read."""

    def __init__(self, parts: str = f"{MOST_NODES:,} parts (names, values, operators)") -> None:
        super().__init__(f"The statement has more than {parts}.")


def tokenized(sql: str, dialect: str | None) -> list[Token]:
    """Returns the tokens of a text. Raises `SqlglotError` if it cannot be tokenized."""
    with sqlglot_errors_only():
        return Dialect.get_or_raise(dialect).tokenize(sql)


def parsed(tokens: list[Token], sql: str, dialect: str | None) -> Sequence[exp.Expr | None]:
    """Returns the statements in a text with these tokens.

    Raises `StatementTooLarge`, `SqlglotError` or `RecursionError` if it cannot be parsed.
    """
    if len(tokens) > MOST_TOKENS:
        raise StatementTooLarge
    with sqlglot_errors_only():
        trees = Dialect.get_or_raise(dialect).parser().parse(tokens, sql)
    nodes = [node for tree in trees if tree for node in tree.walk()]
    if len(nodes) > MOST_NODES:
        raise StatementTooLarge
    if sum(isinstance(node, exp.Select) for node in nodes) > MOST_SELECTS:
        raise StatementTooLarge(f"{MOST_SELECTS} SELECTs")
    joins = [node for node in nodes if isinstance(node, exp.Join)]
    if len(joins) > MOST_JOINS:
        raise StatementTooLarge(f"{MOST_JOINS} joins")
    if sum(join.method == "NATURAL" or bool(join.args.get("using")) for join in joins) > MOST_MERGING_JOINS:
        raise StatementTooLarge(f"{MOST_MERGING_JOINS} joins by NATURAL or USING")
    return trees


def parsed_one(sql: str, dialect: str | None) -> exp.Expr:
    """Returns the first statement in a text. Raises what `parsed` raises."""
    first = next(iter(parsed(tokenized(sql, dialect), sql, dialect)), None)
    if first is None:
        raise ParseError("The text has no statement.")
    return first


@contextmanager
def sqlglot_errors_only() -> Generator[None]:
    """Convert unexpected exceptions of sqlglot: some invalid statements make it raise `AttributeError`.

    Raises `ParseError` in place of every exception other than `SqlglotError` and `RecursionError`.
    """
    try:
        yield
    except (SqlglotError, RecursionError):
        raise
    except Exception as error:
        raise ParseError(f"The statement cannot be parsed ({type(error).__name__}).") from error
