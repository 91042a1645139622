"""Normalizes syntax before the check: PostgreSQL's U& strings, MySQL's hints, SQLite's INDEXED BY, DuckDB's
PIVOT.
"""

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from graph.errors import StatementRefused

_HINTS = frozenset(
    {
        *("BKA", "NO_BKA", "BNL", "NO_BNL", "HASH_JOIN", "NO_HASH_JOIN", "MERGE", "NO_MERGE"),
        *("DERIVED_CONDITION_PUSHDOWN", "NO_DERIVED_CONDITION_PUSHDOWN"),
        *("GROUP_INDEX", "NO_GROUP_INDEX", "INDEX", "NO_INDEX", "INDEX_MERGE", "NO_INDEX_MERGE"),
        *("JOIN_FIXED_ORDER", "JOIN_INDEX", "NO_JOIN_INDEX", "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX"),
        *("MRR", "NO_MRR", "NO_ICP", "NO_RANGE_OPTIMIZATION", "ORDER_INDEX", "NO_ORDER_INDEX", "QB_NAME"),
        *("SEMIJOIN", "NO_SEMIJOIN", "SKIP_SCAN", "NO_SKIP_SCAN", "SUBQUERY"),
    }
)
_HINT = re.compile(r"\s*,?\s*(\w+)\s*\(([\w@$`., -]*)\)\s*")
_TIME_HINT = "MAX_EXECUTION_TIME"
_LONGEST_HINTED_MS = 60_000

_PIVOTS = {"PIVOT", "PIVOT_LONGER", "PIVOT_WIDER", "UNPIVOT"}
_AFTER_PIVOT = {TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET}

_ESCAPE_LETTERS = re.compile(r"[^0-9a-fA-F+'\"\s]")


def spell_plainly(statement: exp.Expr) -> list[exp.Expr]:
    """Decode every U& string, check every hint and leave INDEXED BY out, in place: it changes no rows, and
    its index is a table to the parser. Returns all nodes of the plain statement, outer ones first.

    Raises `StatementRefused`.
    """
    nodes = list(statement.walk())
    spelled = [
        node for node in nodes if isinstance(node, exp.Hint | exp.UnicodeString) or node.arg_key == "indexed"
    ]
    for node in spelled:
        if isinstance(node, exp.Hint):
            text = node.sql(dialect="mysql").strip().removeprefix("/*+").removesuffix("*/").strip()
            _check_hint(text)
            node.set("expressions", [text])
        elif isinstance(node, exp.UnicodeString):
            node.replace(exp.Literal.string(_decoded(node)))
        else:
            node.pop()
    return list(statement.walk()) if spelled else nodes


def pivot_as_select(sql: str, dialect: str) -> str:
    """Returns a DuckDB PIVOT with ORDER BY, LIMIT or OFFSET as a SELECT, because sqlglot cannot parse it.

    Other statements are returned as they are.
    """
    if dialect != "duckdb" or "PIVOT" not in sql.upper():
        return sql
    tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    if not tokens or tokens[0].text.upper() not in _PIVOTS:
        return sql
    end = next((each.start for each in _outside_parentheses(tokens) if each.token_type in _AFTER_PIVOT), None)
    return sql if end is None else f"SELECT * FROM ({sql[:end]}) {sql[end:]}"  # noqa: S608 - checked next


def _outside_parentheses(tokens: list[Token]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0:
            yield token


def _check_hint(text: str) -> None:
    """Allow hints about the plan, by name. Refuse others, such as SET_VAR, which changes settings."""
    at = 0
    while at < len(text):
        found = _HINT.match(text, at)
        if found is None:
            raise StatementRefused("The optimizer hint cannot be read; leave it out.", "construct")
        name = found[1].upper()
        arguments = found[2].strip()
        if name == _TIME_HINT:
            allowed = arguments.isdecimal() and 0 < int(arguments) <= _LONGEST_HINTED_MS
        else:
            allowed = name in _HINTS
        if not allowed:
            raise StatementRefused(f"The optimizer hint {name} is not allowed here.", "construct")
        at = found.end()


def _decoded(string: exp.UnicodeString) -> str:
    """Decode a U& string: \\XXXX and \\+XXXXXX are characters; the doubled escape character is itself."""
    escape = string.args.get("escape")
    letter = escape.name if isinstance(escape, exp.Expr) else "\\"
    if not _ESCAPE_LETTERS.fullmatch(letter):
        raise StatementRefused("UESCAPE needs one character that is no digit, quote or space.", "text")
    escaped = re.escape(letter)
    pieces = re.compile(
        rf"{escaped}(?:({escaped})|([0-9a-fA-F]{{4}})|\+([0-9a-fA-F]{{6}}))|({escaped})|([^{escaped}]+)"
    )
    units = [_piece(each) for each in pieces.finditer(string.name)]
    try:
        text = "".join(units).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise StatementRefused("A U& string holds half a character (a lone surrogate).", "text") from None
    if "\0" in text or "\ufeff" in text:
        raise StatementRefused("A U& string holds a NUL character or a byte order mark.", "text")
    return text


def _piece(found: re.Match[str]) -> str:
    itself, short, long, alone, plain = found.groups()
    if alone is not None:
        raise StatementRefused("A U& string has an escape that is not \\XXXX or \\+XXXXXX.", "text")
    code = int(short or long or "0", 16)
    if code > 0x10FFFF:
        raise StatementRefused("A U& string names a character that does not exist.", "text")
    return chr(code) if short or long else itself or plain or ""
