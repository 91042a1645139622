"""Lessons that comments on answers propose. Each waits until its owner accepts it."""

import logging

from app.core.clock import now_ms
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.ids import id_of
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.fact_repository import text_key
from app.modules.memory.facts import Facts
from app.modules.memory.model import MAX_FACT_CHARACTERS, FactSource, NewFact, StoredFact

logger = logging.getLogger(__name__)

_MOST = 20


async def propose_lesson(
    facts: Facts, owner: str, connection_id: str, *, session_id: str, message_id: str, comment: str | None
) -> StoredFact | None:
    """Propose a comment as a lesson for the database. The latest comment on an answer replaces an earlier
    proposal that waits.

    Returns None without a comment, and where the fact is refused: feedback never fails for that.
    """
    text = _shortened(" ".join((comment or "").split()))
    for earlier in await _proposals(facts, owner, message_id):
        if text_key(earlier.text) == text_key(text):
            return earlier
        await facts.forget(owner, earlier.id)
    if not text or not facts.enabled:
        return None
    new = NewFact(
        owner=owner,
        scope="workspace",
        kind="lesson_learned",
        text=text,
        source=FactSource("feedback", now_ms(), message_id, session_id),
        connection_id=connection_id,
        status="waiting",
        fact_id=id_of(message_id, f"lesson {text_key(text)}"),
    )
    try:
        return (await facts.keep(new)).fact
    except (Conflict, Forbidden, Invalid, NotFound) as error:
        logger.info("the comment on message %s is not proposed as a lesson: %s", message_id, error.problem)
        return None


async def _proposals(facts: Facts, owner: str, message_id: str) -> list[StoredFact]:
    wanted = FactFilter(kind="lesson_learned", status="waiting", message_id=message_id)
    found = await facts.first(owner, wanted, _MOST)
    return [each for each in found if each.owner == owner and each.source.origin == "feedback"]


def _shortened(text: str) -> str:
    if len(text) <= MAX_FACT_CHARACTERS:
        return text
    return text[: MAX_FACT_CHARACTERS - 2].rsplit(" ", 1)[0] + " …"
