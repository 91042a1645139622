"""The words of a question that the built-in writer declines, in the question's language."""

from collections.abc import Sequence

from app.core.language import language_of
from app.modules.sql_generation.sentences import WarningPhrase, joined


def declined(question: str, reason: str, offered: Sequence[str]) -> str:
    """Returns why a question is declined, the questions that are offered instead, and what would help.

    Nothing but the offered questions is in quotation marks “”: the page makes buttons of them.
    """
    language = language_of(question)
    said = [WarningPhrase("reads english"), WarningPhrase("connect a model")]
    if offered:
        said.insert(1, WarningPhrase("can answer", (joined([f"“{each}”" for each in offered]),)))
    parts = [reason] if language == "en" else []  # the reason is in English
    return " ".join([*parts, *(each.say(language) for each in said)])
