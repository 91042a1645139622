"""How many questions have each verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.evaluation.outcome import Mode, Outcome, Verdict
from app.evaluation.statistics import Share


@dataclass(frozen=True)
class Tally:
    """Questions by their verdict."""

    counts: Mapping[Verdict, int]

    def __getitem__(self, verdict: Verdict) -> int:
        return self.counts.get(verdict, 0)

    @property
    def accuracy(self) -> Share:
        """The share of all questions."""
        return Share(self._right, sum(self.counts.values()))

    @property
    def of_answered(self) -> Share:
        """The share of the questions that were answered with rows: how far an answer can be trusted."""
        return Share(self._right, self._right + self["wrong_and_sure"])

    @property
    def _right(self) -> int:
        return self["right"] + self["right_but_empty"]


def tally(outcomes: Iterable[Outcome], mode: Mode) -> Tally:
    """Takes outcomes whose gold ran."""
    return Tally(Counter(each.verdict(mode) for each in outcomes))
