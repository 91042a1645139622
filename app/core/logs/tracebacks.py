"""Tracebacks without values: an exception's words may hold a row, a question or a URL; its place does not."""

import traceback
from collections.abc import Iterator

_MOST_LINKS = 10


def traceback_without_values(error: BaseException) -> str:
    """Where it was raised and what led to it, by the names of the classes; the words are left out."""
    links = list(_chain(error))[:_MOST_LINKS]
    return "\n".join(_told(each) for each in reversed(links))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from (each for inner in error.exceptions for each in _chain(inner))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _told(error: BaseException) -> str:
    frames = "".join(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__)).format())
    return f"{frames}{type(error).__module__}.{type(error).__qualname__}"
