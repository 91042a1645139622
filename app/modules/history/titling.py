"""Gives conversations titles once they are answered: the history worker's part."""

import logging

from app.core.bus.completed import Completed
from app.core.llm.model import LanguageModel, ModelRejected, ModelUnavailable
from app.core.storage.port import Equals
from app.modules.history.exchanges import answered
from app.modules.history.title import written
from app.modules.session.model import TitledBy
from app.modules.session.repository import SessionRepository

logger = logging.getLogger(__name__)

GROWN_EXCHANGES = 5
"""Answered ones, after which a conversation is titled once more, and never again."""

_LOOKED_AT = 4 * GROWN_EXCHANGES
"""Messages: enough even if half of the questions found no answer."""


class Titling:
    """A title a person gave is never touched; without a model, nor is the question that stands for one."""

    def __init__(self, repository: SessionRepository, model: LanguageModel | None) -> None:
        self._repository = repository
        self._model = model

    async def work(self, event: Completed) -> None:
        """Raises `StorageUnavailable`. A model that fails leaves the title, until the next answer."""
        session = await self._repository.find(event.session_id)
        if self._model is None or session is None or session.titled_by not in ("question", "first_exchange"):
            return
        exchanges = answered(await self._repository.first_messages(session, _LOOKED_AT))
        titled_by = _due(session.titled_by, len(exchanges))
        if titled_by is None:
            return
        try:
            title = await written(self._model, exchanges[:GROWN_EXCHANGES])
        except (ModelUnavailable, ModelRejected) as error:
            logger.warning("session %s keeps its title: %s", session.id, error)
            return
        if title is not None:
            same = Equals("titled_by", session.titled_by)  # a person may have named it meanwhile
            await self._repository.change(session, {"title": title, "titled_by": titled_by}, [same])


def _due(titled_by: TitledBy, exchanges: int) -> TitledBy | None:
    """From what it is to be titled now, if at all."""
    if exchanges >= GROWN_EXCHANGES:
        return "conversation"
    return "first_exchange" if titled_by == "question" and exchanges else None
