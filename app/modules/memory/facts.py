"""Facts as they are kept: made, superseded, promoted, accepted and forgotten."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import JsonValue

from app.core.clock import now_ms
from app.core.errors import Problem
from app.core.keyed_ids import created_id
from app.core.llm.calls import Charge, uncharged
from app.core.llm.embedding import MOST_TEXTS, EmbeddingModel
from app.core.llm.errors import ModelRejected, ModelUnavailable
from app.core.storage.port import AnyOf, Condition, Equals, Storage
from app.modules.database_connection.service import DatabaseConnections
from app.modules.memory.errors import (
    FactChanged,
    FactNeedsConfirmation,
    FactPlaceUnclear,
    FactRefused,
    FactsFull,
    FactsOff,
    FactUnknown,
)
from app.modules.memory.fact_access import FactAccess, SessionConnection
from app.modules.memory.fact_choice import stems_of
from app.modules.memory.fact_guard import FactGuard
from app.modules.memory.fact_reading import FactReading, is_expired
from app.modules.memory.fact_repository import (
    LIVING,
    made_before,
    text_key,
)
from app.modules.memory.likeness import differs_in_sense, shares_words
from app.modules.memory.model import (
    FactGroup,
    FactSource,
    Kept,
    NewFact,
    StoredFact,
)
from app.modules.memory.repository import MemoryRepository
from app.modules.memory.scopes import Groups, Scope

logger = logging.getLogger(__name__)

MAX_FACTS: dict[Scope, int] = {"session": 100, "workspace": 500, "user": 500, "shared": 500}
"""Living facts in one group. As many superseded ones are kept beside them."""

MOST_AT_ONCE = MOST_TEXTS
"""Facts that `keep_all` takes."""

_DAY_MS = 86_400_000
_NEAR = 0.92
"""The least cosine of two facts of which one perhaps replaces the other."""
_NEAREST = 20
_MOST_NEAR = 5
_AT_ONCE = 10
_EMBEDDING_SECONDS = 10.0

ExpireLogs = Callable[[str | None], Awaitable[None]]
"""Deletes the logs of the ended runs of an owner, or of all owners: they name the facts that were used."""


async def no_logs(owner: str | None) -> None:
    """An `ExpireLogs` where no run is answered."""


@dataclass(frozen=True)
class SourceMessage:
    """A message that a person promotes a fact from. `is_tainted`: its turn has read from a tool of others."""

    session_id: str
    connection_id: str
    is_tainted: bool


FindMessage = Callable[[str, str], Awaitable[SourceMessage | None]]
"""Returns an owner's message, or None if the owner has no such message."""


class FactWatch(Protocol):
    """Follows facts for a memory outside of KAI. Both methods raise `StorageUnavailable`."""

    async def kept(self, fact: StoredFact) -> None:
        """An active fact is kept. It may be called again."""

    async def dropped(self, facts: Sequence[StoredFact]) -> None:
        """Facts hold no longer: they are about to be deleted, or others supersede them."""


class NoWatch:
    async def kept(self, fact: StoredFact) -> None:
        """Nothing follows."""

    async def dropped(self, facts: Sequence[StoredFact]) -> None:
        """Nothing follows."""


