"""Removes secrets and control characters from every text that is logged, and values from tracebacks."""

import re
import traceback
from collections.abc import Iterator

from app.core.redaction.text import redacted as without_secrets

MAX_CHARACTERS = 128 * 1024
"""A longer line of a log is cut. Longer than any statement is by default."""

_MOST_LINKS = 10
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def redacted(text: str) -> str:
    """Returns the text without secrets, cut to `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]} [{len(text) - MAX_CHARACTERS} characters cut]"
    return without_secrets(text)


def inert(text: str) -> str:
    """Returns the text with control characters escaped, so that it forges no line and no terminal code."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def traceback_without_values(error: BaseException) -> str:
    """Returns frames and class names of an exception and of its causes, the first cause first.

    The text of an exception is left out: it may hold a row, a question or a URL.
    """
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
