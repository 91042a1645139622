"""Summary statistics of one evaluation, and the comparison of two on the same question set."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median
from typing import get_args

from app.evaluation.results import (
    MatchingMode,
    OutcomeKind,
    OutcomeVerdict,
    QuestionOutcome,
    Results,
    ResultsInvalid,
    by_interaction,
)

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Share:
    """`right` of `all`; `low` and `high` bound it with 95 % confidence, by Wilson's interval."""

    right: int
    all: int

    @property
    def value(self) -> float:
        return self.right / self.all if self.all else 0.0

    @property
    def low(self) -> float:
        return max(0.0, self._center - self._margin) if self.all else 0.0

    @property
    def high(self) -> float:
        return min(1.0, self._center + self._margin) if self.all else 1.0

    @property
    def _center(self) -> float:
        return (self.value + _Z**2 / (2 * self.all)) / (1 + _Z**2 / self.all)

    @property
    def _margin(self) -> float:
        spread = self.value * (1 - self.value) / self.all + _Z**2 / (4 * self.all**2)
        return _Z * math.sqrt(spread) / (1 + _Z**2 / self.all)

    def __str__(self) -> str:
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%}), {self.right} of {self.all}"


@dataclass(frozen=True)
class Difference:
    """The difference between two shares of the same `asked` questions.

    `lost` counts the questions that only the first answered rightly, `won` those that only the second did.

    `low` and `high` bound it with 95 % confidence, by Bonett and Price's interval for pairs.
    """

    lost: int
    won: int
    asked: int

    @property
    def value(self) -> float:
        return (self.won - self.lost) / self.asked

    @property
    def low(self) -> float:
        return max(-1.0, self._center - self._margin)

    @property
    def high(self) -> float:
        return min(1.0, self._center + self._margin)

    @property
    def _center(self) -> float:
        return (self.won - self.lost) / (self.asked + 2)

    @property
    def _margin(self) -> float:
        differing = (self.won + self.lost + 2) / (self.asked + 2)
        return _Z * math.sqrt((differing - self._center**2) / (self.asked + 2))

    def __str__(self) -> str:
        value, low, high = (f"{100 * each:+.1f}" for each in (self.value, self.low, self.high))
        return f"{value} points ({low} to {high})"


