"""A request to a model as sections, whose texts cannot pass for headings.

Text from databases, people and earlier replies is data wherever it stands: a line that begins with #
is a heading only when it is ours.
"""

import re
from collections.abc import Iterable

_LINE_BREAKS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADING = re.compile(r"^(\s*)#", re.MULTILINE)


def sections(parts: Iterable[tuple[str, str]]) -> str:
    """Titles, which are ours, with their texts, which need not be; those without text are left out."""
    return "\n\n".join(f"## {title}\n{fenced(text)}" for title, text in parts if text)


def fenced(text: str) -> str:
    """The text with each line that would look like a heading marked as none."""
    return _HEADING.sub(r"\1\\#", _LINE_BREAKS.sub("\n", text))
