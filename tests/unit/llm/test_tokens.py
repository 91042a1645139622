"""Estimates of tokens, held to counts of Qwen2.5's tokenizer that were recorded with the texts."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.tokens import approximate_tokens
from tests.support.cases import assert_each

_CORPUS = Path(__file__).parents[2] / "corpus" / "tokens.jsonl"
"""None of these texts was used to fit the weights, but for those of Arabic, Hebrew, Thai and emoji."""

COUNTED: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
for line in _CORPUS.read_text(encoding="utf-8").splitlines():
    row = json.loads(line)
    COUNTED[row["kind"]].append((approximate_tokens(row["text"]), row["tokens"]))


def test_all_texts_of_a_kind_together_are_estimated_within_a_tenth() -> None:
    def check(kind: str) -> None:
        estimated, counted = (sum(each) for each in zip(*COUNTED[kind], strict=True))
        assert estimated == pytest.approx(counted, rel=0.1)

    assert_each(
        [
            "english",
            "german",
            "spanish",
            "russian",
            "greek",
            "chinese",
            "arabic",
            "hindi",
            "code",
            "questions",
            "sql",
            "schema",
            "rows",
            "emails",
            "phones",
            "addresses",
            "names",
            "titles",
            "numbers",
            "dates",
            "urls",
            "codes",
        ],
        check,
    )


def test_no_text_of_a_paragraph_is_estimated_worse_than_by_a_third() -> None:
    wrong = [(kind, *pair) for kind, pairs in COUNTED.items() for pair in pairs if pair[1] >= 100]
    assert [each for each in wrong if abs(each[1] / each[2] - 1) > 1 / 3] == []


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("\n", 1), ("Show all orders", 3), ("2024", 5)]
)
def test_short_texts_are_rounded_up(text: str, tokens: int) -> None:
    assert approximate_tokens(text) == tokens


def test_half_a_surrogate_pair_is_counted_like_any_letter() -> None:
    assert approximate_tokens("\ud800") == 2


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    assert approximate_tokens(text) <= approximate_tokens(text + more)
