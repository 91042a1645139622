"""The seam of guards: what is asked before a fact is kept."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Objection:
    """A reason not to keep a text, for the person who wrote it. It does not repeat the text.

    A person may keep a text in spite of an objection, unless it `is_final`.
    """

    reason: str
    is_final: bool


class FactGuard(Protocol):
    def check(self, text: str) -> Objection | None:
        """Returns None if the text may be kept."""
