"""Exports everything that is remembered of an owner."""

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.storage.documents import all_documents
from app.core.storage.port import Document, Equals, Query, Storage
from app.modules.memory.fact_schemas import FactBody, MemoryExport, fact_body
from app.modules.memory.facts import Facts

_PAGE = 100
_INTERNAL = {"theme_words", "vector_size", "vector_model", "owner"}


class MemoryExports:
    """Reads what memory holds of an owner, each document as it is stored. Facts are as their routes show
    them.
    """

    def __init__(self, storage: Storage, facts: Facts) -> None:
        self._storage = storage
        self._facts = facts

    async def export(self, owner: str) -> MemoryExport:
        profiles = await self._documents("profiles", owner)
        exported = {
            "exported_at": now_ms(),
            "facts": await self._own_facts(owner),
            "conversations": await self._documents("conversation_memories", owner),
            "profile": profiles[0] if profiles else None,
            "consents": await self._documents("consents", owner),
        }
        return MemoryExport.model_validate(exported)

    async def _own_facts(self, owner: str) -> list[FactBody]:
        facts = await self._facts.all_of(owner)
        stale = await self._facts.stale(owner, facts)
        return [fact_body(fact, owner, stale) for fact in facts]

    async def _documents(self, collection: str, owner: str) -> list[JsonValue]:
        found = all_documents(self._storage, collection, Query([Equals("owner", owner)], limit=_PAGE))
        return [_shown(each) async for each in found if each["owner"] == owner]


def _shown(document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in _INTERNAL}
