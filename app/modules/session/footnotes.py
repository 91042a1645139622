"""References of an analysis as footnotes of its text."""

import re
from collections.abc import Sequence

from graph.state import Reference

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARKUP = re.compile(r"\*\*|\\(?=[^A-Za-z0-9\s])")


def marked(text: str, references: Sequence[Reference]) -> str:
    """Returns a text with the raised number of each reference behind its statement."""
    ends = sorted((each["span"][1], number) for number, each in enumerate(references, 1))
    for end, number in reversed(ends):
        text = f"{text[:end]}\u202f{_mark(number)}{text[end:]}"
    return text


def footnotes(references: Sequence[Reference]) -> list[str]:
    """Returns what each statement was computed from, behind its number."""
    return [f"{_mark(number)} {_source(each)}" for number, each in enumerate(references, 1)]


def source_notes(text: str, references: Sequence[Reference]) -> list[str]:
    """Returns each statement without its markup, with what it was computed from."""
    return [f"{_MARKUP.sub('', text[slice(*each['span'])])} ({_source(each)})" for each in references]


def _mark(number: int) -> str:
    return str(number).translate(_RAISED)


def _source(reference: Reference) -> str:
    return reference["how"] if reference["value"] is None else f"{reference['how']}: {reference['value']}"
