"""Contradictions of number: five rows are asked for, and the statement returns ten."""

import re
from collections.abc import Iterator

from sqlglot import exp

from app.modules.sql_generation.contradictions.asked import NUMBER, number_of
from app.modules.sql_generation.sentences import WarningPhrase

_ENDS = (
    r"(?:most|least|highest|lowest|largest|smallest|biggest|best|worst|cheapest|longest|shortest|newest"
    r"|oldest|"
    r"latest|earliest|youngest|fewest|heaviest|greatest|top)"
)
_UNITS = (
    r"(?:%|percent\w*|(?:-|\s)?(?:second|minute|hour|day|week|month|quarter|year|decade|season|letter"
    r"|character|digit|"
    r"word|star|decimal|point|way|page|column)s?\b|[.,]\d|\s?(?:k|m|million|thousand|hundred)\b|st\b"
    r"|nd\b|rd\b|th\b)"
)
_COUNTED = re.compile(
    rf"(?<!at )\b(?:top|bottom|first|last|latest|newest|oldest"
    rf"|{_ENDS}) (?P<behind>{NUMBER})\b(?!\s?{_UNITS})(?!-)"
    rf"|(?<![.\d])\b(?P<before>{NUMBER}) (?:most|least|highest|lowest|largest|smallest|biggest|best"
    rf"|worst|cheapest|"
    rf"longest|shortest|newest|oldest|latest|earliest|youngest|heaviest|greatest)\b(?! of)"
    rf"|\b(?P<with>{NUMBER}) (?!{_UNITS})[a-z]+ (?:with|that have|which have|who have|having"
    rf"|of) the {_ENDS}\b"
)
_SHOWN = re.compile(
    rf"^(?:please )?(?:show|give|list|display|name|return)(?: me)?(?: any| only"
    rf"| just)? (?P<shown>{NUMBER}) (?!{_UNITS})[a-z]"
)
_EACH = re.compile(r"\b(?:than|each|every|per|between|page|sample|offset|next)\b")


def find_other_limits(asked: str, tree: exp.Expr) -> Iterator[WarningPhrase]:
    """Yields a sentence if the question names the number of rows, and the statement returns another one."""
    found = _COUNTED.search(asked)
    shown = None if found else _SHOWN.search(asked)
    if found is None and shown is None:
        return
    number = number_of(shown["shown"] if found is None and shown else _word(found))
    literals = {each.this for each in tree.find_all(exp.Literal) if not each.is_string}
    if str(number) in literals or str(number + 1) in literals or _EACH.search(asked):
        return
    limit = _limit(tree)
    if limit is not None:
        yield WarningPhrase("other limit", (number, limit))
    elif found is not None and tree.find(exp.Limit, exp.Fetch, exp.Window) is None and not _returns_one(tree):
        yield WarningPhrase("no limit", (number,))


def _word(found: re.Match[str] | None) -> str:
    return next(each for each in found.groups() if each) if found else ""


def _limit(tree: exp.Expr) -> int | None:
    limit = tree.args.get("limit")
    count = limit.expression if isinstance(limit, exp.Limit) else None
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else count
    return int(count.this) if isinstance(count, exp.Literal) and count.is_int else None


def _returns_one(tree: exp.Expr) -> bool:
    """True if the statement computes one row: the number is then part of what is computed."""
    return isinstance(tree, exp.Select) and not tree.args.get("group") and tree.find(exp.AggFunc) is not None
