"""One warning about a result."""

from dataclasses import dataclass

from app.core.language import Language
from app.modules.sql_generation.sentences import WarningPhrase


@dataclass(frozen=True)
class ResultWarning:
    """A sentence in Markdown: the `name` of a text, and the `values` in it.

    `worth_repair`: a repaired statement is likely to give a better result. `is_doubt`: the figures may be
    wrong, so an answer begins with the sentence. `probe`: a statement that returns no rows if the data do not
    bear the warning out; empty if there is none. If the probe fails, a doubt stays and another warning does
    not.
    """

    name: str
    values: tuple[str | int | WarningPhrase, ...] = ()
    worth_repair: bool = False
    is_doubt: bool = False
    probe: str = ""

    @property
    def text(self) -> str:
        """The sentence in English, as models read it."""
        return self.say("en")

    def say(self, language: Language) -> str:
        return WarningPhrase(self.name, self.values).say(language)
