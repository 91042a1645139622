"""Many outcomes in a few numbers."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from app.evaluation.outcome import Kind, Mode, Outcome, by_interaction
from app.evaluation.statistics import Share
from app.evaluation.tally import Tally, tally


@dataclass(frozen=True)
class Summary:
    """Tallies leave out questions whose gold failed. `by_mode` has one for each rule of comparison, the
    others are by the one asked for; `follow_ups` are the later turns of conversations, None where there are
    none. Times are seconds a question, to its rows."""

    mode: Mode
    by_mode: Mapping[Mode, Tally]
    by_tag: Mapping[str, Tally]
    by_db: Mapping[str, Tally]
    by_turn: Mapping[str, Tally]
    follow_ups: Tally | None
    interactions: Share | None
    kinds: Mapping[Kind, int]
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


def summarize(outcomes: Sequence[Outcome], mode: Mode) -> Summary:
    """Takes at least one outcome."""
    scored = [each for each in outcomes if each.scored]
    kinds = Counter(each.kind for each in outcomes)
    seconds = [each.seconds for each in outcomes]
    dialogues = by_interaction(scored)
    turns = [each for exchanges in dialogues.values() for each in exchanges]
    later = [each for exchanges in by_interaction(outcomes).values() for each in exchanges[1:] if each.scored]
    return Summary(
        mode=mode,
        by_mode={each: tally(scored, each) for each in get_args(Mode)},
        by_tag=_tallies(((tag, each) for each in scored for tag in each.tags), mode),
        by_db=_tallies(((each.db or "", each) for each in scored), mode),
        by_turn=_tallies(((str(each.turn), each) for each in turns), mode),
        follow_ups=tally(later, mode) if later else None,
        interactions=_interactions(dialogues, mode),
        kinds={kind: kinds[kind] for kind in get_args(Kind) if kinds[kind]},
        capped=sum(each.capped for each in scored),
        corrected=sum(bool(each.corrections) for each in outcomes),
        repaired=sum(each.repairs > 0 for each in outcomes),
        tokens=sum(each.tokens for each in outcomes),
        median_seconds=statistics.median(seconds),
        slowest_seconds=max(seconds),
    )


def _tallies(named: Iterable[tuple[str, Outcome]], mode: Mode) -> dict[str, Tally]:
    """By name, in the order of names; nothing where there is but one."""
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for name, outcome in named:
        groups[name].append(outcome)
    return {name: tally(groups[name], mode) for name in sorted(groups)} if len(groups) > 1 else {}


def _interactions(dialogues: Mapping[str, Sequence[Outcome]], mode: Mode) -> Share | None:
    """Conversations of which every turn is right; None where there are none."""
    if not dialogues:
        return None
    right = sum(all(each.right(mode) for each in turns) for turns in dialogues.values())
    return Share(right, len(dialogues))
