"""Clients: each asks the questions of a session, follows the streams, and comes back when they break."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import httpx

from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.core.bus.event_log import LogEntry
from app.core.bus.port import BusUnavailable
from app.core.ids import new_id
from app.core.storage.port import StorageUnavailable
from app.modules.records.errors import RunUnknown, SessionUnknown
from app.modules.records.model import MultitaskStrategy, NewQuestion, Run, Session
from app.modules.records.steps import CallRecord
from app.modules.run.errors import (
    NotKeptYet,
    QueueFull,
    SessionBusy,
    SessionClosed,
    StillStopping,
    WorkersBusy,
)
from app.modules.run.messages import next_run_id
from app.modules.session.confirmations import Decided, Verdict
from app.modules.session.errors import ConfirmationOver, DecidedOtherwise
from graph.errors import CheckpointsUnavailable
from tests.simulation.agent import APPROVAL_SECONDS
from tests.simulation.deletion import Deletion
from tests.simulation.keyed import KeyedPost, check_replayed, is_final
from tests.simulation.site import Site
from tests.simulation.world import World

T = TypeVar("T")

OWNER = "ann"
_AGAIN_SECONDS = 0.5
_NAMED_SECONDS = 60.0
_LOOK_SECONDS = 0.5
_GOING_ON_SECONDS = 150.0

Way = Literal["approve", "deny", "approve twice", "approve and deny", "at expiry", "never", "cancel"]
"""How people decide about the calls of a question. `at expiry`: as their time ends."""

WAYS: tuple[Way, ...] = (
    *("approve", "approve", "approve", "deny", "approve twice"),
    *("approve and deny", "at expiry", "never", "cancel"),
)
_VERDICTS: dict[Way, tuple[Verdict, ...]] = {
    "approve": ("approve",),
    "deny": ("deny",),
    "approve twice": ("approve", "approve"),
    "approve and deny": ("approve", "deny"),
    "at expiry": ("approve", "deny"),
}
_CALLER = Caller(
    owner=OWNER, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="local", credential="ann"
)


EXPECTED = (
    *(SessionBusy, QueueFull, WorkersBusy, NotKeptYet, RunUnknown),
    *(ConfirmationOver, DecidedOtherwise, StillStopping),
    *(StorageUnavailable, BusUnavailable),
)
_GONE = (SessionUnknown, SessionClosed, RunUnknown)
"""Answers of a session that is being deleted."""


class ConnectionLost(Exception):
    """The API died, or its response did not come."""


_OUT_OF_REACH = (StorageUnavailable, BusUnavailable, CheckpointsUnavailable, ConnectionLost)


@dataclass(eq=False)
class Asked:
    """A question, and what its client knows of it."""

    session_id: str
    text: str
    multitask_strategy: MultitaskStrategy
    key: str | None
    cancels_after: float | None = None
    connection_id: str = field(default_factory=new_id)
    """The database that the question names."""
    state: Literal["new", "unknown", "refused", "acknowledged"] = "new"
    run: Run | None = None
    asked_at: float = 0.0
    """When it was first asked, by the world's clock."""
    acknowledged_at: float = 0.0
    events: list[tuple[int, str, str]] = field(default_factory=list)
    done: dict[str, object] | None = None
    cancelled: bool = False
    way: Way = "approve"
    eager: bool = False
    """Its calls are decided as soon as they are heard of, while their run still ends."""
    decided: dict[str, set[str]] = field(default_factory=dict)
    """What was confirmed to deciders, by call."""
    following: "Asked | None" = None
    """The run that went on with the turn after calls were decided."""
    asks: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False
    """Nothing is left to decide."""


