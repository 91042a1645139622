"""An evaluation in the terminal."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.evaluation.comparison import Comparison
from app.evaluation.outcome import Outcome
from app.evaluation.statistics import Share
from app.evaluation.summary import Summary

_QUESTIONS_SHOWN = 20


def print_summary(console: Console, summary: Summary) -> None:
    """The headline, then what it is made of. Terminal codes in names are inert."""
    console.print(Text(f"Execution accuracy ({summary.mode}): {summary.accuracy}", style="bold"))
    for mode, share in summary.by_mode.items():
        if mode != summary.mode:
            console.print(Text(f"{mode}: {share}"))
    if summary.interactions is not None:
        console.print(Text(f"Whole conversations right: {summary.interactions}"))
    console.print(_kinds(summary))
    groups = {"tag": summary.by_tag, "database": summary.by_db, "turn": summary.by_turn}
    for title, shares in groups.items():
        if shares:
            console.print(_shares(title, shares))
    console.print(Text(_costs(summary), style="dim"))


def print_comparison(console: Console, comparison: Comparison) -> None:
    """How the second evaluation differs from the first."""
    console.print(Text(f"A: {comparison.first}"))
    console.print(Text(f"B: {comparison.second}"))
    won, lost = comparison.improvements, comparison.regressions
    console.print(
        Text(
            f"B answers {len(won)} that A does not, A {len(lost)} that B does not: "
            f"p = {comparison.p_value:.3g} (McNemar's exact test)",
            style="bold",
        )
    )
    for title, outcomes in (("Regressions", lost), ("Improvements", won)):
        if outcomes:
            console.print(_questions(title, outcomes))


def _kinds(summary: Summary) -> Table:
    table = Table("kind", "questions")
    for kind, count in summary.kinds.items():
        table.add_row(kind, str(count))
    table.columns[1].justify = "right"
    return table


def _shares(title: str, shares: Mapping[str, Share]) -> Table:
    table = Table(title, "right", "of", "accuracy", "95 % interval")
    for name, share in shares.items():
        interval = f"{share.low:.0%} to {share.high:.0%}"
        table.add_row(Text(_inert(name)), str(share.right), str(share.all), f"{share.value:.1%}", interval)
    return table


def _costs(summary: Summary) -> str:
    return (
        f"{summary.tokens:,} tokens; {summary.median_seconds:.2f} s a question (median), "
        f"{summary.slowest_seconds:.2f} s the slowest; {summary.repaired} repaired; "
        f"{summary.both_empty} right with no rows on either side; {summary.capped} compared in part only"
    )


def _questions(title: str, outcomes: list[tuple[Outcome, Outcome]]) -> Table:
    table = Table("id", "question", "A", "B", title=f"{title}: {len(outcomes)}", title_justify="left")
    for first, second in outcomes[:_QUESTIONS_SHOWN]:
        table.add_row(Text(_inert(first.id)), Text(_inert(first.question)), first.kind, second.kind)
    if len(outcomes) > _QUESTIONS_SHOWN:
        table.caption = f"and {len(outcomes) - _QUESTIONS_SHOWN} more"
    return table


def _inert(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
