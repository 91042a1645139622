"""EXPLAIN before a query, with options that do not run the query."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from graph.errors import StatementRefused

_BOOLEANS = frozenset({"", "TRUE", "FALSE", "ON", "OFF", "0", "1"})
# Options in parentheses and their values, by dialect. ANALYZE and the options that need it are left out,
# because they run the statement.
_OPTIONS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "postgres": {
        "BUFFERS": _BOOLEANS,
        "COSTS": _BOOLEANS,
        "FORMAT": frozenset({"JSON", "TEXT", "XML", "YAML"}),
        "GENERIC_PLAN": _BOOLEANS,
        "MEMORY": _BOOLEANS,
        "SETTINGS": _BOOLEANS,
        "SUMMARY": _BOOLEANS,
        "VERBOSE": _BOOLEANS,
    },
    "duckdb": {"FORMAT": frozenset({"JSON", "TEXT"})},
}
_MYSQL_FORMATS = frozenset({"JSON", "TRADITIONAL", "TREE"})
_QUERY_WORDS = frozenset({"(", "FROM", "PIVOT", "SELECT", "TABLE", "UNPIVOT", "VALUES", "WITH"})


class Explained(NamedTuple):
    """A statement without EXPLAIN, and its EXPLAIN with options (empty if there is none)."""

    prefix: str
    sql: str


def without_explain(sql: str, dialect: str) -> Explained:
    """Split a statement into EXPLAIN with its options, and the rest.

    ANALYZE without parentheses stays in the rest, which then is no query and is refused later. Raises
    `StatementRefused` for options that are not known to be harmless, and `SqlglotError` if the text cannot be
    tokenized.
    """
    words = _words(sql, dialect) if "EXPLAIN" in sql.upper() else []
    if not _are(words[:1], "EXPLAIN"):
        return Explained("", sql)
    rest = sql[words[0].end + 1 :]
    words = _words(rest, dialect)
    if dialect == "sqlite" and _are(words[:2], "QUERY", "PLAN"):
        return Explained("EXPLAIN QUERY PLAN ", rest[words[1].end + 1 :])
    if dialect == "postgres" and _are(words[:1], "VERBOSE"):
        return Explained("EXPLAIN VERBOSE ", rest[words[0].end + 1 :])
    if dialect == "mysql" and _are(words[:2], "FORMAT", "="):
        return _mysql_format(rest, words[2:3])
    if dialect in _OPTIONS and _are(words[:1], "(") and not _is_query(words[1:2]):
        return _with_options(rest, words, dialect)
    return Explained("EXPLAIN ", rest)


def _mysql_format(sql: str, words: Sequence[Token]) -> Explained:
    if not words or words[0].text.upper() not in _MYSQL_FORMATS:
        raise _refusal("FORMAT", "mysql")
    return Explained(f"EXPLAIN FORMAT={words[0].text.upper()} ", sql[words[0].end + 1 :])


def _with_options(sql: str, words: Sequence[Token], dialect: str) -> Explained:
    options: list[list[str]] = [[]]
    for word in words[1:]:
        if word.token_type == TokenType.R_PAREN:
            written = ", ".join(_option(option, dialect) for option in options)
            return Explained(f"EXPLAIN ({written}) ", sql[word.end + 1 :])
        if word.token_type == TokenType.COMMA:
            options.append([])
        else:
            options[-1].append(word.text.upper())
    raise _refusal("(", dialect)


def _option(words: Sequence[str], dialect: str) -> str:
    """Returns an option as it is run: name and value in capitals. Raises `StatementRefused`."""
    name, value = (*words, "", "")[:2]
    if len(words) > 2 or value not in _OPTIONS[dialect].get(name, ()):
        raise _refusal(" ".join(words), dialect)
    return f"{name} {value}".rstrip()


def _refusal(option: str, dialect: str) -> StatementRefused:
    allowed = ", ".join(_OPTIONS.get(dialect, {"FORMAT": ()}))
    return StatementRefused(
        f"EXPLAIN with the option {option[:40] or 'that is missing'} is not run here; "
        f"allowed with usual values: {allowed}.",
        "construct",
    )


def _words(sql: str, dialect: str) -> Sequence[Token]:
    return Dialect.get_or_raise(dialect).tokenize(sql)


def _are(tokens: Sequence[Token], *words: str) -> bool:
    return [token.text.upper() for token in tokens] == list(words)


def _is_query(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].text.upper() in _QUERY_WORDS
