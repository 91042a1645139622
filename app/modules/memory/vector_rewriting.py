"""Rewrites vectors after another embedding model was set: in the background, at most a hundred a minute.

Vectors of different models are never compared, so what has none of the present model is found by its words
meanwhile.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, Protocol
from uuid import UUID

from prometheus_client import CollectorRegistry, Gauge
from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.llm.calls import Charge
from app.core.llm.embedding import MOST_TEXTS, EmbeddingModel
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.storage.claims import Claims
from app.core.storage.documents import Documents
from app.core.storage.port import Equals, Storage
from app.modules.memory.fact_repository import FactRepository
from app.modules.memory.model import ConversationMemory, StoredFact
from app.modules.memory.repository import MemoryRepository
from app.modules.memory.service import embedded_text
from app.modules.memory.vectors import FactVectors, MemoryVectors

logger = logging.getLogger(__name__)

Kind = Literal["facts", "conversations"]
MOST_A_MINUTE = 100
"""Vectors of one kind that all processes rewrite together."""

LOOK_SECONDS = 60.0

_NAME = "vector_rewriting"
_IDS = str(UUID(int=18))
_PAGE = 100
_MS = 60_000
_AGAIN_MS = 86_400_000
"""After this time everything is looked through again: a vector is missing where the model failed."""


@dataclass(frozen=True)
class Outdated:
    """A text whose vector is missing, or of another model."""

    id: str
    owner: str
    text: str


@dataclass(frozen=True)
class OutdatedPage:
    """Outdated texts among the next `looked_at` documents, and the cursor of those that follow."""

    outdated: Sequence[Outdated]
    looked_at: int
    next_cursor: str | None


class Texts(Protocol):
    """Documents that have vectors. All methods raise `StorageUnavailable`."""

    @property
    def kind(self) -> Kind: ...

    async def count(self) -> int: ...

    async def page(self, model: str, cursor: str | None) -> OutdatedPage: ...

    async def keep(self, document_id: str, text: str, model: str, *, vector: Sequence[float]) -> bool:
        """Store the vector of a text. Returns False if the text has changed, or is deleted.

        The document names its model only once the vector is stored, so an interrupted call can be repeated.
        """


@dataclass(frozen=True, kw_only=True)
class RewritingProgress:
    """How far the documents of a kind have vectors of a model. Times are epoch milliseconds."""

    id: str
    kind: Kind
    model: str = ""
    cursor: str | None = None
    total: int = 0
    looked_at: int = 0
    rewritten: int = 0
    due_at: int = 0
    done_at: int | None = None

    @property
    def left(self) -> int:
        return 0 if self.done_at is not None else max(self.total - self.looked_at, 0)


class VectorRewriting:
    """Any number of processes may work at once: one of them takes a minute's share."""

    def __init__(
        self,
        storage: Storage,
        embedding: EmbeddingModel,
        charge: Charge,
        *,
        metrics: CollectorRegistry,
    ) -> None:
        self._progress = Documents(storage, _NAME, RewritingProgress)
        self._due = Claims(self._progress, "due_at")
        self._embedding = embedding
        self._charge = charge
        self._texts: Sequence[Texts] = (_FactTexts(storage), _MemoryTexts(storage))
        self._left = Gauge(
            "kai_vectors_outdated",
            "Facts and conversations whose vectors are not yet known to be of the present embedding model",
            ["kind"],
            registry=metrics,
        )

    async def work(self) -> None:
        """Rewrite the share of a minute, unless another process has done so. Raises `StorageUnavailable`."""
        for texts in self._texts:
            progress = await self._take(texts)
            if progress is not None:
                await self._rewrite_some(texts, progress)

    async def progress(self, kind: Kind) -> RewritingProgress:
        """Returns how far the vectors of a kind are. Raises `StorageUnavailable`."""
        record_id = id_of(_IDS, kind)
        return await self._progress.get(record_id) or RewritingProgress(id=record_id, kind=kind)

    async def _take(self, texts: Texts) -> RewritingProgress | None:
        """Returns the progress of a kind if its next share is due now, and this process is to do it."""
        known = await self.progress(texts.kind)
        self._left.labels(texts.kind).set(known.left)
        now = now_ms()
        is_begun = known.model == self._embedding.name
        if now < known.due_at or (is_begun and known.done_at is not None and now < known.done_at + _AGAIN_MS):
            return None
        taken = replace(known, due_at=now + _MS)
        if not is_begun or known.done_at is not None:
            total = await texts.count()
            taken = RewritingProgress(
                id=known.id, kind=known.kind, model=self._embedding.name, total=total, due_at=now + _MS
            )
        return taken if await self._replace(known, taken) else None

    async def _rewrite_some(self, texts: Texts, progress: RewritingProgress) -> None:
        looked_at, rewritten, cursor = progress.looked_at, progress.rewritten, progress.cursor
        outdated: list[Outdated] = []
        done_at: int | None = None
        while done_at is None:
            page = await texts.page(self._embedding.name, cursor)
            if len(outdated) + len(page.outdated) > MOST_A_MINUTE:
                break
            outdated += page.outdated
            looked_at += page.looked_at
            cursor = page.next_cursor
            if cursor is None:
                done_at = now_ms()
        try:
            rewritten += await self._rewrite(texts, outdated)
        except ModelUnavailable as error:
            logger.warning("vectors of %s are rewritten later: %s", texts.kind, error)
            return
        now = replace(progress, cursor=cursor, looked_at=looked_at, rewritten=rewritten, done_at=done_at)
        await self._replace(progress, now)
        self._left.labels(texts.kind).set(now.left)
        if outdated:
            logger.info(
                "%s: %d of %d looked at, %d vectors rewritten for the embedding model %s",
                *(texts.kind, looked_at, max(now.total, looked_at), rewritten, self._embedding.name),
            )

    async def _rewrite(self, texts: Texts, outdated: Sequence[Outdated]) -> int:
        """Returns the number of vectors that are stored. Raises `ModelUnavailable`."""
        rewritten = 0
        for owner in dict.fromkeys(each.owner for each in outdated):
            own = [each for each in outdated if each.owner == owner]
            for start in range(0, len(own), MOST_TEXTS):
                some = own[start : start + MOST_TEXTS]
                vectors = await self._embed(owner, some)
                for each, vector in zip(some, vectors, strict=False):
                    rewritten += await texts.keep(each.id, each.text, self._embedding.name, vector=vector)
        return rewritten

    async def _embed(self, owner: str, some: Sequence[Outdated]) -> Sequence[Sequence[float]]:
        """Returns no vectors if the model rejects the texts: words go on finding them."""
        try:
            async with self._charge(owner):
                return await self._embedding.embed([each.text for each in some])
        except ModelRejected as error:
            logger.warning("%d texts have no vectors: %s", len(some), error)
            return []

    async def _replace(self, before: RewritingProgress, after: RewritingProgress) -> bool:
        """Returns False if another process was first."""
        if before.due_at == 0:
            return await self._progress.add(after)
        document = asdict(after)
        del document["id"]
        return await self._due.change(before, document) is not None


