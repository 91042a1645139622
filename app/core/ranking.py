"""Several rankings of the same things, fused into one."""

from collections import defaultdict
from collections.abc import Sequence

_FLATTENING = 60
"""The usual constant of reciprocal rank fusion: how little the very first places stand out."""


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion: names that stand high in many rankings come first, ties by name.

    A ranking by any other measure of likeness is one more list.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] += 1 / (_FLATTENING + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))
