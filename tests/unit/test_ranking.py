"""Rankings fused into one, and the relevance that follows from them."""

from app.core.ranking import fused, relevances


def test_relevance_is_1_for_the_first_place_everywhere_and_falls_with_each_place() -> None:
    scores = relevances([["a", "b", "c"], ["a", "c"]])
    assert list(scores) == fused([["a", "b", "c"], ["a", "c"]]) == ["a", "c", "b"]
    assert scores["a"] == 1
    assert 0 < scores["b"] < 0.5 < scores["c"] < 1


def test_a_ranking_that_found_nothing_halves_the_relevance() -> None:
    assert relevances([["a"], []]) == {"a": 0.5}
    assert relevances([["a"]]) == {"a": 1}
    assert relevances([[]]) == {}
