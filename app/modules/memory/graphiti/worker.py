"""Sends what the outbox holds to Graphiti, and finds out what the service has kept of it."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge

from app.core.clock import now_ms
from app.core.storage.port import Document, Equals
from app.core.tasks import Loops
from app.modules.memory.consent import Gate
from app.modules.memory.graphiti.client import (
    LAST_EPISODES,
    AnswerTooLarge,
    GraphitiClient,
    GraphitiFailed,
    GraphitiSkipped,
    GraphMessage,
)
from app.modules.memory.graphiti.erasure import NOT_AWAITED, Erasure
from app.modules.memory.graphiti.groups import GraphGroup, GraphGroups
from app.modules.memory.graphiti.messages import (
    FactReader,
    MessageWording,
    fact_message,
    ownership_message,
    turn_messages,
)
from app.modules.memory.graphiti.outbox import Outbox, OutboxEntry
from app.modules.memory.graphiti.testing import SEEN_SECONDS, check_connection
from app.modules.memory.scopes import GroupId
from app.modules.memory.turns import TurnReader

logger = logging.getLogger(__name__)

LOOK_MS = 60_000
"""What was sent is looked for after so long, and then each time again."""
STALLED_MS = 300_000
STALLED_GROUPS = 3
_PARKED_MS = 600_000
_ERASING_MS = 60_000
_MARGIN_MS = 10_000
"""Entries that several workers sent so close together may have arrived in another order."""
_FIRST_BACKOFF_MS = 500
_LONGEST_BACKOFF_MS = 60_000
_MANY_EPISODES = 100
_IDLE_SECONDS = 2.0


def is_stalled(groups_unseen: int) -> bool:
    return groups_unseen >= STALLED_GROUPS


@dataclass(frozen=True, kw_only=True)
class SendSettings:
    queue: int = 1_000
    """Turns that wait at most; also the entries that a worker holds in memory."""
    retries: int = 5
    system_messages: bool = True
    wording: MessageWording = field(default_factory=MessageWording)
    probe_seconds: float = SEEN_SECONDS
    """How long a message of KAI's own may take to be kept while the service has stalled."""


class GraphMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.lag = Gauge(
            "kai_graph_memory_lag_seconds",
            "Age of the oldest message that Graphiti has accepted and not shown yet",
            registry=registry,
        )
        self.sent = Counter("kai_graph_memory_sent", "Entries that Graphiti has accepted", registry=registry)
        self.dropped = Counter(
            "kai_graph_memory_dropped",
            "Turns that are not sent: the queue was full, or every try failed",
            ["reason"],
            registry=registry,
        )


