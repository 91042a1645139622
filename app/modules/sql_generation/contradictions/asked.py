"""A question as contradictions read it, and the conditions of a statement."""

import re
from collections.abc import Collection

from sqlglot import exp

from app.core.words import NUMBER_WORDS

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<!\w)'[^']+'(?!\w)")
_LEAST_LETTERS = 3
NUMBER = rf"(?:\d[\d,]*|{'|'.join(NUMBER_WORDS)})"
"""A whole number in a pattern: digits, or a word up to twenty."""


def plain_question(question: str, tree: exp.Expr) -> str:
    """Returns the question in lower case; a word of a value says nothing about what to do with it."""
    text = _QUOTED.sub(" ", question).casefold().replace("’", "'")
    for value in sorted(texts_of(tree), key=len, reverse=True):
        if len(value) >= _LEAST_LETTERS and not value.isdigit() and value not in _OWN_WORDS:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", " ", text)
    return " ".join(text.split())


_OWN_WORDS = {"not", "without", "never", "none", "most", "least", "highest", "lowest", "yes", "last", "first"}


def texts_of(tree: exp.Expr) -> Collection[str]:
    """Returns the texts that a statement compares or lists, in lower case, without wildcards."""
    found = (each.this.strip("% ").casefold() for each in tree.find_all(exp.Literal) if each.is_string)
    return {each for each in found if each}


def number_of(word: str) -> int:
    """Returns the number that a match of `NUMBER` writes."""
    return NUMBER_WORDS.get(word) or int(word.replace(",", ""))


def is_turned(node: exp.Expr) -> bool:
    """True if a condition counts the other way round in its own query: within NOT, CASE, IF or FILTER."""
    outer = node.parent
    while outer is not None and not isinstance(outer, exp.Query):
        if isinstance(outer, exp.Not | exp.Case | exp.If | exp.Filter):
            return True
        outer = outer.parent
    return False


def is_excluded(node: exp.Expr) -> bool:
    """True if a condition stands within a negation of its own query or of an outer one."""
    inner: exp.Expr = node
    outer = node.parent
    while outer is not None:
        if isinstance(outer, exp.Not | exp.Case | exp.If | exp.Filter):
            return True
        if isinstance(outer, exp.Except) and inner.arg_key == "expression":
            return True
        inner = outer
        outer = outer.parent
    return False
