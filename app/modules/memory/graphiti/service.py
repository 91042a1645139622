"""Graph memory: made by the composition root only where it is enabled. Making it sends nothing."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

from app.core.bus.port import RunRef
from app.core.clock import now_ms
from app.core.storage.port import AnyOf, Equals, Storage, StorageUnavailable
from app.modules.memory.consent import Gate
from app.modules.memory.graphiti.client import GraphitiClient, GraphitiFailed
from app.modules.memory.graphiti.groups import GraphGroups
from app.modules.memory.graphiti.outbox import EntryKind, Outbox, OutboxEntry, entry_id
from app.modules.memory.graphiti.status import GraphState, GraphStatus, GraphTest, GraphTestMode
from app.modules.memory.graphiti.testing import check_connection
from app.modules.memory.graphiti.worker import STALLED_MS, is_stalled
from app.modules.memory.model import StoredFact
from app.modules.memory.scopes import GroupId, Groups, Scope
from app.modules.memory.turns import MemoryTurn, TurnReader

logger = logging.getLogger(__name__)

RECALL_SECONDS = 0.75


class Graphiti:
    """`recalls`: questions are answered with what the service knows."""

    def __init__(
        self,
        client: GraphitiClient,
        storage: Storage,
        *,
        gate: Gate,
        groups: Groups,
        endpoint: str,
        recalls: bool,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self.endpoint = endpoint
        self.outbox = Outbox(storage)
        self.groups = GraphGroups(storage)
        self.recalls = recalls
        self.gate = gate
        self.client = client
        self.news = asyncio.Event()
        """Set when there is something to send."""
        self._names = groups
        self._now = now

    def trial_group(self) -> GroupId:
        return self._names.trial(uuid4().hex)

    async def remember_turn(self, turn: MemoryTurn) -> bool:
        """Let the service remember a turn, in its session and its workspace. Returns False if it is not sent:
        the owner has not consented for each database of the session, or later than the turn.

        Raises `StorageUnavailable`.
        """
        if await self.gate.permit_turn(turn) is None:
            return False
        scopes: list[tuple[Scope, GroupId]] = [
            ("session", self._names.session(turn.owner, turn.session_id)),
            ("workspace", self._names.workspace(turn.owner, turn.connection_id)),
        ]
        entries = [
            self._entry(
                "turn",
                turn.message_id,
                group,
                scope=scope,
                owner=turn.owner,
                connection_id=turn.connection_id,
                session_id=turn.session_id,
            )
            for scope, group in scopes
        ]
        await self._add(entries)
        return True

    async def remember_fact(self, fact: StoredFact, connection_id: str | None) -> bool:
        """Let the service remember a fact that a person has promoted. `connection_id` is the database in
        which they did: a fact of theirs goes out by the consent for it.

        Facts that are shared stay with KAI: one person's consent is not that of all. Returns False if it is
        not sent. Raises `StorageUnavailable`.
        """
        connection = fact.connection_id or connection_id
        if fact.scope == "shared" or fact.status != "active" or connection is None:
            return False
        if await self.gate.permit(fact.owner, connection) is None:
            return False
        entry = self._entry(
            "fact",
            fact.id,
            fact.group,
            scope=fact.scope,
            owner=fact.owner,
            connection_id=connection,
            session_id=fact.source.session_id if fact.scope == "session" else None,
        )
        await self._add([entry])
        return True

    async def _add(self, entries: Sequence[OutboxEntry]) -> None:
        await self.outbox.add(entries)
        self.news.set()

    async def search(
        self, owner: str, connection_id: str, groups: Sequence[GroupId], *, query: str, max_facts: int
    ) -> list[tuple[GroupId, str]]:
        """Returns what the service knows in these groups, in their order, within 750 ms.

        Empty where recall is off, without consent, and if the service or the store fails: an answer never
        waits for it. A group whose erasure is not confirmed is not asked.
        """
        if not self.recalls or self.client.circuit.is_open or not groups:
            return []
        try:
            if await self.gate.permit(owner, connection_id) is None:
                return []
            asked = await self.groups.not_erased(groups)
            return await self._search(asked, query, max_facts)
        except (GraphitiFailed, StorageUnavailable) as error:
            logger.debug("nothing is recalled from Graphiti: %s", error)
            return []

    async def _search(
        self, groups: Sequence[GroupId], query: str, max_facts: int
    ) -> list[tuple[GroupId, str]]:
        searches = [self._search_group(each, query, max_facts) for each in groups]
        found = await asyncio.gather(*searches)
        return [fact for of_group in found for fact in of_group][:max_facts]

    async def _search_group(self, group: GroupId, query: str, max_facts: int) -> list[tuple[GroupId, str]]:
        try:
            found = await self.client.search([group], query, max_facts=max_facts, seconds=RECALL_SECONDS)
        except GraphitiFailed as error:
            logger.debug("nothing is recalled from a group of Graphiti: %s", error)
            return []
        return [(group, each.text) for each in found]

    async def status(self) -> GraphStatus:
        """Raises `StorageUnavailable`."""
        now = self._now()
        oldest = await self.groups.oldest_awaited()
        lag = 0 if oldest is None else max(0, now - oldest) // 1_000
        waiting = await self.outbox.count([Equals("status", "pending")])
        state: GraphState = "working"
        if is_stalled(await self.groups.unseen_since(now - STALLED_MS + 1)):
            state = "stalled"
        elif self.client.circuit.is_open:
            state = "unavailable"
        not_erased = await self.groups.count([AnyOf("erase", ["wanted", "not_confirmed"])])
        return GraphStatus(state, lag, waiting, not_erased)

    async def describe(self) -> Mapping[str, str | int]:
        """The state for `/readyz`. Raises `StorageUnavailable`."""
        status = await self.status()
        described: dict[str, str | int] = {"state": status.state, "lag_seconds": status.lag_seconds}
        if status.state == "stalled":
            described["cure"] = "restart the Graphiti service"
        if status.not_erased:
            described["groups_not_erased"] = status.not_erased
        return described

    async def test(self, mode: GraphTestMode) -> GraphTest:
        return await check_connection(self.client, self.trial_group(), mode)

    def _entry(
        self,
        kind: EntryKind,
        subject_id: str,
        group: GroupId,
        *,
        scope: Scope,
        owner: str,
        connection_id: str,
        session_id: str | None,
    ) -> OutboxEntry:
        return OutboxEntry(
            id=entry_id(subject_id, group),
            owner=owner,
            group=group,
            scope=scope,
            kind=kind,
            subject_id=subject_id,
            session_id=session_id,
            connection_id=connection_id,
            added_at=self._now(),
        )


class GraphJob:
    """Job that follows an answer: lets Graphiti remember the turn."""

    def __init__(self, turns: TurnReader, graphiti: Graphiti) -> None:
        self._turns = turns
        self._graphiti = graphiti

    async def work(self, ref: RunRef) -> None:
        """A repeated job changes nothing. Raises `StorageUnavailable`."""
        turn = await self._turns.turn_of_run(ref.session_id, ref.run_id)
        if turn is not None:
            await self._graphiti.remember_turn(turn)
