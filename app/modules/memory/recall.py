"""Recall of facts for a question, within a time that no part of it can exceed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.core.clock import now_ms
from app.core.ids import id_of
from app.core.llm.embedding import EmbeddingModel
from app.core.ranking import fused
from app.modules.database_connection.model import Connection
from app.modules.memory.fact_choice import (
    FactLimits,
    FactQuery,
    choose_facts,
    has_its_term,
    is_its_definition,
    is_stale,
    query_of,
    stems_of,
)
from app.modules.memory.fact_reading import FactReading
from app.modules.memory.guards import WordGuard
from app.modules.memory.model import FactGroup, FactSource, StoredFact
from app.modules.memory.scope_choice import AUTO, ScopeSetting, chosen_scopes
from app.modules.memory.scopes import GroupId, Scope

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MATCHES = 40
"""The most facts of all groups by one word, and by meaning."""
_BY_MEANING_ALONE = 3
"""The most facts of a group that share no word with the question. Every fact is near to some degree."""
_LATEST = 10
_MOST_OUTSIDE = 4
"""The most sentences of a memory outside: they come after the facts of KAI's own store."""
_OUTSIDE = "0b0c3c2e-5d5e-4a57-9a3c-1f6f0a0f7d11"
_OF_DATA: Sequence[Scope] = ("workspace", "shared")
_STANDING: Mapping[Scope, Collection[str]] = {
    "session": ("preference", "procedure", "decision"),
    "user": ("preference", "procedure", "decision", "lesson_learned", "task_update", "terminology"),
}
"""Kinds that are shown where there is room, although they share no word with the question: of a session how
to answer, and of a person everything, for the question speaks of the person."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1)


class Catalogue(Protocol):
    """What a database has of the names in facts and questions."""

    @property
    def is_named(self) -> bool:
        """True if a word of the question names a table, a column or a term of the glossary."""

    @property
    def tables_before(self) -> Sequence[str]:
        """Tables of the statement before the question."""

    def has_name(self, name: str) -> bool:
        """True for a table, or a column as `table.column`."""


class OutsideRecall(Protocol):
    """A memory outside of KAI."""

    async def search(
        self, owner: str, connection_id: str, groups: Sequence[GroupId], *, query: str, max_facts: int
    ) -> Sequence[tuple[GroupId, str]]:
        """Returns sentences with their groups, the best of each group first. Empty without the consent of the
        owner, and if it fails.
        """


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The facts that a question may be answered with: those of an owner and of a database, by groups."""

    owner: str
    connection_id: str
    groups: Mapping[Scope, FactGroup]

    def narrow_to(self, connection: Connection) -> "Reach":
        """Returns the same without shared facts where people see different tables: some name hidden ones."""
        if connection.policies is None:
            return self
        return replace(self, groups={name: each for name, each in self.groups.items() if name != "shared"})

    def has(self, fact: StoredFact) -> bool:
        """The second lock, whatever the store has returned."""
        group = self.groups.get(fact.scope)
        if group is None or not group.holds(fact) or fact.status != "active":
            return False
        reaches_all = fact.scope == "user" and not fact.about
        return reaches_all or fact.connection_id in (None, self.connection_id)


@dataclass(frozen=True, kw_only=True)
class FactsQuestion:
    """A question whose facts are wanted. `earlier` are the questions before it, oldest first.

    `read_catalogue` returns None for a question that needs no facts.
    """

    reach: Reach
    question: str
    earlier: Sequence[str] = ()
    read_catalogue: Callable[[], Awaitable[Catalogue | None]]
    filled: Awaitable[Collection[Scope]] | None = None
    """The scopes that have facts, if that is being read already."""


@dataclass
class _Found:
    """What has come so far, by scope."""

    catalogue: Catalogue | None = None
    by_words: dict[Scope, list[StoredFact]] = field(default_factory=dict)
    by_meaning: dict[Scope, list[StoredFact]] = field(default_factory=dict)
    latest: dict[Scope, list[StoredFact]] = field(default_factory=dict)
    outside: dict[Scope, list[StoredFact]] = field(default_factory=dict)
    under_way: list[str] = field(default_factory=list)
    """Parts that have begun and not ended."""


