"""Tracebacks without the text of exceptions, which may hold a row, a question or a URL."""

import traceback
from collections.abc import Iterator

_MOST_LINKS = 10


def traceback_without_values(error: BaseException) -> str:
    """Returns frames and class names of an exception and of its causes, the first cause first."""
    links = list(_chain(error))[:_MOST_LINKS]
    return "\n".join(_described(each) for each in reversed(links))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from (each for inner in error.exceptions for each in _chain(inner))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _described(error: BaseException) -> str:
    frames = "".join(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__)).format())
    return f"{frames}{type(error).__module__}.{type(error).__qualname__}"
