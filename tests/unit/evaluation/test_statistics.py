"""Intervals and tests of significance, against values from the literature."""

import pytest

from app.evaluation.summary import Difference, Share, mcnemar_exact


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_is_that_of_newcombe(right: int, of: int, low: float, high: float) -> None:
    share = Share(right, of)
    assert [share.low, share.high] == pytest.approx([low, high], abs=5e-5)


def test_nothing_is_known_of_a_share_of_nothing() -> None:
    assert (Share(0, 0).value, Share(0, 0).low, Share(0, 0).high) == (0, 0, 1)


@pytest.mark.parametrize(
    ("lost", "won", "p"), [(0, 0, 1), (5, 5, 1), (0, 5, 0.0625), (5, 0, 0.0625), (1, 9, 22 / 1024), (2, 1, 1)]
)
def test_mcnemars_exact_test_is_the_two_sided_binomial(lost: int, won: int, p: float) -> None:
    assert mcnemar_exact(lost, won) == pytest.approx(p)


def test_the_interval_of_a_difference_is_that_of_bonett_and_price() -> None:
    found = Difference(lost=5, won=14, asked=60)
    assert [found.value, found.low, found.high] == pytest.approx([0.15, 0.0049, 0.2854], abs=5e-5)


def test_a_difference_of_thousands_of_questions_has_a_p_value_too() -> None:
    assert mcnemar_exact(0, 5_000) == pytest.approx(0, abs=1e-300)