class Facts(FactReading):
    """Methods with an `owner` raise `FactUnknown` for a fact that this owner may not read."""

    def __init__(
        self,
        storage: Storage,
        groups: Groups,
        connections: DatabaseConnections,
        *,
        find_session: SessionConnection,
        find_message: FindMessage,
        guard: FactGuard,
        embedding: EmbeddingModel | None = None,
        charge: Charge = uncharged,
        expire_logs: ExpireLogs = no_logs,
        watch: FactWatch | None = None,
        enabled: bool = True,
        unused_days: int = 90,
    ) -> None:
        super().__init__(storage, groups, connections, access=FactAccess(connections, find_session))
        self._storage = storage
        self._memories = MemoryRepository(storage)
        self._expire_logs = expire_logs
        self.enabled = enabled
        self._find_message = find_message
        self._embedding = embedding
        self._charge = charge
        self._guard = guard
        self._watch = watch or NoWatch()
        self._unused_days = unused_days

    # Keeping

    async def promoted(self, new: NewFact) -> NewFact:
        """Returns a fact with what the message that it comes from says: session, database and taint.

        Raises `FactPlaceUnclear` if the owner has no such message, or it belongs to another session.
        """
        source = new.source
        if source.message_id is None:
            return new
        message = await self._find_message(new.owner, source.message_id)
        if message is None or source.session_id not in (None, message.session_id):
            raise FactPlaceUnclear("There is no such message in this session. Name one of yours.")
        known = replace(source, session_id=message.session_id, tainted=message.is_tainted)
        connection_id = new.connection_id
        if connection_id is None and new.scope == "workspace":
            connection_id = message.connection_id
        return replace(new, source=known, connection_id=connection_id)

    async def keep(self, new: NewFact, *, confirmed: bool = False) -> Kept:
        """Remember a fact. A text that its group holds already, case and blanks aside, is the same fact; if
        that one waits and the new one does not, it is accepted.

        Raises `FactsOff`, `FactPlaceUnclear`, `ConnectionNotFound`, `NotTheOwner`, `FactUnknown` for an
        unknown superseded fact, `FactRefused`, `FactNeedsConfirmation` unless it is `confirmed`, or
        `FactsFull`.
        """
        self._check_text(new.text, confirmed=confirmed)
        kept = await self._keep(await self.access.placed(new))
        if kept.fact.status == "active":
            await self._watch.kept(kept.fact)
        return kept

    async def keep_all(self, new: Sequence[NewFact], *, confirmed: bool) -> list[Kept | Problem]:
        """Remember up to `MOST_AT_ONCE` facts of an owner, with a few requests to the store for each group.

        They supersede nothing, and what they perhaps replace is not looked for. Returns for each what `keep`
        returns or raises.
        """
        outcomes: dict[int, Kept | Problem] = {}
        for number, each in enumerate(new):
            try:
                self._check_text(each.text, confirmed=confirmed)
            except Problem as problem:
                outcomes[number] = problem
        allowed = [number for number in range(len(new)) if number not in outcomes]
        placed = await self.access.placed_all([new[number] for number in allowed])
        groups: defaultdict[FactGroup, dict[int, NewFact]] = defaultdict(dict)
        for number, place in zip(allowed, placed, strict=True):
            if isinstance(place, Problem):
                outcomes[number] = place
            else:
                groups[self.group_of(place)][number] = place
        for group, members in groups.items():
            kept = await self._keep_in(group, list(members.values()))
            outcomes.update(zip(members, kept, strict=True))
        for outcome in outcomes.values():
            if isinstance(outcome, Kept) and outcome.fact.status == "active":
                await self._watch.kept(outcome.fact)
        return [outcomes[number] for number in range(len(new))]

    async def _keep_in(self, group: FactGroup, new: Sequence[NewFact]) -> list[Kept | Problem]:
        """Of equal texts, the first is the fact, and the others are the same fact."""
        known = await self._known(group, [each.text for each in new])
        fresh: dict[str, NewFact] = {}
        for each in new:
            if (key := text_key(each.text)) not in known:
                fresh.setdefault(key, each)
        room = await self._make_room(group, len(fresh)) if fresh else 0
        added = await self._add(group, list(fresh.values())[:room]) if room else []
        by_key = dict(zip(fresh, added, strict=False))  # those that do not fit are missing
        outcomes: list[Kept | Problem] = []
        for each in new:
            key = text_key(each.text)
            if key in known:
                try:
                    outcomes.append(Kept(await self._accepted(known[key], each), is_new=False))
                except FactChanged as problem:
                    outcomes.append(problem)
                continue
            outcome = by_key.get(key) or self._full(group)
            if isinstance(outcome, Kept):
                known[key] = outcome.fact
            outcomes.append(outcome)
        return outcomes

    async def _add(self, group: FactGroup, new: Sequence[NewFact]) -> list[Kept | Problem]:
        vectors = await self._embedded(new[0].owner, [each.text for each in new])
        facts = [self._made(each, group, vector) for each, vector in zip(new, vectors, strict=True)]
        if vectors[0] and self._embedding is not None:
            await self.vectors.keep_all(facts, self._embedding.name, vectors)
        await self.repository.create_all(facts)
        return await self._settled(group, new, facts)

    async def _keep(self, new: NewFact) -> Kept:
        group = self.group_of(new)
        replaced = None if new.supersedes is None else await self._own(new.owner, new.supersedes)
        if new.fact_id is not None and (delivered := await self.repository.find(new.fact_id)) is not None:
            if not group.holds(delivered):
                raise FactUnknown
            return Kept(delivered, is_new=False)
        if new.fact_id is not None and new.source.at <= await self._memories.forgotten_at(new.owner):
            raise FactRefused("It was said before everything in memory was deleted.")
        same = (await self._known(group, [new.text])).get(text_key(new.text))
        if same is not None:
            same = await self._accepted(same, new)
            if replaced is not None and replaced.id != same.id:
                await self._mark_superseded(replaced)
            return Kept(same, is_new=False)
        if (replaced is None or not group.holds(replaced)) and not await self._make_room(group):
            raise self._full(group)
        (vector,) = await self._embedded(new.owner, [new.text])
        near = await self._near(group, new.text, vector)
        fact = await self._create(new, group, vector)
        if replaced is not None:
            await self._mark_superseded(replaced)
        (kept,) = await self._settled(group, [new], [fact])
        if isinstance(kept, Problem):
            raise kept
        return replace(kept, near=tuple(each for each in near if each.id != new.supersedes))

    async def supersede(
        self, owner: str, fact_id: str, text: str, *, source: FactSource, confirmed: bool = False
    ) -> Kept:
        """Say a fact in other words: a new fact that supersedes it. The same words change nothing.

        Raises what `keep` raises, and `FactChanged` if the fact is not living.
        """
        fact = await self._own(owner, fact_id)
        if fact.status not in LIVING:
            raise FactChanged
        if text_key(text) == text_key(fact.text):
            return Kept(fact, is_new=False)
        self._check_text(text, confirmed=confirmed)
        await self._change(fact, {"updated_at": now_ms()})
        return await self.keep(_again(fact, text, fact.scope, source=source), confirmed=confirmed)

    async def promote(
        self,
        owner: str,
        fact_id: str,
        scope: Scope,
        *,
        source: FactSource,
        connection_id: str | None = None,
        confirmed: bool = False,
    ) -> Kept:
        """Give a fact another scope: a new fact there supersedes it. Raises what `supersede` raises."""
        fact = await self._own(owner, fact_id)
        if fact.status not in LIVING:
            raise FactChanged
        if fact.scope == scope:
            return Kept(fact, is_new=False)
        again = _again(fact, fact.text, scope, source=source)
        new = replace(again, connection_id=connection_id or again.connection_id)
        self._check_text(new.text, confirmed=confirmed)
        await self.access.placed(new)
        await self._change(fact, {"updated_at": now_ms()})
        return await self.keep(new, confirmed=confirmed)

    async def replace(self, owner: str, fact_id: str, superseded_id: str) -> StoredFact:
        """Say that a fact replaces another, which it was shown to be near. Raises `FactChanged` if one of
        them is not living, or if the fact has replaced another already.
        """
        self._check_enabled()
        fact = await self._own(owner, fact_id)
        superseded = await self._own(owner, superseded_id)
        if fact.supersedes == superseded.id:
            return fact
        living = fact.status in LIVING and superseded.status in LIVING
        if not living or fact.supersedes is not None or fact.id == superseded.id:
            raise FactChanged
        changed = await self._change(fact, {"supersedes": superseded.id, "updated_at": now_ms()})
        await self._mark_superseded(superseded)
        return changed

    async def activate(self, owner: str, fact_id: str) -> StoredFact:
        """Accept a fact that waits, or undo that it was superseded: the fact that replaced it is forgotten.

        Raises `FactsOff`, `FactsFull`, or `FactChanged` if what replaced it was itself superseded.
        """
        self._check_enabled()
        fact = await self._own(owner, fact_id)
        if fact.status == "active":
            return fact
        if fact.status == "waiting":
            accepted = await self._change(fact, {"status": "active", "updated_at": now_ms()})
            await self._watch.kept(accepted)
            return accepted
        successors = [each for each in await self.repository.successors(fact.id) if each.owner == fact.owner]
        if any(each.status not in LIVING for each in successors):
            raise FactChanged
        group = self.group_of(fact)
        if not any(group.holds(each) for each in successors) and not await self._make_room(group):
            raise self._full(group)
        changed = await self._change(fact, {"status": "active", "updated_at": now_ms()})
        await self._drop(successors)
        await self._watch.kept(changed)
        return changed

    async def note_uses(self, fact_id: str, times: Sequence[int]) -> None:
        """Count the uses of an active fact at these times. Those before its latest use are counted already,
        so a repeated call counts nothing twice.
        """
        fact = await self.repository.find(fact_id)
        if fact is None or not (new := {time for time in times if time > fact.used_at}):
            return
        changes = {"uses": fact.uses + len(new), "used_at": max(new)}
        await self.repository.change(fact, changes, while_status="active", while_used_at=fact.used_at)

    # Forgetting

    async def forget(self, owner: str, fact_id: str) -> None:
        """Delete a fact, its vector, the facts that it has superseded, and the logs of ended runs that may
        have used it.
        """
        fact = await self._own(owner, fact_id, forgotten_too=True)
        chain = [fact]
        while (before := chain[-1].supersedes) is not None:
            earlier = await self.repository.find(before)
            if earlier is None or earlier.owner != fact.owner or earlier in chain:
                break
            chain.append(earlier)
        # Before the fact: if the bus is unavailable, the deletion can be repeated.
        await self._expire_logs(None if fact.scope == "shared" else fact.owner)
        await self._drop(chain)
        await self._storage.scrub()

    async def forget_sessions(self, session_ids: Sequence[str]) -> None:
        """Delete the facts of these sessions' scopes, and those from these sessions that wait for a person.

        What a person has accepted for a wider scope stays.
        """
        own = AnyOf("source_session_id", session_ids)
        for which in (Equals("scope", "session"), Equals("status", "waiting")):
            await self._drop_all([own, which])

    async def forget_connection(self, connection_id: str) -> None:
        """Delete the facts of everyone about a connection, but those of sessions, which stay readable."""
        scopes = AnyOf("scope", ["workspace", "shared"])
        if await self._drop_all([Equals("connection_id", connection_id), scopes]):
            await self._storage.scrub()

    async def forget_all(self, owner: str) -> None:
        """Delete all facts that the owner has written, shared ones included, and the logs of ended runs that
        may have used them.
        """
        own = Equals("owner", owner)
        has_shared = await self.repository.some([own, Equals("scope", "shared")])
        await self._expire_logs(None if has_shared else owner)
        await self._drop_all([own])

    async def delete_old(self, before: int) -> int:
        """Delete the task updates that were made before this moment; returns their number."""
        return await self._drop_all(made_before(before))

    # Steps

    def _check_enabled(self) -> None:
        if not self.enabled:
            raise FactsOff

    def _check_text(self, text: str, *, confirmed: bool) -> None:
        self._check_enabled()
        objection = self._guard.check(text)
        if objection is None or (confirmed and not objection.is_final):
            return
        raise (FactRefused if objection.is_final else FactNeedsConfirmation)(objection.reason)

    async def _known(self, group: FactGroup, texts: Sequence[str]) -> dict[str, StoredFact]:
        """Returns the facts that a group holds with these texts, by `text_key`."""
        found = await self.repository.find_by_texts(group, texts)
        living = {key: [fact for fact in facts if not is_expired(fact)] for key, facts in found.items()}
        return {key: facts[0] for key, facts in living.items() if facts}

    async def _accepted(self, same: StoredFact, new: NewFact) -> StoredFact:
        """Accept a fact that waits, if the new one with its text does not."""
        if same.status == "waiting" and new.status == "active":
            return await self._change(same, {"status": "active"})
        return same

    async def _create(self, new: NewFact, group: FactGroup, vector: Sequence[float]) -> StoredFact:
        """Store a fact after its vector, so that an interrupted write leaves nothing that is found."""
        fact = self._made(new, group, vector)
        if vector and self._embedding is not None:
            await self.vectors.keep(fact, self._embedding.name, vector)
        await self.repository.create(fact)  # if it exists, the same fact was delivered twice at once
        return fact

    def _made(self, new: NewFact, group: FactGroup, vector: Sequence[float]) -> StoredFact:
        now = now_ms()
        return StoredFact(
            id=new.fact_id or created_id(),
            owner=new.owner,
            group=group.id,
            scope=new.scope,
            kind=new.kind,
            text=new.text,
            about=new.about,
            connection_id=new.connection_id,
            source=new.source,
            status=new.status,
            supersedes=new.supersedes,
            created_at=now,
            updated_at=now,
            used_at=now,
            vector_size=len(vector),
            vector_model=self._embedding.name if vector and self._embedding is not None else "",
        )

    async def _near(self, group: FactGroup, text: str, vector: Sequence[float]) -> list[StoredFact]:
        """Returns the active facts of a group that say almost the same, nearest first."""
        by_meaning: list[str] = []
        if self._embedding is not None and vector:
            found = await self.vectors.nearest([group], self._embedding.name, vector, limit=_NEAREST)
            by_meaning = [each.document_id for each in found if each.cosine >= _NEAR]
        # Also with an embedding model: it may fail, and some vectors may be of another one.
        by_words = await self.by_words([group], stems_of(text), limit=_NEAREST)
        facts = await self.active([group], list(dict.fromkeys([*by_meaning, *by_words])))
        near = [fact for fact in facts if fact.id in by_meaning or shares_words(fact.text, text)]
        return [fact for fact in near if not differs_in_sense(fact.text, text)][:_MOST_NEAR]

    async def _settled(
        self, group: FactGroup, new: Sequence[NewFact], facts: Sequence[StoredFact]
    ) -> list[Kept | Problem]:
        """Returns what is kept of facts after others have written at the same moment.

        Of the same text twice, the smaller id stays. Nothing stays where the place was deleted meanwhile:
        that is a problem.
        """
        places = await self.access.placed_all(new)
        found = await self.repository.find_by_texts(group, [fact.text for fact in facts])
        outcomes: list[Kept | Problem] = []
        dropped: list[StoredFact] = []
        for fact, place in zip(facts, places, strict=True):
            same = [each for each in found.get(text_key(fact.text), ()) if not is_expired(each)]
            if isinstance(place, Problem):
                dropped.append(fact)
                outcomes.append(place)
            elif same and same[0].id < fact.id:
                dropped.append(fact)
                outcomes.append(Kept(same[0], is_new=False))
            else:
                dropped += [each for each in same if each.id != fact.id]
                outcomes.append(Kept(fact, is_new=True))
        await self._drop(dropped)
        return outcomes

    async def _make_room(self, group: FactGroup, wanted: int = 1) -> int:
        """Drop the least used, longest unused facts of a group until as many fit as wanted.

        Returns how many fit. Those that were used or added lately stay.
        """
        room = MAX_FACTS[group.scope] - await self.repository.count(group, LIVING)
        if room >= wanted:
            return wanted
        unused = await self.repository.unused(group, now_ms() - self._unused_days * _DAY_MS)
        ranked = sorted(unused, key=lambda fact: (fact.uses, fact.used_at, fact.id))
        dropped = ranked[: wanted - max(room, 0)]
        await self._drop(dropped)
        return max(room, 0) + len(dropped)

    def _full(self, group: FactGroup) -> FactsFull:
        return FactsFull(scope=group.scope, limit=MAX_FACTS[group.scope], unused_days=self._unused_days)

    async def _mark_superseded(self, fact: StoredFact) -> None:
        if fact.status not in LIVING:
            return
        await self._watch.dropped([fact])
        await self.repository.change(
            fact, {"status": "superseded", "updated_at": now_ms()}, while_status=fact.status
        )
        group = self.group_of(fact)
        if await self.repository.count(group, ["superseded"]) > MAX_FACTS[group.scope]:
            await self._drop(await self.repository.oldest_superseded(group))

    async def _change(self, fact: StoredFact, changes: Mapping[str, JsonValue]) -> StoredFact:
        changed = await self.repository.edit(fact, changes)
        if changed is None:
            raise FactChanged
        return changed

    async def _own(self, owner: str, fact_id: str, *, forgotten_too: bool = False) -> StoredFact:
        """Returns a fact that the owner may change.

        Raises `FactUnknown` if they may not read it, and `NotTheOwner` if they may only read it.
        """
        fact = await self.repository.find(fact_id)
        if fact is None or (fact.status == "forgotten" and not forgotten_too):
            raise FactUnknown
        if not self.group_of(fact).holds(fact) or not await self.access.is_readable(owner, fact):
            raise FactUnknown
        await self.access.check_writable(owner, fact)
        return fact

    async def _drop(self, facts: Sequence[StoredFact]) -> None:
        """Delete facts, their vectors first, so that an interrupted deletion can be repeated."""
        await self._watch.dropped(facts)
        sizes: defaultdict[int, list[str]] = defaultdict(list)
        for fact in facts:
            sizes[fact.vector_size].append(fact.id)
        for size, fact_ids in sizes.items():
            if size:
                await self.vectors.drop(size, fact_ids)
        for start in range(0, len(facts), _AT_ONCE):
            await self.repository.delete([fact.id for fact in facts[start : start + _AT_ONCE]])

    async def _drop_all(self, where: Sequence[Condition]) -> int:
        dropped = 0
        while facts := await self.repository.some(where):
            await self._drop(facts)
            dropped += len(facts)
        return dropped

    async def _embedded(self, owner: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Returns empty vectors without an embedding model, or if it fails or takes more than 10 seconds."""
        if self._embedding is None:
            return [[]] * len(texts)
        try:
            async with asyncio.timeout(_EMBEDDING_SECONDS), self._charge(owner):
                return await self._embedding.embed(texts)
        except (ModelUnavailable, ModelRejected, TimeoutError) as error:
            logger.warning("%d facts have no vector: %s", len(texts), str(error) or "it takes too long")
            return [[]] * len(texts)


def _again(fact: StoredFact, text: str, scope: Scope, *, source: FactSource) -> NewFact:
    """Returns a fact that supersedes another, and keeps what the source does not name."""
    return NewFact(
        owner=fact.owner,
        scope=scope,
        kind=fact.kind,
        text=text,
        source=replace(
            source,
            message_id=source.message_id or fact.source.message_id,
            session_id=source.session_id or fact.source.session_id,
            tainted=source.tainted or fact.source.tainted,
        ),
        about=fact.about,
        connection_id=fact.connection_id,
        status="active",
        supersedes=fact.id,
    )
