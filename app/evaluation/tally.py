"""How many questions have each verdict, and what they cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.evaluation.outcome import Mode, Outcome, Verdict
from app.evaluation.statistics import Share


@dataclass(frozen=True)
class Cost:
    """What a question takes of the model until its rows are there, on average."""

    calls: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def tokens(self) -> float:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Tally:
    """Questions by their verdict, and what one costs."""

    counts: Mapping[Verdict, int]
    cost: Cost

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


def tally(outcomes: Sequence[Outcome], mode: Mode) -> Tally:
    """Takes outcomes whose gold ran."""
    return Tally(Counter(each.verdict(mode) for each in outcomes), _cost(outcomes))


def _cost(outcomes: Sequence[Outcome]) -> Cost:
    count = len(outcomes) or 1
    return Cost(
        calls=sum(each.calls for each in outcomes) / count,
        prompt_tokens=sum(each.prompt_tokens for each in outcomes) / count,
        completion_tokens=sum(each.completion_tokens for each in outcomes) / count,
    )
