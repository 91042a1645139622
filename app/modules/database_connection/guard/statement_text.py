"""What is refused of a statement's text before it is parsed."""

import re
from collections.abc import Sequence

from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from graph.errors import StatementRefused

_PLAIN = re.compile(r"[\w !-~]*")
_QUOTED = {
    TokenType.BIT_STRING,
    TokenType.BYTE_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.HEX_STRING,
    TokenType.IDENTIFIER,
    TokenType.NATIONAL_STRING,
    TokenType.RAW_STRING,
    TokenType.STRING,
    TokenType.UNICODE_STRING,
}


def check_length(sql: str, max_characters: int) -> None:
    """Raises `StatementRefused`. Takes no time, so it comes before anything else is done with a statement."""
    if len(sql) > max_characters:
        raise StatementRefused(
            f"The statement is longer than {max_characters:,} characters; shorten it.", "length"
        )


def check_text(sql: str) -> None:
    """Raises `StatementRefused`."""
    if "\0" in sql:
        raise StatementRefused("The statement contains a NUL character.", "text")
    if "\ufeff" in sql:
        raise StatementRefused("The statement contains a byte order mark.", "text")
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise StatementRefused(
            "The statement contains half a character (a lone surrogate).", "text"
        ) from None


def check_words(sql: str, dialect: str) -> None:
    """Looks at a statement word by word, EXPLAIN taken off.

    Raises `StatementRefused`, and `SqlglotError` if the text cannot be tokenized.
    """
    tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    _check_characters(tokens)
    if dialect == "mysql":
        _check_comments(tokens)
    if dialect == "postgres":
        _check_escapes(tokens)


def _check_characters(tokens: Sequence[Token]) -> None:
    """DuckDB takes a zero-width space for a space; the parser takes it for a letter."""
    if any(each.token_type not in _QUOTED and not _PLAIN.fullmatch(each.text) for each in tokens):
        raise StatementRefused(
            "Names with characters that are no letters or digits have to be in quotes.", "text"
        )


def _check_comments(tokens: Sequence[Token]) -> None:
    """MySQL runs what stands in such comments; the parser takes it for talk."""
    if any(comment.startswith(("!", "M!")) for token in tokens for comment in token.comments):
        raise StatementRefused("Comments that are run (/*! ... */) are not allowed here.", "comment")


def _check_escapes(tokens: Sequence[Token]) -> None:
    """PostgreSQL reads U&"\\0061" as a name; the parser takes it for the column U and a bitwise AND."""
    for u, ampersand, text in zip(tokens, tokens[1:], tokens[2:], strict=False):
        adjacent = ampersand.start == u.end + 1 and text.start == ampersand.end + 1
        quoted = text.token_type in {TokenType.IDENTIFIER, TokenType.STRING}
        if u.text.upper() == "U" and ampersand.token_type == TokenType.AMP and quoted and adjacent:
            raise StatementRefused(
                "Write a name's characters themselves: U& before a name is not allowed here.", "text"
            )
