"""Contradictions of negation: what has no orders is asked for, and the statement lists what has them."""

import re
from collections.abc import Iterator

from sqlglot import exp

from app.modules.sql_generation.contradictions.asked import is_excluded, is_turned, texts_of
from app.modules.sql_generation.contradictions.negation_words import ABSENCE, ANY, IDIOMS, NOT, NOT_YET
from app.modules.sql_generation.sentences import WarningPhrase

_DIGITS = re.compile(r"[\d\s:./-]+")
_FALSE = {"0", "f", "n", "no", "false", "none", "null", "", "never", "off", "inactive"}


def find_lost_negations(asked: str, question: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    """Yields a sentence if the question excludes something and the statement does not.

    `asked` is the question without the values of the statement, `question` with them, in lower case.
    """
    if _has_negation(tree):
        return
    plain = IDIOMS.sub(" ", question)
    for value in sorted(_compared(tree), key=len, reverse=True):
        if re.search(rf"\b{NOT} (?:\w+ ){{0,3}}?(?:the |a |an )?[“\"']?{re.escape(value)}(?!\w)", plain):
            yield WarningPhrase("keeps what is excluded", (value,))
            return
    for flag in _flags(tree):
        if re.search(rf"\b{NOT_YET} {re.escape(flag)}\b", plain):
            yield WarningPhrase("keeps what has a flag", (flag,))
            return
    is_open = _has_threshold(tree) or any(
        value not in question for value in _compared(tree) if not _DIGITS.fullmatch(value)
    )
    if not is_open and (found := ABSENCE.search(IDIOMS.sub(" ", asked))) and _reads_more(tree):
        yield WarningPhrase("excludes nothing", (found[0],))


def find_added_negations(question: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    """Yields a sentence if the statement excludes what the question asks for."""
    if ANY.search(question):
        return
    for value, node in _excluded(tree):
        if value and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", question) and not _is_twice(node):
            yield WarningPhrase("excludes what is asked for", (value,))
            return


def _has_negation(tree: exp.Expr) -> bool:
    """True if anything in the statement excludes rows or counts those that are missing."""
    for node in tree.find_all(
        exp.Not, exp.NEQ, exp.Except, exp.Is, exp.EQ, exp.LT, exp.LTE, exp.Case, exp.If, exp.Boolean
    ):
        match node:
            case exp.Is():
                if not isinstance(node.parent, exp.Not) and not isinstance(node.expression, exp.Not):
                    return True
            case exp.Not():
                if not isinstance(node.this, exp.Is):
                    return True
            case exp.EQ():
                literals = [each for each in (node.this, node.expression) if isinstance(each, exp.Literal)]
                if any(each.this.strip().casefold() in _FALSE for each in literals):
                    return True
            case exp.LT() | exp.LTE():
                if isinstance(node.expression, exp.Literal) and node.expression.this in {"0", "1"}:
                    return True
            case exp.Boolean():
                if not node.this:
                    return True
            case _:
                return True
    return (
        any(join.side or join.kind == "ANTI" for join in tree.find_all(exp.Join))
        or tree.find(exp.Filter) is not None
    )


def _compared(tree: exp.Expr) -> set[str]:
    """Returns the texts that a column must equal, or be like, or be among."""
    found: set[str] = set()
    for node in tree.find_all(exp.EQ, exp.In, exp.Like, exp.ILike):
        if not is_turned(node):
            found |= {each for each in texts_of(node) if not each.isdigit()}
    return found


def _has_threshold(tree: exp.Expr) -> bool:
    """True if a value is compared with a number or another column: what is late is not on time."""
    return any(
        isinstance(other, exp.Column) or (isinstance(other, exp.Literal) and not other.is_string)
        for other in (each.expression for each in tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE))
    )


def _flags(tree: exp.Expr) -> Iterator[str]:
    """Yields the names of columns that must be true: alone, or equal to 1, TRUE, Y or T."""
    for node in tree.find_all(exp.EQ):
        other = node.expression
        is_true = (isinstance(other, exp.Boolean) and other.this) or (
            isinstance(other, exp.Literal) and other.this.casefold() in {"1", "t", "y", "yes", "true"}
        )
        if is_true and isinstance(node.this, exp.Column):
            yield re.sub(r"^(?:is|has)_", "", node.this.name.casefold()).replace("_", " ")
    for where in tree.find_all(exp.Where):
        parts = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
        yield from (each.name.casefold() for each in parts if isinstance(each, exp.Column))


def _reads_more(tree: exp.Expr) -> bool:
    """True if the statement reads several tables, or keeps what is not null: what is missing has a place."""
    return len(list(tree.find_all(exp.Table))) > 1 or any(
        isinstance(each.this, exp.Is) for each in tree.find_all(exp.Not)
    )


def _excluded(tree: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """Yields each text that a column must not equal, with its condition."""
    for node in tree.find_all(exp.NEQ):
        if _filters(node):
            yield from ((value, node) for value in texts_of(node))
    for negated in tree.find_all(exp.Not):
        inner = negated.this.unnest()
        is_compared = isinstance(inner, exp.EQ | exp.In | exp.Like | exp.ILike) and not inner.find(exp.Query)
        if is_compared and _filters(negated):
            yield from ((value, negated) for value in texts_of(inner))


def _filters(node: exp.Expr) -> bool:
    """True for a condition of WHERE, HAVING or ON; false for one that is counted or shown."""
    return isinstance(
        node.find_ancestor(exp.Where, exp.Having, exp.Join, exp.AggFunc, exp.Query),
        exp.Where | exp.Having | exp.Join,
    )


def _is_twice(node: exp.Expr) -> bool:
    """True if a negation stands within another one, or counts in a CASE."""
    return is_excluded(node) or node.find_ancestor(exp.Exists) is not None
