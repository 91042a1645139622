"""What became of the directives of a session's earlier questions, for the events of the next answer."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.storage.port import StorageUnavailable
from app.modules.memory.directive_records import DirectiveRecord, DirectiveRecords
from app.modules.memory.facts import Facts
from app.modules.memory.model import StoredFact

logger = logging.getLogger(__name__)

_MOST_FACTS = 10
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True)
class News:
    """Facts that were kept and still are, and sentences on directives that were refused."""

    kept: Sequence[StoredFact] = ()
    refused: str = ""


class DirectiveNews:
    """Reads news within a limit of time. What cannot be read is reported by a later answer."""

    def __init__(self, facts: Facts, records: DirectiveRecords, seconds: float) -> None:
        self._facts = facts
        self._records = records
        self._seconds = seconds

    async def read(self, owner: str, session_id: str, message_id: str) -> News:
        """Returns the news that no earlier message has reported. Returns none when the store is slow or
        unavailable.
        """
        news = News()
        try:
            async with asyncio.timeout(self._seconds):
                records = await self._records.unreported(owner, session_id, message_id)
                if not records:
                    return news
                news = await self._of(owner, records)
                await self._records.mark_reported(records, message_id)
        except (TimeoutError, StorageUnavailable) as error:
            logger.debug("session %s: its directives are reported later: %r", session_id, error)
        return news

    async def _of(self, owner: str, records: Sequence[DirectiveRecord]) -> News:
        fact_ids = list(dict.fromkeys(fact_id for record in records for fact_id in record.kept))
        found = await asyncio.gather(*(self._facts.repository.find(each) for each in fact_ids[:_MOST_FACTS]))
        kept = [
            fact
            for fact in found
            if fact is not None and fact.owner == owner and fact.status in ("active", "waiting")
        ]
        reasons = [
            f"Line {refusal.line + 1} ({refusal.kind}) is not remembered. {refusal.reason}"
            for record in records
            for refusal in record.refused
        ]
        return News(kept, "\n".join(reasons)[:_MOST_CHARACTERS])