class _FactTexts:
    kind: Kind = "facts"

    def __init__(self, storage: Storage) -> None:
        self._facts = FactRepository(storage)
        self._vectors = FactVectors(storage)

    async def count(self) -> int:
        return await self._facts.count_all()

    async def page(self, model: str, cursor: str | None) -> OutdatedPage:
        facts, following = await self._facts.all(_PAGE, cursor)
        outdated = [
            Outdated(fact.id, fact.owner, fact.text)
            for fact in facts
            if fact.vector_model != model and fact.status != "forgotten"
        ]
        return OutdatedPage(outdated, len(facts), following)

    async def keep(self, document_id: str, text: str, model: str, *, vector: Sequence[float]) -> bool:
        fact = await self._facts.find(document_id)
        if fact is None or fact.text != text:
            return False
        sized = await self._sized(fact, len(vector))
        if sized is None:
            return False
        await self._vectors.keep(sized, model, vector)
        if await self._facts.change(sized, {"vector_model": model}, while_status=sized.status) is None:
            await self._vectors.drop(len(vector), [document_id])
            return False
        return True

    async def _sized(self, fact: StoredFact, size: int) -> StoredFact | None:
        """Returns the fact for a vector of another length, without its old one. None if it is gone.

        The length is noted first: by it, the vector of a deleted fact is found.
        """
        if fact.vector_size == size:
            return fact
        if fact.vector_size:
            await self._vectors.drop(fact.vector_size, [fact.id])
        changes: dict[str, JsonValue] = {"vector_size": size, "vector_model": ""}
        return await self._facts.change(fact, changes, while_status=fact.status)


class _MemoryTexts:
    kind: Kind = "conversations"

    def __init__(self, storage: Storage) -> None:
        self._memories = MemoryRepository(storage)
        self._vectors = MemoryVectors(storage)

    async def count(self) -> int:
        return await self._memories.count_all()

    async def page(self, model: str, cursor: str | None) -> OutdatedPage:
        memories, following = await self._memories.all(_PAGE, cursor)
        outdated = [
            Outdated(each.id, each.owner, embedded_text(each))
            for each in memories
            if each.vector_model != model
        ]
        return OutdatedPage(outdated, len(memories), following)

    async def keep(self, document_id: str, text: str, model: str, *, vector: Sequence[float]) -> bool:
        memory = await self._memories.find(document_id)
        if memory is None or embedded_text(memory) != text:
            return False
        sized = replace(memory, vector_size=len(vector), vector_model="")
        if memory.vector_size not in (0, len(vector)):
            await self._vectors.drop(memory.vector_size, Equals("session_id", document_id))
        if sized != memory and not await self._memories.replace(sized, memory):
            return False
        await self._vectors.keep(sized, model, vector)
        if await self._memories.replace(replace(sized, vector_model=model), sized):
            return True
        await self._yield_to_newer(document_id, len(vector))
        return False

    async def _yield_to_newer(self, session_id: str, size: int) -> None:
        """The conversation went on, or was deleted: drop a vector that is perhaps of its old summary."""
        await self._vectors.drop(size, Equals("session_id", session_id))
        newer: ConversationMemory | None = await self._memories.find(session_id)
        if newer is not None:
            await self._memories.replace(replace(newer, vector_model=""), newer)
