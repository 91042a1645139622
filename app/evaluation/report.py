"""Reports of an evaluation: tables in the terminal, and one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from jinja2 import Environment, StrictUndefined
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.evaluation.results import Header, MatchingMode, OutcomeVerdict, QuestionOutcome
from app.evaluation.summary import Cost, EvaluationComparison, EvaluationSummary, Share, Tally
from app.terminal.console import make_inert

_QUESTIONS_SHOWN = 20


def print_summary(console: Console, summary: EvaluationSummary) -> None:
    """Print the accuracy, then its breakdown. Control characters in names are replaced by spaces."""
    console.print(Text(f"Execution accuracy ({summary.mode}): {summary.accuracy}", style="bold"))
    console.print(Text(f"Right of answered: {summary.tally.of_answered}", style="bold"))
    if by_chance := summary.tally["right_but_empty"]:
        console.print(Text(f"Right with no rows, a single 0 or NULL, as by chance: {by_chance}"))
    if summary.follow_ups is not None:
        console.print(Text(f"Right of answered, follow-ups: {summary.follow_ups.of_answered}"))
    if summary.interactions is not None:
        console.print(Text(f"Whole conversations right: {summary.interactions}"))
    console.print(_kinds(summary))
    console.print(_tallies("mode", summary.by_mode))
    groups = {"tag": summary.by_tag, "database": summary.by_db, "turn": summary.by_turn}
    for title, tallies in groups.items():
        if tallies:
            console.print(_tallies(title, tallies))
    console.print(Text(_costs(summary), style="dim"))


def print_comparison(
    console: Console, comparison: EvaluationComparison, names: tuple[str, str] = ("A", "B")
) -> None:
    """Print how the second evaluation differs from the first, in accuracy and in cost."""
    first, second = names
    for name, tally in ((first, comparison.first), (second, comparison.second)):
        console.print(Text(f"{name}: {tally.accuracy}; {_cost_of(tally.cost)}"))
    console.print(_tallies("", {first: comparison.first, second: comparison.second}))
    won, lost = comparison.improvements, comparison.regressions
    console.print(
        Text(
            f"{second} - {first}: {comparison.difference}, "
            f"p = {comparison.p_value:.3g} (McNemar's exact test); "
            f"{second} answers {len(won)} that {first} does not, {first} {len(lost)} that {second} does not",
            style="bold",
        )
    )
    misled = comparison.newly_wrong_and_sure
    for title, outcomes in (
        ("Regressions", lost),
        ("Improvements", won),
        (f"Wrong and sure in {second} alone", misled),
    ):
        if outcomes:
            console.print(_questions(title, outcomes, names))


def _kinds(summary: EvaluationSummary) -> Table:
    table = Table("kind", "questions")
    for kind, count in summary.kinds.items():
        table.add_row(kind, str(count))
    table.columns[1].justify = "right"
    return table


def _tallies(title: str, tallies: Mapping[str, Tally] | Mapping[MatchingMode, Tally]) -> Table:
    verdicts: tuple[OutcomeVerdict, ...] = get_args(OutcomeVerdict)
    table = Table(
        title,
        *(each.replace("_", " ") for each in verdicts),
        "of all",
        "of answered",
        "calls",
        "tokens",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name, tally in tallies.items():
        counts = [str(tally[verdict]) for verdict in verdicts]
        shares = (f"{tally.accuracy.value:.1%}", _percent(tally.of_answered))
        cost = (f"{tally.cost.calls:.2f}", f"{tally.cost.tokens:,.0f}")
        table.add_row(Text(make_inert(name)), *counts, *shares, *cost)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _percent(share: Share) -> str:
    return f"{share.value:.1%}" if share.all else "-"


def _costs(summary: EvaluationSummary) -> str:
    return (
        f"{_cost_of(summary.tally.cost)}; {summary.tokens:,} tokens in all; "
        f"{summary.median_seconds:.2f} s a question (median), {summary.slowest_seconds:.2f} s the slowest; "
        f"{summary.corrected} corrected, {summary.repaired} repaired; "
        f"{summary.capped} compared in part only"
    )


def _cost_of(cost: Cost) -> str:
    return (
        f"{cost.calls:.2f} calls and {cost.tokens:,.0f} tokens a question "
        f"({cost.prompt_tokens:,.0f} of prompts, {cost.completion_tokens:,.0f} of replies)"
    )


def _questions(
    title: str, outcomes: list[tuple[QuestionOutcome, QuestionOutcome]], names: tuple[str, str]
) -> Table:
    table = Table("id", "question", *names, title=f"{title}: {len(outcomes)}", title_justify="left")
    for first, second in outcomes[:_QUESTIONS_SHOWN]:
        table.add_row(Text(make_inert(first.id)), Text(make_inert(first.question)), first.kind, second.kind)
    if len(outcomes) > _QUESTIONS_SHOWN:
        table.caption = f"and {len(outcomes) - _QUESTIONS_SHOWN} more"
    return table


_PAGE = Environment(
    autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
).from_string((Path(__file__).parent / "report.html.jinja").read_text(encoding="utf-8"))


def write_report(
    path: Path, header: Header, summary: EvaluationSummary, *, outcomes: Sequence[QuestionOutcome]
) -> None:
    """Write the HTML page: the numbers, and each wrong answer with gold and prediction side by side."""
    path.write_text(render(header, summary, outcomes), encoding="utf-8")


def render(header: Header, summary: EvaluationSummary, outcomes: Sequence[QuestionOutcome]) -> str:
    """Return the HTML page. Text of questions, statements and rows is escaped."""
    failures = [each for each in outcomes if not each.right(summary.mode)]
    groups = {
        "MatchingMode": summary.by_mode,
        "Tag": summary.by_tag,
        "Database": summary.by_db,
        "Turn": summary.by_turn,
    }
    return _PAGE.render(
        header=header,
        summary=summary,
        groups=groups,
        verdicts=get_args(OutcomeVerdict),
        failures=failures,
        asked=len(outcomes),
    )
