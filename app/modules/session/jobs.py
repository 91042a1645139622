"""Jobs that follow an answer: titles of its session, and uses of the facts and examples that it has used."""

import logging
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable, PromptMessage
from app.core.storage.port import Equals
from app.modules.context_store.service import ContextStore
from app.modules.memory.facts import Facts
from app.modules.memory.model import RememberedExchange
from app.modules.memory.turns import answered_exchanges
from app.modules.prompts.sections import sections
from app.modules.records.model import TitledBy
from app.modules.records.repository import SessionRepository

logger = logging.getLogger(__name__)

GROWN_EXCHANGES = 5
"""Answered exchanges after which a session gets its second and last title from the model."""

_MAX_MESSAGES = 4 * GROWN_EXCHANGES
"""Messages that are read: enough even if half of the questions got no answer."""

_COUNTED_MESSAGES = 40
_PROMPT_WORDS = 6
_MAX_CHARACTERS = 80
_MAX_WORDS = 9
"""A longer reply is not a title."""
_MAX_PART_CHARACTERS = 1_000
"""Longest part of one question or answer in the prompt."""

_INSTRUCTIONS = (
    (Path(__file__).parent / "prompts" / "title.md")
    .read_text(encoding="utf-8")
    .replace("{words}", str(_PROMPT_WORDS))
)
_LABEL = re.compile(r"^\W*title\W*:", re.IGNORECASE)
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_DECORATION = " \t*_`#\"'“”„«».:;,-\u2013\u2014"


class TitleJob:
    """Writes titles. It leaves a title that a person gave, and without a model every title."""

    def __init__(self, repository: SessionRepository, model: LanguageModel | None) -> None:
        self._repository = repository
        self._model = model

    async def work(self, session_id: str) -> None:
        """Raises `StorageUnavailable`. If the model fails, the title stays until the next answer."""
        if self._model is None:
            return
        session = await self._repository.find(session_id)
        if session is None or session.titled_by not in ("question", "first_exchange"):
            return
        messages = await self._repository.first_messages(session, _MAX_MESSAGES)
        exchanges = list(answered_exchanges(messages).values())
        titled_by = _next_title(session.titled_by, len(exchanges))
        if titled_by is None:
            return
        try:
            title = await _write_title(self._model, exchanges[:GROWN_EXCHANGES])
        except (ModelUnavailable, ModelRejected) as error:
            logger.warning("session %s keeps its title: %s", session.id, error)
            return
        if title is not None:
            same = Equals("titled_by", session.titled_by)  # a person may have named it meanwhile
            await self._repository.change(session, {"title": title, "titled_by": titled_by}, [same])


def _next_title(titled_by: TitledBy, exchanges: int) -> TitledBy | None:
    """Returns the source of the next title, or None if the session keeps its title."""
    if exchanges >= GROWN_EXCHANGES:
        return "conversation"
    return "first_exchange" if titled_by == "question" and exchanges else None


async def _write_title(model: LanguageModel, exchanges: Sequence[RememberedExchange]) -> str | None:
    """Returns None if the reply is not a title. Raises `ModelUnavailable` or `ModelRejected`."""
    parts = [
        (name, text[:_MAX_PART_CHARACTERS])
        for each in exchanges
        for name, text in (("Question", each.question), ("Answer", each.answer))
    ]
    reply = await model.reply(
        [PromptMessage("system", _INSTRUCTIONS), PromptMessage("user", sections(parts))],
        on_token=lambda _: None,
    )
    return clean_title(reply.text)


def clean_title(reply: str) -> str | None:
    """The first line of a reply that has words, without decoration. Returns None if that is not a title."""
    for line in reply.splitlines():
        bare = _LABEL.sub("", _CONTROL_CHARACTERS.sub(" ", line), count=1).strip(_DECORATION)
        title = " ".join(bare.split())
        if title:
            return title if len(title.split()) <= _MAX_WORDS and len(title) <= _MAX_CHARACTERS else None
    return None


class UseJob:
    """Counts the uses of facts and examples. `facts` is None where facts are switched off."""

    def __init__(self, repository: SessionRepository, facts: Facts | None, examples: ContextStore) -> None:
        self._repository = repository
        self._facts = facts
        self._examples = examples

    async def work(self, session_id: str) -> None:
        """Count new uses. A repeated job counts nothing twice. Raises `StorageUnavailable`."""
        session = await self._repository.find(session_id)
        if session is None:
            return
        messages, _ = await self._repository.messages(session, _COUNTED_MESSAGES, None)
        of_facts: defaultdict[str, list[int]] = defaultdict(list)
        of_examples: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for message in messages:
            for fact_id in message.remembered:
                of_facts[fact_id].append(message.created_at)
            if message.context is not None and message.status == "complete":
                for example_id in message.context["examples"]:
                    of_examples[example_id][message.id] = message.created_at
        if self._facts is not None:
            for fact_id, times in of_facts.items():
                await self._facts.note_uses(fact_id, times)
        for example_id, uses in of_examples.items():
            await self._examples.proposals.note_uses(example_id, uses)
