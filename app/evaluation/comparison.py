"""Two evaluations of one question set, question by question."""

from dataclasses import dataclass

from app.evaluation.outcome import Mode, Outcome
from app.evaluation.results_file import Results, ResultsInvalid
from app.evaluation.statistics import Difference, mcnemar_exact
from app.evaluation.tally import Tally, tally

Pair = tuple[Outcome, Outcome]


@dataclass(frozen=True)
class Comparison:
    """Over the questions that both were asked and whose gold ran; each pair is the first's outcome and the
    second's."""

    first: Tally
    second: Tally
    regressions: list[Pair]
    improvements: list[Pair]
    newly_wrong_and_sure: list[Pair]

    @property
    def difference(self) -> Difference:
        """How much greater the second's accuracy is."""
        asked = self.first.accuracy.all
        return Difference(lost=len(self.regressions), won=len(self.improvements), asked=asked)

    @property
    def p_value(self) -> float:
        """Small when chance alone would hardly give this difference."""
        return mcnemar_exact(len(self.regressions), len(self.improvements))


def compare(first: Results, second: Results, mode: Mode) -> Comparison:
    """Raises `ResultsInvalid` when there is nothing to pair."""
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
    return Comparison(
        first=tally([one for one, _ in pairs], mode),
        second=tally([two for _, two in pairs], mode),
        regressions=[(one, two) for one, two in pairs if one.right(mode) and not two.right(mode)],
        improvements=[(one, two) for one, two in pairs if two.right(mode) and not one.right(mode)],
        newly_wrong_and_sure=[
            (one, two) for one, two in pairs if two.verdict(mode) == "wrong_and_sure" != one.verdict(mode)
        ],
    )