def mcnemar_exact(lost: int, won: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    `lost` and `won` count the questions that only the first, and only the second, answered rightly.
    """
    differing = lost + won
    tail = sum(math.comb(differing, few) for few in range(min(lost, won) + 1))
    return min(1.0, 2 * tail / (1 << differing))


@dataclass(frozen=True)
class Cost:
    """Average model calls and tokens a question, until its rows."""

    calls: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def tokens(self) -> float:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Tally:
    """Counts of questions by verdict, and the average cost of one."""

    counts: Mapping[OutcomeVerdict, int]
    cost: Cost

    def __getitem__(self, verdict: OutcomeVerdict) -> int:
        return self.counts.get(verdict, 0)

    @property
    def accuracy(self) -> Share:
        """The right answers as a share of all questions."""
        return Share(self._right, sum(self.counts.values()))

    @property
    def of_answered(self) -> Share:
        """The right answers as a share of the answers with rows: how far an answer can be trusted."""
        return Share(self._right, self._right + self["wrong_and_sure"])

    @property
    def _right(self) -> int:
        return self["right"] + self["right_but_empty"]


def tally(outcomes: Sequence[QuestionOutcome], mode: MatchingMode) -> Tally:
    """Count the verdicts under `mode`. The gold of every outcome must have run."""
    return Tally(Counter(each.verdict(mode) for each in outcomes), _cost(outcomes))


def _cost(outcomes: Sequence[QuestionOutcome]) -> Cost:
    count = len(outcomes) or 1
    return Cost(
        calls=sum(each.calls for each in outcomes) / count,
        prompt_tokens=sum(each.prompt_tokens for each in outcomes) / count,
        completion_tokens=sum(each.completion_tokens for each in outcomes) / count,
    )


@dataclass(frozen=True, kw_only=True)
class EvaluationSummary:
    """The numbers of one evaluation.

    Tallies leave out questions whose gold failed. `by_mode` has a tally for each mode; all other numbers use
    `mode`. `follow_ups` counts the later turns of conversations, `interactions` the conversations with every
    turn right; both are None without conversations. Times are seconds a question, until its rows.
    """

    mode: MatchingMode
    by_mode: Mapping[MatchingMode, Tally]
    by_tag: Mapping[str, Tally]
    by_db: Mapping[str, Tally]
    by_turn: Mapping[str, Tally]
    follow_ups: Tally | None
    interactions: Share | None
    kinds: Mapping[OutcomeKind, int]
    capped: int
    corrected: int
    repaired: int
    tokens: int
    median_seconds: float
    slowest_seconds: float

    @property
    def tally(self) -> Tally:
        return self.by_mode[self.mode]

    @property
    def accuracy(self) -> Share:
        return self.tally.accuracy


def summarize(outcomes: Sequence[QuestionOutcome], mode: MatchingMode) -> EvaluationSummary:
    """Summarize the outcomes. Raises `StatisticsError` when there are none."""
    scored = [each for each in outcomes if each.scored]
    kinds = Counter(each.kind for each in outcomes)
    seconds = [each.seconds for each in outcomes]
    dialogues = by_interaction(scored)
    turns = [each for exchanges in dialogues.values() for each in exchanges]
    later = [each for exchanges in by_interaction(outcomes).values() for each in exchanges[1:] if each.scored]
    return EvaluationSummary(
        mode=mode,
        by_mode={each: tally(scored, each) for each in get_args(MatchingMode)},
        by_tag=_tallies(((tag, each) for each in scored for tag in each.tags), mode),
        by_db=_tallies(((each.db or "", each) for each in scored), mode),
        by_turn=_tallies(((str(each.turn), each) for each in turns), mode),
        follow_ups=tally(later, mode) if later else None,
        interactions=_interactions(dialogues, mode),
        kinds={kind: kinds[kind] for kind in get_args(OutcomeKind) if kinds[kind]},
        capped=sum(each.capped for each in scored),
        corrected=sum(bool(each.corrections) for each in outcomes),
        repaired=sum(each.repairs > 0 for each in outcomes),
        tokens=sum(each.tokens for each in outcomes),
        median_seconds=median(seconds),
        slowest_seconds=max(seconds),
    )


def _tallies(named: Iterable[tuple[str, QuestionOutcome]], mode: MatchingMode) -> dict[str, Tally]:
    """A tally for each name, sorted by name; empty when there is only one name."""
    groups: defaultdict[str, list[QuestionOutcome]] = defaultdict(list)
    for name, outcome in named:
        groups[name].append(outcome)
    return {name: tally(groups[name], mode) for name in sorted(groups)} if len(groups) > 1 else {}


def _interactions(dialogues: Mapping[str, Sequence[QuestionOutcome]], mode: MatchingMode) -> Share | None:
    """The share of conversations with every turn right; None without conversations."""
    if not dialogues:
        return None
    right = sum(all(each.right(mode) for each in turns) for turns in dialogues.values())
    return Share(right, len(dialogues))


Pair = tuple[QuestionOutcome, QuestionOutcome]


@dataclass(frozen=True, kw_only=True)
class EvaluationComparison:
    """Two evaluations, over the questions that both asked and whose gold ran in both.

    Each pair holds the outcome of the first and of the second evaluation.
    """

    first: Tally
    second: Tally
    regressions: list[Pair]
    improvements: list[Pair]
    newly_wrong_and_sure: list[Pair]

    @property
    def difference(self) -> Difference:
        """The second accuracy less the first."""
        asked = self.first.accuracy.all
        return Difference(lost=len(self.regressions), won=len(self.improvements), asked=asked)

    @property
    def p_value(self) -> float:
        """The p-value of McNemar's exact test: small when chance is an unlikely cause of the difference."""
        return mcnemar_exact(len(self.regressions), len(self.improvements))


def compare(first: Results, second: Results, mode: MatchingMode) -> EvaluationComparison:
    """Compare two evaluations under `mode`.

    Raises `ResultsInvalid` when their question sets differ or they have no scored question in common.
    """
    if first.header.set_digest != second.header.set_digest:
        raise ResultsInvalid(
            f"The results are of different question sets: {first.header.question_set} "
            f"({first.header.set_digest[:8]}) and {second.header.question_set} "
            f"({second.header.set_digest[:8]})."
        )
    pairs = [
        (one, second.outcomes[name])
        for name, one in first.outcomes.items()
        if name in second.outcomes and one.scored and second.outcomes[name].scored
    ]
    if not pairs:
        raise ResultsInvalid("No question was asked in both evaluations.")
    return EvaluationComparison(
        first=tally([one for one, _ in pairs], mode),
        second=tally([two for _, two in pairs], mode),
        regressions=[(one, two) for one, two in pairs if one.right(mode) and not two.right(mode)],
        improvements=[(one, two) for one, two in pairs if two.right(mode) and not one.right(mode)],
        newly_wrong_and_sure=[
            (one, two) for one, two in pairs if two.verdict(mode) == "wrong_and_sure" != one.verdict(mode)
        ],
    )
