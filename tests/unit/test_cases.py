"""A test of many cases reports each that fails."""

import pytest

from tests.support.cases import assert_each, assert_each_awaited


def test_every_case_is_checked_and_each_that_fails_is_named() -> None:
    checked: list[int] = []

    def check(value: int) -> None:
        checked.append(value)
        assert value != 2
        if value == 3:
            pytest.fail("not three")

    with pytest.raises(BaseExceptionGroup) as failed:
        assert_each([1, 2, pytest.param(3, id="three"), 4], check)
    assert checked == [1, 2, 3, 4]
    assert [each.__notes__ for each in failed.value.exceptions] == [["The case: 2"], ["The case: three"]]


async def test_a_check_that_waits_gets_the_values_of_each_case() -> None:
    checked: list[tuple[int, str]] = []

    async def check(number: int, name: str) -> None:
        checked.append((number, name))
        assert name

    with pytest.raises(BaseExceptionGroup) as failed:
        await assert_each_awaited([(1, ""), (2, "b")], check, ids=str)
    assert checked == [(1, ""), (2, "b")]
    assert [each.__notes__ for each in failed.value.exceptions] == [["The case: 1, "]]


def test_no_cases_are_no_success() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        assert_each([], print)
