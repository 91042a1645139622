import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.llm.tokens import approximate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("売上高", 3)])
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    assert approximate_tokens(text) == tokens


def test_half_a_surrogate_pair_is_counted_like_any_letter() -> None:
    assert approximate_tokens("\ud800") == 1


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    assert approximate_tokens(text) <= approximate_tokens(text + more)
