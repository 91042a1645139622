"""The words of a question that the built-in writer declines, in the question's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.language import Language, language_of

_HOW_TO_CONFIGURE = (
    "For questions like this, connect a language model: set OPENAI_API_KEY, or KAI_LLM__BASE_URL for any "
    "OpenAI-compatible server, and start KAI again."
)


@dataclass(frozen=True)
class _Foreign:
    """`only_english` says what is read, `offering` precedes questions, `joint` stands between two."""

    only_english: str
    offering: str
    joint: str
    how_to_configure: str


_FOREIGN: Mapping[Language, _Foreign] = {
    "de": _Foreign(
        "Ohne Sprachmodell liest KAI nur Fragen auf Englisch.",
        "Diese beantwortet es:",
        "und",
        "Für andere Sprachen ein Sprachmodell anbinden: OPENAI_API_KEY setzen, oder KAI_LLM__BASE_URL für "
        "einen OpenAI-kompatiblen Server, und KAI neu starten.",
    ),
    "es": _Foreign(
        "Sin un modelo de lenguaje, KAI solo lee preguntas en inglés.",
        "A estas responde:",
        "y",
        "Para otros idiomas, conecte un modelo de lenguaje: defina OPENAI_API_KEY, o KAI_LLM__BASE_URL para "
        "un servidor compatible con OpenAI, y reinicie KAI.",
    ),
    "fr": _Foreign(
        "Sans modèle de langage, KAI ne lit que les questions en anglais.",
        "Il répond à celles-ci :",
        "et",
        "Pour d'autres langues, connectez un modèle de langage : définissez OPENAI_API_KEY, ou "
        "KAI_LLM__BASE_URL pour un serveur compatible avec OpenAI, puis redémarrez KAI.",
    ),
}
_ENGLISH = "Without a language model, KAI answers simple questions in English."


def declined(question: str, reason: str, offered: Sequence[str]) -> str:
    """Returns why a question is declined, the questions that are offered instead, and what would help.

    Nothing but the offered questions is in quotation marks “”: the page makes buttons of them.
    """
    foreign = _FOREIGN.get(language_of(question))
    if foreign is None:
        parts = [reason, _ENGLISH, _offering("These it can answer:", "and", offered), _HOW_TO_CONFIGURE]
    else:
        said = _offering(foreign.offering, foreign.joint, offered)
        parts = [foreign.only_english, said, foreign.how_to_configure]
    return " ".join(part for part in parts if part)


def _offering(opening: str, joint: str, offered: Sequence[str]) -> str:
    return f"{opening} {f' {joint} '.join(f'“{each}”' for each in offered)}." if offered else ""
