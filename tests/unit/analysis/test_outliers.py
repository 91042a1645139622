"""Outliers: against the same weekday or month, the trend and other years, on both sides."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.modules.analysis.computed import NotComputable
from app.modules.analysis.computed.outlying import Outliers, find_outliers
from app.modules.analysis.computed.sentences import outlier_sentences
from tests.unit.analysis.test_forecasts import december, series

WEEK = (1.0, 1.0, 1.1, 1.1, 1.3, 1.6, 0.5)


def places(found: Outliers, at: int) -> list[tuple[str, bool]]:
    assert found.checked == at
    return [(str(each.period), each.is_high) for each in found.found]


def noisy(values: Sequence[float], share: float = 0.05) -> list[float]:
    random = np.random.default_rng(5)
    return [round(value * float(np.exp(share * random.normal())), 2) for value in values]


@pytest.mark.parametrize("months", [24, 36, 60])
def test_the_peak_of_every_december_is_no_outlier(months: int) -> None:
    assert places(find_outliers(series(noisy(december(months)))), months) == []


def test_planted_months_are_found_on_both_sides_and_a_missing_peak_too() -> None:
    values = noisy(december(60))
    values[20] *= 1.6
    values[40] *= 0.5
    values[47] /= 1.8
    values = [round(each, 2) for each in values]
    found = find_outliers(series(values))
    assert places(found, 60) == [("2023-09", True), ("2025-05", False), ("2025-12", False)]
    assert [float(each.value) for each in found.found] == [values[20], values[40], values[47]]
    assert all(each.low < each.expected < each.high for each in found.found)
    assert found.by_chance == pytest.approx(0.03)


def test_a_busy_sunday_of_a_shop_that_is_quiet_on_sundays_is_an_outlier() -> None:
    values = noisy([1000 * WEEK[(5 + at) % 7] for at in range(120)])
    values[50 + (6 - (5 + 50) % 7) % 7] = 1000.0
    found = find_outliers(series(values, "day"))
    assert places(found, 120) == [(str(found.found[0].period), True)]
    assert found.found[0].period.start.weekday() == 6
    assert found.season == 7


def test_a_high_week_of_every_year_is_ordinary_and_one_of_a_single_year_is_not() -> None:
    values = noisy([900.0 * (1.6 if at % 52 == 47 else 1) for at in range(156)])
    assert places(find_outliers(series(values, "week")), 156) == []
    values[70] *= 1.6
    values[120] *= 0.5
    values = [round(each, 2) for each in values]
    assert [high for _, high in places(find_outliers(series(values, "week")), 156)] == [True, False]


def test_gaps_are_no_outliers_and_hide_none() -> None:
    values: list[float | None] = [*noisy([500.0] * 40)]
    values[10] = values[11] = None
    values[25] = 900.0
    assert places(find_outliers(series(values)), 38) == [("2024-02", True)]
    values[12] = 0.0
    assert places(find_outliers(series(values)), 38) == [("2023-01", False), ("2024-02", True)]


def test_averages_below_zero_have_outliers_on_both_sides() -> None:
    random = np.random.default_rng(2)
    values = [round(float(each), 3) for each in random.normal(-5, 1, 50)]
    values[12] = -15.0
    values[33] = 5.0
    found = places(find_outliers(series(values)), 50)
    assert {("2023-01", False), ("2024-10", True)} == set(found)


def test_a_constant_series_has_none_and_its_one_change_is_one() -> None:
    assert places(find_outliers(series([100.0] * 20)), 20) == []
    assert places(find_outliers(series([100.0] * 12 + [5000.0] + [100.0] * 7)), 20) == [("2023-01", True)]


def test_a_series_of_mostly_zeros_has_no_usual_level() -> None:
    found = find_outliers(series([0.0, 0, 3, 0, 0, 5, 0, 2, 0, 0, 4, 0, 7, 0, 0, 1, 6, 0, 0, 2] * 3, "week"))
    assert found.found == []


@pytest.mark.parametrize("level", [3, 40])
def test_no_outlier_lies_within_what_is_said_to_be_usual(level: int) -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        values = [float(each) for each in random.poisson(level, 60)]
        values[int(random.integers(60))] = float(level + round(6 * level**0.5))
        for each in find_outliers(series(values)).found:
            assert each.low <= each.high
            assert each.value > each.high if each.is_high else each.value < each.low


@pytest.mark.parametrize("unit", ["day", "week", "month"])
def test_ordinary_values_are_called_outliers_about_as_often_as_chance_has_it(unit: str) -> None:
    random = np.random.default_rng(11)
    false = 0
    expected = 0.0
    for _ in range(30):
        found = find_outliers(series([round(float(each), 2) for each in random.normal(100, 10, 100)], unit))  # type: ignore[arg-type]
        false += len(found.found)
        expected += found.by_chance
    assert expected == pytest.approx(1.5)
    assert false <= 6


def test_too_few_values_are_refused_with_what_helps() -> None:
    with pytest.raises(NotComputable, match=r"need 7 full months with a value, and there are 2\. Ask for"):
        find_outliers(series([1.0, None, 2.0]))


def test_the_words_name_both_sides_what_is_usual_and_what_chance_gives() -> None:
    values = noisy(december(60))
    values[20] *= 1.6
    values[40] *= 0.5
    first, second = outlier_sentences(find_outliers(series([round(each, 2) for each in values])))
    assert first.startswith("Outliers, high: September 2023 (")
    assert "; low: May 2025 (" in first
    assert second == (
        "60 full months were compared with the same month and the trend; by chance about 0.03 would lie so "
        "far off."
    )
    assert outlier_sentences(find_outliers(series([100.0] * 20)))[0] == "No outliers."
