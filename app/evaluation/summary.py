"""Many outcomes in a few numbers."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from app.evaluation.outcome import Kind, Mode, Outcome, by_interaction
from app.evaluation.statistics import Share


@dataclass(frozen=True)
class Summary:
    """Shares leave out questions whose gold failed. `by_mode` has the accuracy by each rule of comparison,
    the other shares are by the one asked for; times are seconds a question, to its rows."""

    mode: Mode
    by_mode: Mapping[Mode, Share]
    by_tag: Mapping[str, Share]
    by_db: Mapping[str, Share]
    by_turn: Mapping[str, Share]
    interactions: Share | None
    kinds: Mapping[Kind, int]
    both_empty: int
    capped: int
    repaired: int
    tokens: int
    median_seconds: float
    slowest_seconds: float

    @property
    def accuracy(self) -> Share:
        return self.by_mode[self.mode]


def summarize(outcomes: Sequence[Outcome], mode: Mode) -> Summary:
    """Takes at least one outcome."""
    scored = [each for each in outcomes if each.scored]
    kinds = Counter(each.kind for each in outcomes)
    seconds = [each.seconds for each in outcomes]
    dialogues = by_interaction(scored)
    return Summary(
        mode=mode,
        by_mode={each: _share(scored, each) for each in get_args(Mode)},
        by_tag=_shares(((tag, each) for each in scored for tag in each.tags), mode),
        by_db=_shares(((each.db or "", each) for each in scored), mode),
        by_turn=_shares(((str(each.turn), each) for turns in dialogues.values() for each in turns), mode),
        interactions=_interactions(dialogues, mode),
        kinds={kind: kinds[kind] for kind in get_args(Kind) if kinds[kind]},
        both_empty=sum(each.both_empty for each in scored),
        capped=sum(each.capped for each in scored),
        repaired=sum(each.repairs > 0 for each in outcomes),
        tokens=sum(each.tokens for each in outcomes),
        median_seconds=statistics.median(seconds),
        slowest_seconds=max(seconds),
    )


def _share(outcomes: Sequence[Outcome], mode: Mode) -> Share:
    return Share(sum(each.right(mode) for each in outcomes), len(outcomes))


def _shares(named: Iterable[tuple[str, Outcome]], mode: Mode) -> dict[str, Share]:
    """By name, in the order of names; nothing where there is but one."""
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for name, outcome in named:
        groups[name].append(outcome)
    return {name: _share(groups[name], mode) for name in sorted(groups)} if len(groups) > 1 else {}


def _interactions(dialogues: Mapping[str, Sequence[Outcome]], mode: Mode) -> Share | None:
    """Conversations of which every turn is right; None where there are none."""
    if not dialogues:
        return None
    right = sum(all(each.right(mode) for each in turns) for turns in dialogues.values())
    return Share(right, len(dialogues))
