"""How often the checker is right, over analyses in many wordings with known true and false claims."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from app.modules.analysis.claims.check import check_claims
from app.modules.analysis.figures import figures
from app.modules.analysis.text import describe
from graph.state import Claim, Column, Rows
from tests.support.claims_corpus import CorpusAnalysis, Result, analyses, results
from tests.unit.analysis.test_readings_of_shapes import CASES

MOST_ACCUSED = 0.02
LEAST_FOUND = 0.95


@dataclass
class Score:
    """`true` claims and those of them `accused`, `false` ones and those `found`."""

    true: int = 0
    accused: int = 0
    false: int = 0
    found: int = 0

    def add(self, analysis: CorpusAnalysis) -> None:
        wrong = [claim for claim in claims_of(analysis.text, analysis.result) if claim["status"] != "checked"]
        if analysis.false is None:
            self.true += len(claims_of(analysis.text, analysis.result))
            self.accused += len(wrong)
        else:
            self.false += 1
            self.found += any(_is_near(claim, analysis.false) for claim in wrong)


def _is_near(claim: Claim, false: tuple[int, int]) -> bool:
    """A false word may make the number next to it false instead."""
    start, end = claim["span"]
    return start < false[1] + 30 and end > false[0] - 60


def claims_of(text: str, result: Result) -> list[Claim]:
    found = figures(result.question, result.sql, "sqlite", rows=result.rows)
    return check_claims(text, result.rows, question=result.question, sql=result.sql, found=found)


def scored(*, held_out: bool) -> Iterator[Score]:
    score = Score()
    for analysis in (*analyses("prose.txt"), *analyses("fresh.txt"), *analyses("field.txt")):
        if analysis.held_out == held_out:
            score.add(analysis)
    yield score


def test_the_corpus_is_large() -> None:
    assert len(list(analyses())) >= 300


@pytest.mark.parametrize("held_out", [False, True])
def test_true_claims_are_left_alone_and_false_ones_found(*, held_out: bool) -> None:
    (score,) = scored(held_out=held_out)
    assert score.accused <= MOST_ACCUSED * score.true
    assert score.found >= LEAST_FOUND * score.false


def test_the_built_in_text_of_awkward_results_is_hardly_accused() -> None:
    claims: list[Claim] = []
    for case in CASES.values():
        rows = Rows(
            columns=[Column(name=name, type=kind) for name, kind in case.columns.items()],
            rows=case.rows,
            row_count=len(case.rows),
            truncated=case.cut,
        )
        found = figures(
            case.question, case.sql, "sqlite", rows=rows, span=case.span, keys=case.keys, today=case.today
        )
        claims += check_claims(describe(rows, found), rows, question=case.question, sql=case.sql, found=found)
    accused = [claim for claim in claims if claim["status"] != "checked"]
    assert len(accused) <= MOST_ACCUSED * len(claims), accused


@pytest.mark.parametrize("name", sorted(results()))
def test_the_built_in_text_never_claims_what_the_rows_do_not_bear_out(name: str) -> None:
    result = results()[name]
    found = figures(result.question, result.sql, "sqlite", rows=result.rows)
    accused = [
        claim for claim in claims_of(describe(result.rows, found), result) if claim["status"] != "checked"
    ]
    assert accused == []
