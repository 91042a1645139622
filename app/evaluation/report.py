"""An evaluation as one HTML page that needs nothing but itself: no script, no file beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from jinja2 import Environment, StrictUndefined

from app.evaluation.outcome import Outcome, Verdict
from app.evaluation.results_file import Header
from app.evaluation.summary import Summary

_TEMPLATE = (Path(__file__).parent / "report.html.jinja").read_text(encoding="utf-8")


def write_report(path: Path, header: Header, summary: Summary, outcomes: Sequence[Outcome]) -> None:
    """The numbers, and every question that was not answered rightly, gold and prediction side by side."""
    path.write_text(render(header, summary, outcomes), encoding="utf-8")


def render(header: Header, summary: Summary, outcomes: Sequence[Outcome]) -> str:
    """The page. Whatever comes from questions, statements and rows stands in it as text."""
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    failures = [each for each in outcomes if not each.right(summary.mode)]
    groups = {
        "Mode": summary.by_mode,
        "Tag": summary.by_tag,
        "Database": summary.by_db,
        "Turn": summary.by_turn,
    }
    return page.from_string(_TEMPLATE).render(
        header=header,
        summary=summary,
        groups=groups,
        verdicts=get_args(Verdict),
        failures=failures,
        asked=len(outcomes),
    )
