"""One warning about a result."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ResultWarning:
    """A sentence in Markdown. `worth_repair`: a repaired statement is likely to give a better result.

    `is_doubt`: the figures may be wrong, so an answer begins with the sentence. `probe`: a statement that
    returns no rows if the data do not bear the warning out; empty if there is none. If the probe fails, a
    doubt stays and another warning does not.
    """

    text: str
    worth_repair: bool = False
    is_doubt: bool = False
    probe: str = ""
