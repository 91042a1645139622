"""A title for a conversation, by a model."""

import re
from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import LanguageModel, PromptMessage
from app.modules.memory.model import Exchange
from app.modules.prompt_sections import sections

WORDS = 6
MOST_CHARACTERS = 80

_BEARABLE_WORDS = 9
"""What is longer than this is no title, but some other reply."""
_LONGEST_TEXT = 1_000
"""Characters of one question or answer that the model is shown."""

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "title.md")
    .read_text(encoding="utf-8")
    .replace("{words}", str(WORDS))
)
_LABEL = re.compile(r"^\W*title\W*:", re.IGNORECASE)
_UNKEEPABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_AROUND = " \t*_`#\"'“”„«».:;,-\u2013\u2014"


async def written(model: LanguageModel, exchanges: Sequence[Exchange]) -> str | None:
    """None when the model gives none. Raises `ModelUnavailable` or `ModelRejected`."""
    told = [
        part
        for each in exchanges
        for part in (("Question", each.question[:_LONGEST_TEXT]), ("Answer", each.answer[:_LONGEST_TEXT]))
    ]
    reply = await model.reply(
        [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", sections(told))],
        on_token=lambda _: None,
    )
    return cleaned(reply.text)


def cleaned(reply: str) -> str | None:
    """The title in a reply: its first line that says something; None when that cannot be a title."""
    for line in reply.splitlines():
        bare = _LABEL.sub("", _UNKEEPABLE.sub(" ", line), count=1).strip(_AROUND)
        title = " ".join(bare.split())
        if title:
            return title if len(title.split()) <= _BEARABLE_WORDS and len(title) <= MOST_CHARACTERS else None
    return None
