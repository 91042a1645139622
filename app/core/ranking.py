"""Several rankings of the same things, fused into one."""

from collections import defaultdict
from collections.abc import Sequence

_FLATTENING = 60
"""The usual constant of reciprocal rank fusion: how little the very first places stand out."""


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion: names that stand high in many rankings come first, ties by name.

    A ranking by any other measure of likeness is one more list.
    """
    return list(relevances(rankings))


def relevances(rankings: Sequence[Sequence[str]]) -> dict[str, float]:
    """Returns the names of `fused` in its order, with their scores as parts of the best possible one.

    1 is the first place in every ranking.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] += 1 / (_FLATTENING + rank)
    best_first = sorted(scores, key=lambda name: (-scores[name], name))
    best = len(rankings) / _FLATTENING
    return {name: min(scores[name] / best, 1.0) for name in best_first}
