"""A request to a model as sections, whose texts cannot pass for headings.

Text from databases, people and earlier replies is data wherever it stands: a line that begins with #
is a heading only when it is ours.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.core.llm.context_kinds import ALL_CONTEXT, ContextKind

_LINE_BREAKS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_WITHHELD = (
    "The people who run this service let no model read: {kinds}. Work without it: do not ask for it, and do "
    "not guess what it holds."
)
_HEADING = re.compile(r"^([\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*)#", re.MULTILINE)
"""A heading, also behind invisible characters."""


@dataclass(frozen=True)
class ContextFilter:
    """The kinds of context that may leave for a model."""

    allowed: frozenset[ContextKind] = frozenset(ALL_CONTEXT)

    def allows(self, *kinds: ContextKind) -> bool:
        return self.allowed.issuperset(kinds)

    def sections(self, parts: Iterable[tuple[ContextKind, str, str]]) -> str:
        """Returns the sections of the kinds that are allowed."""
        return sections((title, text) for kind, title, text in parts if kind in self.allowed)

    @property
    def withheld(self) -> str:
        """The section that names what is withheld. Empty if nothing is."""
        kinds = [kind.replace("_", " ") for kind in ALL_CONTEXT if kind not in self.allowed]
        return sections([("Withheld", _WITHHELD.format(kinds=", ".join(kinds)))]) if kinds else ""


ALL_ALLOWED = ContextFilter()


def sections(parts: Iterable[tuple[str, str]]) -> str:
    """Titles, which are ours, with their texts, which need not be; those without text are left out."""
    return "\n\n".join(f"## {title}\n{fenced(text)}" for title, text in parts if text)


def fenced(text: str) -> str:
    """The text with each line that would look like a heading marked as none."""
    return _HEADING.sub(r"\1\\#", _LINE_BREAKS.sub("\n", text))