class Client:
    """Asks through any API that lives. Nothing of it is part of a process that dies."""

    def __init__(self, world: World, sites: Callable[[], list[Site]]) -> None:
        self._world = world
        self._sites = sites
        self._bound: dict[str, str] = {}
        """Databases of sessions, as any question has read them first."""
        self.deleting: set[str] = set()
        """Sessions whose deletion was requested."""

    async def talk(self, asked: Asked) -> None:
        """Ask, and follow to the end, or until the session is deleted. A question that was refused is not
        asked again.
        """
        try:
            await self._talk(asked)
        except* _GONE:
            if asked.session_id not in self.deleting:
                raise
        asked.asks.set()

    async def _talk(self, asked: Asked) -> None:
        asked.asked_at = self._world.loop.time()
        await self._submit(asked)
        if asked.state != "acknowledged":
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_turn(asked))
            if asked.cancels_after is not None:
                group.create_task(self._cancel(asked, asked.cancels_after))

    async def post(self, keyed: KeyedPost) -> None:
        """Send a keyed request from some clients at once until each is answered, and once more after that."""

        async def send(site: Site) -> httpx.Response:
            assert site.keyed is not None
            return await site.keyed.post(keyed)

        async def sent() -> httpx.Response:
            while True:
                with suppress(ConnectionLost, TimeoutError):
                    async with asyncio.timeout(keyed.patience_seconds):
                        response = await self._call(send)
                    self._world.note(f"{keyed.title!r} is answered {response.status_code}")
                    if is_final(self._world, keyed, response):
                        return response
                await asyncio.sleep(_AGAIN_SECONDS)

        await asyncio.sleep(keyed.after)
        async with asyncio.TaskGroup() as group:
            for _ in range(keyed.at_once):
                group.create_task(sent())
        check_replayed(self._world, keyed, await sent())

    async def delete(self, deletion: Deletion) -> None:
        """Request a deletion until it is confirmed."""

        async def delete(site: Site) -> bool:
            if not deletion.whole:
                await site.deleting.service.delete(OWNER, deletion.session_ids[0])
                return True
            left = await site.deleting.owners.forget_everything(_CALLER)
            return not any(each.what.startswith("session") for each in left)

        self.deleting.update(deletion.session_ids)
        while not deletion.is_done:
            try:
                deletion.is_done = await self._call(delete)
            except SessionUnknown:
                deletion.is_done = True
            except (StillStopping, *_OUT_OF_REACH):
                await asyncio.sleep(_AGAIN_SECONDS)
        self._world.note("what is deleted is confirmed")

    async def _follow_turn(self, asked: Asked) -> None:
        """Follow a run and those that go on with its turn, and decide what waits."""
        async with asyncio.TaskGroup() as group:
            for verdict in _VERDICTS.get(asked.way, ()):
                group.create_task(self._decide(asked, verdict))
            if asked.way == "cancel":
                group.create_task(self._cancel_asking(asked))
            await self._follow(asked)
            following = await self._going_on(asked) if _waits(asked) else None
            asked.is_over = True
            asked.asks.set()
        if following is not None:
            asked.following = Asked(
                asked.session_id,
                asked.text,
                asked.multitask_strategy,
                None,
                state="acknowledged",
                run=following,
                way=asked.way,
                eager=asked.eager,
                decided=asked.decided,
            )
            await self._follow_turn(asked.following)

    async def _going_on(self, asked: Asked) -> Run | None:
        """The run that goes on with a turn that waits. There is one whatever people do: calls expire."""
        run = asked.run
        assert run is not None

        async def find(site: Site) -> Run | None:
            return await site.repository.find_run(next_run_id(run.id))

        until = self._world.loop.time() + _GOING_ON_SECONDS
        while self._world.loop.time() < until:
            if asked.session_id in self.deleting:
                raise SessionUnknown
            with suppress(StorageUnavailable, ConnectionLost):
                if (found := await self._call(find)) is not None:
                    return found
            await asyncio.sleep(_LOOK_SECONDS)
        self._world.violate(f"no run goes on with the turn of {asked.text!r}")
        return None

    async def _decide(self, asked: Asked, verdict: Verdict) -> None:
        """Decide what waits, until nothing does."""
        await asked.asks.wait()
        if asked.way == "at expiry":
            await asyncio.sleep(APPROVAL_SECONDS - 0.3 + 0.6 * self._world.chance.random())
        while not asked.is_over:
            for card in await self._cards(asked):
                await self._decide_card(asked, card, verdict)
            await asyncio.sleep(_LOOK_SECONDS * self._world.chance.random())

    async def _cards(self, asked: Asked) -> list[CallRecord]:
        run = asked.run
        assert run is not None

        async def read(site: Site) -> list[CallRecord]:
            cards, _ = await site.confirmations.page(
                OWNER, asked.session_id, "waiting", limit=20, cursor=None
            )
            return [card for card in cards if card.message_id == run.message_id]

        with suppress(StorageUnavailable, ConnectionLost):
            return await self._call(read)
        return []

    async def _decide_card(self, asked: Asked, card: CallRecord, verdict: Verdict) -> None:
        async def decide(site: Site) -> Decided:
            return await site.confirmations.decide(
                _CALLER, asked.session_id, card.id, verdict=verdict, call_hash=card.call_hash, reason=None
            )

        with suppress(StorageUnavailable, BusUnavailable, ConnectionLost):  # then it is decided again
            try:
                decided = await self._call(decide)
            except (ConfirmationOver, DecidedOtherwise) as error:
                self._world.note(f"{verdict} of {card.id[-4:]}: {type(error).__name__}")
            else:
                self._world.note(f"{verdict} of {card.id[-4:]}: {decided}")
                asked.decided.setdefault(card.id, set()).add(decided.status)

    async def _cancel_asking(self, asked: Asked) -> None:
        """Cancel a run that has asked."""
        await asked.asks.wait()
        if not asked.is_over:
            await self._cancel(asked, self._world.chance.random())

    async def _submit(self, asked: Asked) -> None:
        async def submit(site: Site) -> Run:
            _, run = await site.submissions.submit(
                OWNER,
                asked.session_id,
                NewQuestion(
                    asked.text, multitask_strategy=asked.multitask_strategy, idempotency_key=asked.key
                ),
                read=lambda: self._read(site, asked),
            )
            return run

        while True:
            try:
                asked.run = await self._call(submit)
            except (SessionBusy, QueueFull, WorkersBusy) as error:
                self._world.note(f"{asked.text!r} is refused: {type(error).__name__}")
                asked.state = "refused"
                return
            except NotKeptYet as error:
                asked.run = await self._named(asked, str(error.members["run_id"]))
                if asked.run is None:
                    asked.state = "unknown"
                    return
            except (StorageUnavailable, BusUnavailable, ConnectionLost) as error:
                self._world.note(f"{asked.text!r}: {type(error).__name__}")
                broken = isinstance(error, ConnectionLost)
                asked.state = "unknown" if broken or asked.state == "unknown" else "refused"
                if asked.key is None:
                    return
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            asked.state = "acknowledged"
            asked.acknowledged_at = self._world.loop.time()
            self._world.note(f"{asked.text!r} is acknowledged as {asked.run.id[-4:]}")
            return

    async def _read(self, site: Site, asked: Asked) -> Session:
        """Of the questions that bind a session at once, each to another database, one does."""
        session = await site.repository.get(OWNER, asked.session_id)
        bound = await site.repository.bind(session, asked.connection_id)
        first = self._bound.setdefault(bound.id, bound.connection_id)
        if first != bound.connection_id:
            self._world.violate(f"session {bound.id[-4:]} has changed its database")
        return bound

    async def _named(self, asked: Asked, run_id: str) -> Run | None:
        """The run that a 202 named, once it is known; None when it is not in a minute."""
        self._world.note(f"{asked.text!r} is not kept yet: {run_id[-4:]}")

        async def find(site: Site) -> Run:
            session = await site.repository.get(OWNER, asked.session_id)
            return await site.repository.get_run(session, run_id)

        until = self._world.loop.time() + _NAMED_SECONDS
        while self._world.loop.time() < until:
            try:
                return await self._call(find)
            except (RunUnknown, StorageUnavailable, ConnectionLost):
                await asyncio.sleep(_AGAIN_SECONDS)
        return None

    async def _cancel(self, asked: Asked, seconds: float) -> None:
        await asyncio.sleep(seconds)
        run = asked.run
        assert run is not None

        async def cancel(site: Site) -> None:
            session = await site.repository.get(OWNER, asked.session_id)
            await site.submissions.cancel(session, await site.repository.get_run(session, run.id))

        asked.cancelled = True
        while True:
            try:
                await self._call(cancel)
            except (StorageUnavailable, BusUnavailable, ConnectionLost):
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                return

    async def _follow(self, asked: Asked) -> None:
        run = asked.run
        assert run is not None

        async def follow(site: Site) -> None:
            session = await site.repository.get(OWNER, asked.session_id)
            latest = await site.repository.get_run(session, run.id)
            last = asked.events[-1][0] if asked.events else 0
            async with (
                site.follower.follow(latest) as log,
                aclosing(log.read(last, lambda: False)) as entries,
            ):
                async for entry in entries:
                    self._hear(asked, entry)

        while asked.done is None:
            try:
                await self._call(follow)
            except (StorageUnavailable, BusUnavailable, ConnectionLost):
                await asyncio.sleep(_AGAIN_SECONDS)
            except RunUnknown:
                if asked.session_id in self.deleting:
                    return
                self._world.violate(f"the acknowledged run of {asked.text!r} is unknown")
                return
            else:
                if asked.done is None:
                    await asyncio.sleep(_AGAIN_SECONDS)

    def _hear(self, asked: Asked, entry: LogEntry) -> None:
        if asked.done is not None:
            self._world.violate(f"the stream of {asked.text!r} goes on after done: {entry.event}")
        asked.events.append((entry.id, entry.event, entry.data))
        if asked.eager and entry.event == "confirmation":
            asked.asks.set()
        if entry.event == "done":
            asked.done = json.loads(entry.data)
            self._world.note(f"{asked.text!r} hears done: {asked.done['status']}")
            if _waits(asked):
                asked.asks.set()
            else:
                self._world.on_done(asked.session_id, str(asked.done["run_id"]))

    async def _call(self, work: Callable[[Site], Awaitable[T]]) -> T:
        """Call an API. Raises `ConnectionLost` when it dies before it has answered."""
        sites = [site for site in self._sites() if site.process.state != "dead"]
        if not sites:
            raise ConnectionLost
        site = self._world.chance.choice(sites)
        loop = self._world.loop
        response: asyncio.Future[T] = loop.create_future()

        async def serve() -> None:
            try:
                result = await work(site)
            except Exception as error:  # noqa: BLE001
                outcome = error
                self._world.note(f"raised {error!r}")
                if not isinstance(error, (*EXPECTED, *_OUT_OF_REACH, *(_GONE if self.deleting else ()))):
                    self._world.violate(f"a request raised {error!r}")
                self._world.later(0.001, lambda: _fail(response, outcome))
            else:
                self._world.later(0.001, lambda: _answer(response, result))

        loop.spawn(site.process, serve(), f"request {new_id()[-4:]}")
        lost = self._world.connections.setdefault(site.process.name, {})
        lost[response] = None
        try:
            return await response
        finally:
            lost.pop(response, None)


def _waits(asked: Asked) -> bool:
    return asked.done is not None and asked.done["status"] == "awaiting_approval"


def _answer(response: asyncio.Future[T], result: T) -> None:
    if not response.done():
        response.set_result(result)


def _fail(response: asyncio.Future[T], error: Exception) -> None:
    if not response.done():
        response.set_exception(error)
