"""Many cases of one rule in one test: all are checked, and each that fails is reported by its name."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, TypeAlias

import pytest
from _pytest.mark.structures import ParameterSet

Ids: TypeAlias = Callable[[Any], object] | Sequence[str] | None
"""The names of the cases, or what makes one of a case's value; by default its values."""

_NAME_CHARACTERS = 300


def assert_each(cases: Iterable[object], check: Callable[..., None], ids: Ids = None) -> None:
    """Check every case. A check of several arguments gets the values of a tuple or a `pytest.param`."""
    failures: list[BaseException] = []
    for name, values in _named(cases, check, ids):
        with _kept(failures, name):
            check(*values)
    _raise_all(failures)


async def assert_each_awaited(
    cases: Iterable[object], check: Callable[..., Awaitable[None]], ids: Ids = None
) -> None:
    """`assert_each` of a check that waits. One case is checked after the other."""
    failures: list[BaseException] = []
    for name, values in _named(cases, check, ids):
        with _kept(failures, name):
            await check(*values)
    _raise_all(failures)


@contextmanager
def _kept(failures: list[BaseException], name: str) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - all are reported
        failure.add_note(f"The case: {name}")
        failures.append(failure)


def _raise_all(failures: Sequence[BaseException]) -> None:
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} cases fail", failures)


def _named(
    cases: Iterable[object], check: Callable[..., object], ids: Ids
) -> list[tuple[str, Sequence[Any]]]:
    """Raises `AssertionError` if there are no cases: then nothing would be checked."""
    takes_several = len(signature(check).parameters) > 1
    named: list[tuple[str, Sequence[Any]]] = []
    for number, case in enumerate(cases):
        values: Sequence[Any] = [case]
        if isinstance(case, ParameterSet):
            values = case.values
        elif takes_several:
            assert isinstance(case, Sequence)
            values = case
        name = ", ".join(map(repr, values))
        if isinstance(case, ParameterSet) and case.id:
            name = str(case.id)
        elif ids is not None:
            name = ", ".join(str(ids(each)) for each in values) if callable(ids) else ids[number]
        named.append((name[:_NAME_CHARACTERS], values))
    assert named, "there are no cases"
    return named