class GraphWorker:
    """Any number of them share an outbox. One entry is sent at a time."""

    def __init__(
        self,
        client: GraphitiClient,
        outbox: Outbox,
        groups: GraphGroups,
        *,
        gate: Gate,
        turns: TurnReader,
        facts: FactReader,
        settings: SendSettings,
        metrics: GraphMetrics,
        trial_group: Callable[[], GroupId],
        news: asyncio.Event,
        now: Callable[[], int] = now_ms,
    ) -> None:
        """`news` is set when there is something to send."""
        self._client = client
        self._outbox = outbox
        self._groups = groups
        self._erasure = Erasure(client, outbox, groups)
        self._gate = gate
        self._turns = turns
        self._facts = facts
        self._settings = settings
        self._metrics = metrics
        self._trial_group = trial_group
        self._now = now
        self._stalled = False
        self._probe_at = 0
        self._news = news
        self._loops = Loops("graph memory")

    def start(self) -> None:
        self._loops.every(0, "send", self._work)

    async def stop(self) -> None:
        """An entry that is being sent is looked for later."""
        await self._loops.end()

    async def _work(self) -> None:
        """Do a step once there is news, or after a while without any."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._news.wait()
        self._news.clear()
        await self.step()

    async def step(self) -> None:
        """Do what is due: confirm, erase, and send unless the service has stalled."""
        await self._drop_too_many()
        await self._confirm()
        await self._erasure.work(self._now())
        await self._judge()
        if self._stalled:
            await self._probe()
        else:
            await self._send_all()

    # Sending

    async def _drop_too_many(self) -> None:
        dropped = await self._outbox.trim(self._settings.queue)
        if dropped:
            self._metrics.dropped.labels("full").inc(dropped)
            logger.warning(
                "%d turns are not sent to Graphiti: more than %d waited", dropped, self._settings.queue
            )

    async def _send_all(self) -> None:
        for entry in await self._outbox.due(self._now(), self._settings.queue):
            if self._client.circuit.is_open:
                return
            await self._send(entry)

    async def _send(self, entry: OutboxEntry) -> None:
        now = self._now()
        group = await self._groups.of_entry(entry)
        if group.erase is not None:
            await self._outbox.postpone(entry, now + _ERASING_MS)
            return
        claimed = await self._outbox.claim(entry, now=now, until=now + LOOK_MS)
        if claimed is None:
            return
        try:
            await self._try(claimed, before=entry, group=group)
        except GraphitiSkipped:
            await self._outbox.settle(claimed, entry.status, not_before=now, tries=entry.tries)
        except GraphitiFailed as error:
            await self._put_back(claimed, error)

    async def _try(self, entry: OutboxEntry, *, before: OutboxEntry, group: GraphGroup) -> None:
        """Raises `GraphitiFailed`."""
        messages = await self._messages(entry)
        if not messages:
            await self._drop(entry, before)
            return
        if before.tries:
            there = await self._names(entry.group, messages[-1].name)
            messages = [each for each in messages if each.name not in there.names]
            if not messages:
                await self._outbox.settle(entry, "seen", not_before=None)
                return
            if await self._may_still_come(before):
                await self._outbox.settle(
                    entry,
                    "pending",
                    not_before=self._now() + LOOK_MS,
                    may_have_arrived=True,
                    tries=before.tries,
                )
                return
        now = self._now()
        last = messages[-1].name
        # Before, so that what this process may have sent is looked for and erased, even if it dies now.
        await self._groups.change(group, {"latest_name": last, "latest_sent_at": now})
        await self._await(group, now)
        opening = await self._ownership(group, now)
        try:
            await self._client.add_messages(entry.group, [*opening, *messages])
        except GraphitiFailed as error:
            if not error.may_have_arrived:
                await self._unsend(group, now, opened=bool(opening))
            raise
        self._metrics.sent.inc()
        await self._outbox.settle(entry, "sent", not_before=None, last_message=last)
        await self._await(group, now)  # again: another worker may have looked before the entry was sent

    async def _messages(self, entry: OutboxEntry) -> list[GraphMessage]:
        """The texts as they are now. Empty if nothing may be sent: deleted, or no longer permitted."""
        permit = await self._gate.permit(entry.owner, entry.connection_id)
        if permit is None:
            return []
        wording = self._settings.wording
        source = wording.source(permit.connection_name)
        if entry.kind == "fact":
            fact = await self._facts.find(entry.subject_id)
            if fact is None or fact.owner != entry.owner or fact.status != "active":
                return []
            return [fact_message(fact, entry.name, source, wording=wording)]
        turn = await self._turns.turn(entry.session_id or "", entry.subject_id)
        if turn is None or turn.owner != entry.owner or await self._gate.permit_turn(turn) is None:
            return []
        return turn_messages(turn, entry.name, source, wording=wording)

    async def _drop(self, entry: OutboxEntry, before: OutboxEntry) -> None:
        """An entry that may have been sent before stays known, so that its group can be erased."""
        if before.tries:
            await self._outbox.settle(entry, "parked", not_before=None)
        else:
            await self._outbox.delete([Equals("id", entry.id)])

    async def _may_still_come(self, before: OutboxEntry) -> bool:
        """True if an earlier try may have arrived, and the service may not have been at it yet."""
        if not before.may_have_arrived or before.sent_at is None:
            return False
        age = self._now() - before.sent_at
        if age < LOOK_MS:
            return True
        is_behind = await self._groups.oldest_awaited() is not None
        return age < STALLED_MS and is_behind and await self._outbox.latest_seen() < before.sent_at

    async def _ownership(self, group: GraphGroup, now: int) -> list[GraphMessage]:
        """The first message of a group, for the one worker that may send it."""
        if not self._settings.system_messages or group.ownership_sent_at is not None:
            return []
        first = [Equals("ownership_sent_at", None)]
        if await self._groups.change(group, {"ownership_sent_at": now}, first) is None:
            return []
        return [ownership_message(group, now)]

    async def _unsend(self, group: GraphGroup, now: int, *, opened: bool) -> None:
        """Note that nothing has arrived of what was to be sent. `group` is as it was before."""
        before: Document = {"latest_name": group.latest_name, "latest_sent_at": group.latest_sent_at}
        since = group.awaited_since
        if since is None:
            before = {**before, **NOT_AWAITED}
        await self._groups.change(group, before, [Equals("awaited_since", now if since is None else since)])
        if opened:
            await self._groups.change(group, {"ownership_sent_at": None}, [Equals("ownership_sent_at", now)])

    async def _put_back(self, entry: OutboxEntry, error: GraphitiFailed) -> None:
        now = self._now()
        logger.warning("an entry was not sent to Graphiti (try %d): %s", entry.tries, error)
        if entry.tries < self._settings.retries:
            backoff = LOOK_MS if error.may_have_arrived else _backoff_ms(entry.tries)
            await self._outbox.settle(
                entry, "pending", not_before=now + backoff, may_have_arrived=error.may_have_arrived
            )
        else:
            await self._park(entry, may_have_arrived=error.may_have_arrived)

    async def _park(self, entry: OutboxEntry, *, may_have_arrived: bool) -> None:
        if entry.kind == "turn":
            self._metrics.dropped.labels("failed").inc()
            await self._outbox.settle(entry, "parked", not_before=None, may_have_arrived=may_have_arrived)
            return
        later = self._now() + _PARKED_MS
        await self._outbox.settle(entry, "parked", not_before=later, may_have_arrived=may_have_arrived)

    # Confirming

    async def _await(self, group: GraphGroup, now: int) -> None:
        await self._groups.change(
            group, {"awaited_since": now, "look_at": now + LOOK_MS}, [Equals("awaited_since", None)]
        )

    async def _confirm(self) -> None:
        for group in await self._groups.to_look_at(self._now()):
            if group.erase is None:
                await self._look(group)
            else:  # the erasure looks for itself
                await self._groups.change(group, {"look_at": None})

    async def _look(self, group: GraphGroup) -> None:
        now = self._now()
        entries = await self._outbox.sent(group.group)
        waiting: list[OutboxEntry] = []
        if entries:
            try:
                there = await self._names(group.group, entries[-1].last_message or "")
            except GraphitiFailed as error:
                logger.info("what was sent to Graphiti cannot be looked for: %s", error)
                await self._groups.change(group, {"look_at": now + LOOK_MS})
                return
            seen = [each for each in entries if each.last_message in there.names]
            for entry in seen:
                await self._outbox.settle(entry, "seen", not_before=None)
            processed = max([await self._outbox.latest_seen(), *(each.sent_at or 0 for each in seen)])
            unseen = [each for each in entries if each not in seen]
            waiting = [each for each in unseen if not await self._is_settled(each, there, processed)]
        since = min((each.sent_at or now for each in waiting), default=None)
        look_at = None if since is None else now + LOOK_MS
        same = [Equals("awaited_since", group.awaited_since)]
        await self._groups.change(group, {"awaited_since": since, "look_at": look_at}, same)

    async def _is_settled(self, entry: OutboxEntry, there: "_Names", processed: int) -> bool:
        """Returns False while an unseen entry has to be looked for again."""
        if processed <= (entry.sent_at or 0) + _MARGIN_MS:
            return False
        if not there.are_all:  # it is older than the episodes that were looked through
            await self._outbox.settle(entry, "seen", not_before=None)
        elif entry.tries < self._settings.retries:  # what was sent later is there: this one is lost
            await self._outbox.settle(entry, "pending", not_before=self._now())
        else:
            await self._park(entry, may_have_arrived=False)
        return True

    async def _names(self, group: GroupId, wanted: str) -> "_Names":
        """Looks through the latest episodes, and through more if it is not among them."""
        episodes = await self._client.episodes(group, LAST_EPISODES)
        most = LAST_EPISODES
        if len(episodes) >= most and wanted not in {each.name for each in episodes}:
            with suppress(AnswerTooLarge):
                episodes = await self._client.episodes(group, _MANY_EPISODES)
                most = _MANY_EPISODES
        return _Names(frozenset(each.name for each in episodes), are_all=len(episodes) < most)

    # Stalling

    async def _judge(self) -> None:
        now = self._now()
        oldest = await self._groups.oldest_awaited()
        self._metrics.lag.set(0 if oldest is None else max(0, now - oldest) / 1_000)
        was_stalled = self._stalled
        self._stalled = is_stalled(await self._groups.unseen_since(now - STALLED_MS + 1))
        if self._stalled and not was_stalled:
            self._probe_at = now
            logger.error(
                "Graphiti has stalled: it accepts messages and has kept none of %d groups for 5 minutes. "
                "Restart the Graphiti service. Nothing more is sent until it keeps messages again.",
                STALLED_GROUPS,
            )
        elif was_stalled and not self._stalled:
            logger.info("Graphiti keeps messages again")

    async def _probe(self) -> None:
        """While nothing is sent, a test message of KAI's own finds out whether the service works again.

        It works in the order of sending. So what was sent before and is not there is lost, and sent again.
        """
        if self._now() < self._probe_at:
            return
        self._probe_at = self._now() + STALLED_MS
        test = await check_connection(
            self._client, self._trial_group(), "smoke", seen_seconds=self._settings.probe_seconds
        )
        if not any(step.name == "kept" and step.passed for step in test.steps):
            return
        async for entry in self._outbox.all([Equals("status", "sent")]):
            await self._outbox.settle(entry, "pending", not_before=0)
        async for group in self._groups.all([Equals("erase", None)]):
            if group.awaited_since is not None:
                await self._groups.change(group, {"awaited_since": None, "look_at": None})


@dataclass(frozen=True)
class _Names:
    """Names of a group's latest episodes, or of all that it has."""

    names: frozenset[str]
    are_all: bool


def _backoff_ms(tries: int) -> int:
    longest = min(_LONGEST_BACKOFF_MS, _FIRST_BACKOFF_MS * 2 ** (tries - 1))
    return int(longest * random.uniform(0.5, 1))  # noqa: S311 - spreads load, guards nothing
