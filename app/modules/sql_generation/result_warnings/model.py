"""One warning about a result."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ResultWarning:
    """A sentence in Markdown. `worth_repair`: a repaired statement is likely to give a better result."""

    text: str
    worth_repair: bool = False
