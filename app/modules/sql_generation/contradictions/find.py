"""Contradictions between a question and its statement: direction, number, period and negation.

Both are known, so what contradicts is certain; where words or a tree may mean several things, nothing is
found. Reads English, German, Spanish and French.
"""

from collections.abc import Iterator
from datetime import date
from itertools import islice

from sqlglot import exp

from app.modules.sql_generation.contradictions.asked import plain_question
from app.modules.sql_generation.contradictions.directions import (
    find_opposite_comparisons,
    find_opposite_ends,
)
from app.modules.sql_generation.contradictions.limits import find_other_limits
from app.modules.sql_generation.contradictions.negations import find_added_negations, find_lost_negations
from app.modules.sql_generation.contradictions.periods import find_other_periods
from app.modules.sql_generation.contradictions.translation import translate
from app.modules.sql_generation.sentences import WarningPhrase

_MOST_CONDITIONS = 300
"""A statement with more of them is not read: each is looked for in the question and upwards in the tree."""


def find_contradictions(question: str, tree: exp.Expr, today: date) -> Iterator[WarningPhrase]:
    """Yields a sentence for each contradiction. `today` is the day that "last year" counts from."""
    if not isinstance(tree, exp.Query) or not question.strip():
        return
    conditions = tree.find_all(exp.Condition, exp.Literal)
    if next(islice(conditions, _MOST_CONDITIONS, None), None) is not None:
        return
    asked = plain_question(question, tree)
    whole = " ".join(question.casefold().replace("’", "'").split())
    english = translate(asked)
    yield from find_opposite_ends(english, tree)
    yield from find_opposite_comparisons(english, tree)
    yield from find_other_limits(english, tree)
    yield from find_other_periods(translate(whole), tree, today)
    yield from find_lost_negations(asked, whole, tree)
    yield from find_added_negations(whole, tree)
