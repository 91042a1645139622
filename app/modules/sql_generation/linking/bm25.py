"""Okapi BM25 ranking: documents that share the rarer words of a query come first."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

_K1 = 1.2
_B = 0.75


class Bm25:
    """An index of named documents. A document is a list of words; repeated words weigh more."""

    def __init__(self, documents: Mapping[str, Sequence[str]]) -> None:
        self._postings: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
        mean = sum(map(len, documents.values())) / max(1, len(documents)) or 1
        for name, words in documents.items():
            length = _K1 * (1 - _B + _B * len(words) / mean)
            for word, count in Counter(words).items():
                self._postings[word].append((name, count * (_K1 + 1) / (count + length)))
        self._count = len(documents)

    def ranked(self, query: Sequence[str]) -> list[str]:
        """Returns the names of documents that share a word with the query, best first, ties by name."""
        scores = self.scores(query)
        return sorted(scores, key=lambda name: (-scores[name], name))

    def scores(self, query: Sequence[str]) -> dict[str, float]:
        """Returns the score, above zero, of each document that shares a word with the query."""
        scores: defaultdict[str, float] = defaultdict(float)
        for word in sorted(set(query)):
            postings = self._postings.get(word, ())
            rarity = log(1 + (self._count - len(postings) + 0.5) / (len(postings) + 0.5))
            for name, weight in postings:
                scores[name] += rarity * weight
        return dict(scores)