class FactRecall:
    """Finds facts by words and by meaning, in all groups at once."""

    def __init__(
        self,
        facts: FactReading,
        embedding: EmbeddingModel | None,
        *,
        scopes: ScopeSetting,
        limits: FactLimits,
        seconds: float,
        metrics: CollectorRegistry,
        outside: OutsideRecall | None = None,
    ) -> None:
        self._facts = facts
        self._outside = outside
        self._guard = WordGuard()
        self._embedding = embedding
        self._scopes = scopes
        self._limits = limits
        self._seconds = seconds
        self._under_way: set[asyncio.Task[None]] = set()
        self._left_out = Counter(
            "kai_memory_recall_left_out",
            "Parts of recall that failed, came too late or were refused, so that answers go without them",
            ["part", "reason"],
            registry=metrics,
        )
        self._took = Histogram(
            "kai_memory_recall_seconds", "Of the recall of facts", buckets=_SECONDS, registry=metrics
        )

    def reach_of(self, owner: str, session_id: str, connection_id: str) -> Reach:
        groups: dict[Scope, FactGroup] = {
            "session": self._facts.session_group(owner, session_id),
            "workspace": self._facts.workspace_group(owner, connection_id),
            "shared": self._facts.shared_group(connection_id),
            "user": self._facts.user_group(owner),
        }
        return Reach(owner=owner, connection_id=connection_id, groups=groups)

    async def filled(self, reach: Reach) -> Collection[Scope]:
        """Returns the scopes that have facts; none if the store fails. It has no limit of time.

        Of a remote store it is one request, shared with what others read at the same moment.
        """
        asking = asyncio.gather(*map(self._facts.has_any, reach.groups.values()))
        answers = await self._part("groups", asking, _Found()) or ()
        return {scope for scope, has_facts in zip(reach.groups, answers, strict=False) if has_facts}

    async def recall(self, asked: FactsQuestion) -> list[StoredFact]:
        """Returns the facts to show: what is found within the limit of time. Never raises."""
        found = _Found()
        with self._took.time():
            await self._within_limit(self._collect(asked, found))
        for part in found.under_way:
            logger.debug("facts are recalled without %s: it takes longer than %g s", part, self._seconds)
            self._left_out.labels(part, "late").inc()
        return choose_facts(_ranked(asked, found), self._limits)

    async def read(self, reach: Reach, ids: Sequence[str]) -> list[StoredFact]:
        """Returns facts that were recalled before, without those that were forgotten since. It has the same
        limit of time, and never raises.
        """
        facts: list[StoredFact] = []

        async def read() -> None:
            reading = self._facts.active([*reach.groups.values()], ids)
            facts.extend(await self._part("facts", reading, _Found()) or ())

        await self._within_limit(read())
        return [fact for fact in facts if reach.has(fact)]

    async def _within_limit(self, work: Coroutine[None, None, None]) -> None:
        """Do what can be done within the limit. The rest is not waited for, however long its end takes."""
        task = asyncio.create_task(work, name="memory: recall")
        self._under_way.add(task)
        task.add_done_callback(self._end)
        try:
            await asyncio.wait({task}, timeout=self._seconds)
        finally:
            task.cancel()

    def _end(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the recall of facts failed", exc_info=error)
            self._left_out.labels("all", "failed").inc()

    async def _collect(self, asked: FactsQuestion, found: _Found) -> None:
        reading = self.filled(asked.reach) if asked.filled is None else asked.filled
        filled = await self._part("groups", reading, found)
        if not filled and self._outside is None:
            return
        catalogue = await self._part("catalogue", asked.read_catalogue(), found)
        if catalogue is None:
            return
        found.catalogue = catalogue
        scopes = chosen_scopes(self._scopes, asked.question, names_data=catalogue.is_named)
        groups = {scope: asked.reach.groups[scope] for scope in scopes if scope in (filled or ())}
        # A term that is defined for the data names the data, as a term of the glossary does.
        is_open = self._scopes == AUTO and "workspace" not in scopes
        terms = {
            scope: asked.reach.groups[scope] for scope in _OF_DATA if is_open and scope in (filled or ())
        }
        if not groups and not terms and self._outside is None:
            return
        query = query_of(asked.question, asked.earlier, catalogue.tables_before)
        standing = {scope: group for scope, group in groups.items() if scope in _STANDING}
        await asyncio.gather(
            self._find_words(groups, terms=terms, asked=asked, query=query, found=found),
            *(self._find_latest(scope, group, found) for scope, group in standing.items()),
            self._find_meaning(groups, query, found),
            self._find_outside(asked.reach, scopes, query=query, found=found),
        )

    async def _find_words(
        self,
        groups: Mapping[Scope, FactGroup],
        *,
        terms: Mapping[Scope, FactGroup],
        asked: FactsQuestion,
        query: FactQuery,
        found: _Found,
    ) -> None:
        """Of the groups of `terms`, only definitions of terms that the question itself has."""
        searched = {**groups, **terms}
        if not searched:
            return
        named = stems_of(asked.question)
        facts = await self._part("words", self._read_words([*searched.values()], query), found) or ()
        for fact in facts:
            if is_its_definition(fact, named) or (fact.scope in groups and has_its_term(fact, query.stems)):
                found.by_words.setdefault(fact.scope, []).append(fact)

    async def _read_words(self, groups: Sequence[FactGroup], query: FactQuery) -> list[StoredFact]:
        ids = await self._facts.by_words(groups, query.stems, limit=_MATCHES)
        return await self._facts.active(groups, ids)

    async def _find_latest(self, scope: Scope, group: FactGroup, found: _Found) -> None:
        latest = await self._part("latest", self._facts.latest(group, limit=_LATEST), found) or ()
        found.latest[scope] = [fact for fact in latest if fact.kind in _STANDING[scope]]

    async def _find_meaning(self, groups: Mapping[Scope, FactGroup], query: FactQuery, found: _Found) -> None:
        if self._embedding is None:
            return
        vectors = await self._part("embedding", self._embedding.embed([query.text]), found)
        if vectors is None:
            return
        reading = self._read_nearest([*groups.values()], self._embedding.name, vectors[0])
        for fact in await self._part("vectors", reading, found) or ():
            found.by_meaning.setdefault(fact.scope, []).append(fact)

    async def _find_outside(
        self, reach: Reach, scopes: Collection[Scope], *, query: FactQuery, found: _Found
    ) -> None:
        """Of the owner's groups. What all may read who may ask a database is in KAI's own store alone.

        No person has seen these sentences, so those that the guard objects to are left out.
        """
        groups = {reach.groups[each].id: each for each in reach.groups if each in scopes and each != "shared"}
        if self._outside is None or not groups:
            return
        searching = self._outside.search(
            reach.owner, reach.connection_id, list(groups), query=query.text, max_facts=_MOST_OUTSIDE
        )
        for group, text in await self._part("outside", searching, found) or ():
            if self._guard.check(text) is not None:
                logger.debug("a sentence of the memory outside is left out: a secret or an instruction")
                self._left_out.labels("outside", "refused").inc()
                continue
            fact = _outside_fact(reach, group, groups[group], text=text)
            found.outside.setdefault(fact.scope, []).append(fact)

    async def _read_nearest(
        self, groups: Sequence[FactGroup], model: str, vector: Sequence[float]
    ) -> list[StoredFact]:
        ids = await self._facts.by_meaning(groups, model, vector, limit=_MATCHES)
        return await self._facts.active(groups, ids)

    async def _part(self, name: str, reading: Awaitable[T], found: _Found) -> T | None:
        """Returns what was read. Returns None if it failed."""
        found.under_way.append(name)
        try:
            result = await reading
        except Exception as error:  # noqa: BLE001 - an answer goes without it
            logger.debug("facts are recalled without %s: %r", name, error)
            self._left_out.labels(name, "failed").inc()
            result = None
        found.under_way.remove(name)
        return result


def _outside_fact(reach: Reach, group: GroupId, scope: Scope, *, text: str) -> StoredFact:
    """A sentence that a memory outside has derived, in the form of a fact. KAI's store does not have it."""
    now = now_ms()
    return StoredFact(
        id=id_of(_OUTSIDE, f"{group} {text}"),
        owner=reach.owner,
        group=group,
        scope=scope,
        kind="lesson_learned",
        text=text,
        connection_id=None if scope == "user" else reach.connection_id,
        source=FactSource("tool", now, tainted=True),
        created_at=now,
        updated_at=now,
        used_at=now,
    )


def _ranked(asked: FactsQuestion, found: _Found) -> dict[Scope, list[StoredFact]]:
    """Returns the facts of each scope that may be shown, best first."""
    catalogue = found.catalogue
    if catalogue is None:
        return {}
    return {
        scope: [
            fact
            for fact in _ranked_in(scope, found)
            if asked.reach.has(fact) and not is_stale(fact.about, catalogue.has_name)
        ]
        for scope in asked.reach.groups
    }


def _ranked_in(scope: Scope, found: _Found) -> list[StoredFact]:
    by_words = found.by_words.get(scope, [])
    by_meaning = found.by_meaning.get(scope, [])
    latest = found.latest.get(scope, [])
    outside = found.outside.get(scope, [])
    facts = {fact.id: fact for fact in [*by_words, *by_meaning, *latest, *outside]}
    said = [fact.id for fact in by_words]
    unsaid = [fact.id for fact in by_meaning if fact.id not in said][:_BY_MEANING_ALONE]
    near = [fact.id for fact in by_meaning if fact.id in said or fact.id in unsaid]
    order = [*fused([said, near]), *(fact.id for fact in [*latest, *outside])]
    return [facts[each] for each in dict.fromkeys(order)]
