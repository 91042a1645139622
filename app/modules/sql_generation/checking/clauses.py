"""Offsets in a statement's text at which its clauses end."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

_AFTER_GROUPS = {
    TokenType.HAVING,
    TokenType.WINDOW,
    TokenType.QUALIFY,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.OFFSET,
    TokenType.FETCH,
    TokenType.UNION,
    TokenType.INTERSECT,
    TokenType.EXCEPT,
    TokenType.SEMICOLON,
}


class Clauses:
    """The clauses around the first table of a SELECT. Raises `SqlglotError` if tokenising fails."""

    def __init__(self, sql: str, dialect: str, table: int) -> None:
        """`table` is an offset within the name of the first table that the SELECT reads."""
        self._tokens = _tokens(sql, dialect)
        self._table = bisect_left(self._tokens, table, key=lambda each: each.end)

    @property
    def end_of_conditions(self) -> int:
        """The offset after FROM and WHERE."""
        return self._end(self._table, _AFTER_GROUPS | {TokenType.GROUP_BY})

    @property
    def end_of_groups(self) -> int:
        """The offset after GROUP BY; without one, after FROM and WHERE."""
        return self._end(self._table, _AFTER_GROUPS)

    def _end(self, start: int, stops: Collection[TokenType]) -> int:
        depth = 0
        last = self._tokens[start]
        for token in islice(self._tokens, start + 1, None):
            if depth == 0 and (token.token_type in stops or token.token_type == TokenType.R_PAREN):
                break
            depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
            last = token
        return last.end + 1


@lru_cache(4)
def _tokens(sql: str, dialect: str) -> Sequence[Token]:
    """Cached, because a statement may have hundreds of SELECTs."""
    return list(Dialect.get_or_raise(dialect).tokenize(sql))


def first_table(select: exp.Select) -> int | None:
    """Returns an offset within the first table that a SELECT reads; None if the text does not hold it."""
    source = select.args.get("from_")
    if not isinstance(source, exp.From):
        return None
    alias = source.this.args.get("alias")
    for each in (alias.this if isinstance(alias, exp.TableAlias) else None, source.this.this):
        if isinstance(each, exp.Identifier) and isinstance(each.meta.get("start"), int):
            return int(each.meta["start"])
    return None
