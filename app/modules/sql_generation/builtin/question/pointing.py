"""Words of a question that point to the previous answer, and the question without them."""

import re
from collections.abc import Collection, Sequence

from app.modules.sql_generation.builtin.periods import unit_of
from app.modules.sql_generation.builtin.question.lexicon import EXACT_TABLE, Lexicon
from app.modules.sql_generation.builtin.question.words import Token, singular, word_set

_POINTING = word_set("those these this theirs same such previous former latter")
_PRONOUNS = word_set("it its they their them he she his her him")
_TIMED = word_set("this previous")
_ADDING = word_set("also too additionally")
_BEFORE_ONE = word_set("which that this the first last")
_EXISTING = word_set("is are was were be exist exists")
_OPENING = re.compile(
    r"(?:(?:and|now|then|so|ok|okay|well|but|please|only|just|instead|make|what about|how about)(?: |$))+"
)
_ALWAYS_OPENING = re.compile(r"(?:and|what about|how about|instead|but)\b")


def pointing(tokens: Sequence[Token], lexicon: Lexicon) -> list[int]:
    """Returns the positions of words that point to the previous answer.

    A pronoun after a table's name stands for the rows of that table instead.
    """
    raws = [token.raw if token.kind in ("word", "number") else "" for token in tokens]
    named, nouns = _named(tokens, lexicon)
    return [at for at in range(len(raws)) if _points(raws, at, nouns, named=at > named)]


def without(tokens: Sequence[Token], positions: Sequence[int]) -> list[Token]:
    """Returns the question without the words at `positions` and without the opening of a follow-up."""
    rest = [token for at, token in enumerate(tokens) if at not in positions and token.raw != "instead"]
    if positions and is_adding(tokens) and rest and rest[0].raw in ("add", "include"):
        rest.pop(0)
    while rest and rest[0].raw == ",":
        rest.pop(0)
    opening = _OPENING.match(" ".join(token.raw for token in rest))
    return rest[len(opening[0].split()) :] if opening else rest


def opens_as_follow_up(tokens: Sequence[Token]) -> str:
    """Returns the words at the start or end that only a follow-up has; empty if there are none."""
    text = " ".join(token.raw for token in tokens if token.raw != ",")
    if opening := _ALWAYS_OPENING.match(text):
        return opening[0]
    return "instead" if text.endswith(" instead") else ""


def repeats_question(tokens: Sequence[Token]) -> bool:
    """True for "the same for Germany": the question is asked again, not about the rows of its answer."""
    rest = [token.raw for token in without(tokens, ())]
    return [raw for raw in rest[:2] if raw != "the"][:1] == ["same"]


def is_adding(tokens: Sequence[Token]) -> bool:
    """True if the columns asked for are to be added to those of the previous answer."""
    text = " ".join(token.raw for token in tokens)
    return (
        bool(_ADDING.intersection(text.split()))
        or " as well" in text
        or text.startswith(("add ", "include "))
    )


def _named(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[int, set[int]]:
    """Returns the position of the first name of a table, or of a column with that of its table, and the
    positions of all names of tables and columns.

    The first is the number of tokens if no table is named.
    """
    first = len(tokens)
    nouns = set[int]()
    for at in range(len(tokens)):
        length, links = lexicon.find(tokens[at:])
        if any(link.is_table or (link.is_column and link.score >= EXACT_TABLE) for link in links):
            first = min(first, at)
        if links:
            nouns.update(range(at, at + length))
    return first, nouns


def _points(raws: Sequence[str], at: int, nouns: Collection[int], *, named: bool) -> bool:
    raw = raws[at]
    before = raws[at - 1] if at else ""
    after = raws[at + 1] if at + 1 < len(raws) else ""
    if raw in _POINTING or raw in _ADDING:
        return raw not in _TIMED or unit_of(singular(after)) is None
    if raw in _PRONOUNS:
        return not named
    match raw:
        case "that":
            return not after or at - 1 not in nouns  # "customers that ..." goes on about the customers
        case "there":
            return before not in _EXISTING and after not in _EXISTING
        case "above":
            return not after or before == "the"
        case "1" | "one" | "ones":
            return before in _BEFORE_ONE
        case "as":
            return after == "well"
        case "well":
            return before == "as"
        case _:
            return False
