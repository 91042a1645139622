"""Checks of a statement's text before it is parsed."""

import re
from collections.abc import Sequence

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
    """Raises `StatementRefused` for a longer text. Cheap, so call it first."""
    if len(sql) > max_characters:
        raise StatementRefused(
            f"The statement is longer than {max_characters:,} characters; shorten it.", "length"
        )


def check_text(sql: str) -> None:
    """Raises `StatementRefused` for NUL, a byte order mark or a lone surrogate."""
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


def check_words(tokens: Sequence[Token], dialect: str) -> None:
    """Check the tokens of a statement without EXPLAIN. Raises `StatementRefused`."""
    _check_characters(tokens)
    if dialect == "mysql":
        _check_comments(tokens)
    if dialect == "postgres":
        _check_escapes(tokens)


def _check_characters(tokens: Sequence[Token]) -> None:
    """Refuse unusual characters outside quotes: sqlglot reads DuckDB's zero-width space as a letter."""
    if any(each.token_type not in _QUOTED and not _PLAIN.fullmatch(each.text) for each in tokens):
        raise StatementRefused("Quote names with characters other than letters and digits.", "text")


def _check_comments(tokens: Sequence[Token]) -> None:
    """Refuse comments whose contents MySQL runs, because sqlglot skips them."""
    if any(comment.startswith(("!", "M!")) for token in tokens for comment in token.comments):
        raise StatementRefused("Executable comments (/*! ... */) are not allowed here.", "comment")


def _check_escapes(tokens: Sequence[Token]) -> None:
    """Refuse names like U&"\\0061": sqlglot reads them as the column U and a bitwise AND."""
    for u, ampersand, text in zip(tokens, tokens[1:], tokens[2:], strict=False):
        adjacent = ampersand.start == u.end + 1 and text.start == ampersand.end + 1
        quoted = text.token_type in {TokenType.IDENTIFIER, TokenType.STRING}
        if u.text.upper() == "U" and ampersand.token_type == TokenType.AMP and quoted and adjacent:
            raise StatementRefused(
                "U& before a name is not allowed here: write the name's characters themselves.", "text"
            )
