"""One seed: a small KAI, a few questions, some faults, and what has to hold when all is at rest."""

import asyncio
import gc
import logging
import random
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import cast
from unittest.mock import patch

from app.core.bus.begun_runs import BegunRuns
from app.core.ids import new_id
from app.core.storage import typesense_layout as layout
from app.core.storage import typesense_successors
from app.core.storage.port import Document
from app.modules.records.model import Mode, MultitaskStrategy, Run, Session
from app.modules.records.repository import document
from app.modules.run import follower, worker
from app.modules.schedules import running
from app.modules.schedules import webhooks as schedule_webhooks
from app.modules.schedules import worker as schedule_worker
from app.modules.session import erasure
from app.modules.webhooks import delivering, retries
from tests.simulation import schedules, webhooks
from tests.simulation.bus import KEPT_SECONDS, DecisionData, LogData, Loss, QueueData
from tests.simulation.clients import OWNER, WAYS, Asked, Client, ConnectionLost
from tests.simulation.clocks import simulated_clocks
from tests.simulation.deletion import SWEPT_AFTER_MS, Deletion
from tests.simulation.invariants import check_at_rest, unrest
from tests.simulation.keyed import KeyedPost
from tests.simulation.loop import NothingHappens, Process, VirtualLoop
from tests.simulation.schedules import Timetable
from tests.simulation.site import Cluster, Role, Site
from tests.simulation.store import SCHEMA, StoreData
from tests.simulation.turn import Story
from tests.simulation.world import KINDS, Kind, World

LONGEST_SECONDS = 240.0
_LOOK_AGAIN_SECONDS = 0.25
_SWEEP_SECONDS = 5.0
_ROLES: tuple[Role, ...] = ("all", "api", "worker", "history")
_AT_WRITES = 0.4
"""The part of the faults that strike writes to the store. Most requests wait for something new."""

_WITH_AGENT = 0.2
"""The part of the seeds whose first session is in agent mode."""

_WITH_DELETION = 0.15
"""The part of the seeds in which a session, or everything of its owner, is deleted."""

_WITH_ONE_MACHINE = 0.15
"""The part of the seeds in which the bus is on the machines of the workers, and is lost with them."""

_WITH_SCHEDULES = 0.15
"""The part of the seeds in which schedules are due."""

_WITH_WEBHOOK = 0.15
"""The part of the seeds whose owner has a webhook."""

_WITH_KEYED = 0.15
"""The part of the seeds in which clients create boards with keys."""

_SILENT_SECONDS = 1.0
"""Of a log, until its follower looks into the store, in the place of five: shorter than a lease."""


@dataclass(frozen=True)
class Outcome:
    """What came of a seed. `violations` are sentences."""

    seed: int
    violations: list[str]
    trace: list[str]
    requests: int
    seconds: float
    faults: list[str]


@dataclass(frozen=True)
class Plan:
    """What is asked of one session. `in_turn`: the next question is asked once the one before is answered."""

    asked: list[Asked]
    in_turn: bool


def simulate(seed: int, *, traced: bool = False, agents: bool = False) -> Outcome:
    """Run a seed to its rest. The same seed gives the same outcome, event by event. With `agents`, all of its
    sessions are in agent mode, in place of a part of the seeds' first sessions.
    """
    chance = random.Random(f"scenario {seed}")
    loop = VirtualLoop()
    number = chance.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4])
    at_writes = sum(chance.random() < _AT_WRITES for _ in range(number))
    faults = _faults(chance, number - at_writes, chance.choice([80, 200, 400]))
    write_faults = _faults(chance, at_writes, chance.choice([15, 30, 60]))
    effect_faults: dict[int, Kind] = {}
    end_faults: dict[int, Kind] = {}
    if faults or write_faults:
        ends = random.Random(f"ends {seed}")
        end_faults = _faults(ends, ends.choice([0, 0, 1]), 4)
        people = random.Random(f"effects {seed}")
        effect_faults = _faults(people, people.choice([0, 0, 1]), 4)
    world = World(seed, loop, faults, write_faults, effect_faults, end_faults, traced=traced)
    with simulated_clocks(loop, seed), _short_times(), _quiet(shown=traced):
        asyncio.set_event_loop(loop)
        gc.disable()
        try:
            scenario = Scenario(world, chance, agents=agents)
            try:
                loop.run_until_complete(scenario.run())
            except NothingHappens:
                world.violate("nothing happens any more, and not everything is at rest")
            seconds = loop.time()
            for error in loop.errors:
                world.violate(f"outside of all requests and tasks: {error}")
            scenario.end()
        finally:
            asyncio.set_event_loop(None)
            loop.close()
            gc.enable()
    return Outcome(seed, world.violations, world.trace, world.requests, seconds, world.struck)


def _faults(chance: random.Random, number: int, span: int) -> dict[int, Kind]:
    return {chance.randrange(1, span): chance.choice(KINDS) for _ in range(number)}


_known_key = lru_cache(10_000)(layout.key)


@contextmanager
def _short_times() -> Generator[None]:
    with (
        patch.object(layout, "key", _known_key),
        patch.object(typesense_successors, "_KEPT_SECONDS", KEPT_SECONDS),
        patch.object(worker, "SWEEP_SECONDS", _SWEEP_SECONDS),
        patch.object(follower, "_SILENT_SECONDS", _SILENT_SECONDS),
        patch.object(running, "LEASE_MS", schedules.LEASE_MS),
        patch.object(running, "_RENEW_SECONDS", schedules.RENEW_SECONDS),
        patch.object(schedule_webhooks, "_LEASE_MS", schedules.LEASE_MS),
        patch.object(delivering, "LEASE_MS", schedules.LEASE_MS),
        patch.object(retries, "RETRY_SECONDS", schedules.RETRY_SECONDS),
        patch.object(erasure, "_SWEPT_AFTER_MS", SWEPT_AFTER_MS),
        patch.object(schedule_worker, "_LOOK_SECONDS", schedules.LOOK_SECONDS),
    ):
        yield


@contextmanager
def _quiet(*, shown: bool) -> Generator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.NOTSET if shown else logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


class Scenario:
    """The processes and clients of a seed."""

    def __init__(self, world: World, chance: random.Random, *, agents: bool) -> None:
        self._world = world
        self._chance = chance
        self._people = random.Random(f"people {world.seed}")
        self._agents = agents
        alone = chance.random() < 0.15
        decisions = DecisionData()
        self.cluster = Cluster(
            world=world,
            alone=alone,
            on_typesense=not alone or chance.random() < 0.5,
            store=StoreData(decisions),
            decisions=decisions,
            story=Story(),
            queue=QueueData(),
            logs=LogData(),
            observed=[],
            begun=BegunRuns(),
            handled=set(),
        )
        self._sites: dict[str, Site] = {}
        self._born = 0
        self._all: list[Process] = []
        self._asked = 0
        roles: list[Role] = ["all"] if alone else ["api", "worker", "worker", "history"]
        if not alone and chance.random() < 0.3:
            roles.append("api")
        self._roles = roles
        poisonous = chance.random() < 0.1 and not agents
        number = 3 if poisonous else chance.choice([1, 1, 2, 3])
        acts = agents or (self._people.random() < _WITH_AGENT and not poisonous)
        self.plans = [
            self._plan("agent" if agents or (acts and each == 0) else "ask") for each in range(number)
        ]
        if poisonous:
            self.cluster.story.poison.add(self.plans[0].asked[0].text)
            self.cluster.story.pace = 6.0
        if (owners := random.Random(f"schedules {world.seed}")).random() < _WITH_SCHEDULES:
            self._schedule(both=owners.random() < 0.5)
        if (deleting := random.Random(f"deletion {world.seed}")).random() < _WITH_DELETION:
            self.cluster.deletion = self._deletion(deleting, acts=acts)
        if random.Random(f"webhook {world.seed}").random() < _WITH_WEBHOOK:
            self.cluster.received = received = webhooks.planned(OWNER)
            self._keep("webhooks", [asdict(received.webhook)])
        if (posting := random.Random(f"keyed {world.seed}")).random() < _WITH_KEYED:
            self.cluster.keyed = [self._keyed(posting, each) for each in range(posting.choice([1, 2, 3]))]
        self._loses_bus = random.Random(f"machines {world.seed}").random() < _WITH_ONE_MACHINE
        world.on_death = self._bury
        world.on_stop = self._stop
        world.on_begin = self._check_begin
        world.on_queue_loss = self._lose_bus
        world.on_decisions_loss = self._lose_decisions
        world.on_done = self._check_free
        world.on_effect = self._check_effect
        self._client = Client(world, self._apis)

    def _plan(self, mode: Mode) -> Plan:
        chance = self._chance
        session = Session(
            id=new_id(),
            owner=OWNER,
            db_connection_id=None if self._asked % 2 else new_id(),
            title=None,
            mode=mode,
            metadata={},
            created_at=1_800_000_000_000,
            updated_at=1_800_000_000_000,
        )
        self._keep("sessions", [document(session)])
        in_turn = chance.random() < 0.5
        questions = chance.choice([1, 2, 2, 3])
        return Plan([self._question(session.id, in_turn) for _ in range(questions)], in_turn)

    def _deletion(self, chance: random.Random, *, acts: bool) -> Deletion:
        is_whole = chance.random() < 0.3
        sessions = [plan.asked[0].session_id for plan in self.plans]
        return Deletion(
            session_ids=sessions if is_whole else sessions[:1],
            whole=is_whole,
            after=chance.choice([0.05, 0.3, 0.6, 1.0, 2.0, 4.0]),
            at_approval=acts and chance.random() < 0.7,
            at_handover=chance.random() < 0.3,
        )

    async def _delete(self, deletion: Deletion) -> None:
        if deletion.at_approval:
            await self.plans[0].asked[0].asks.wait()
        await asyncio.sleep(deletion.after)
        workers = [site for site in self._sites.values() if site.role == "worker"]
        if deletion.at_handover and workers:
            self._stop(self._people.choice(workers).process)
        await self._client.delete(deletion)

    def _schedule(self, *, both: bool) -> None:
        board, pin, made = schedules.planned(OWNER, both=both)
        self.cluster.timetable = Timetable(made)
        self._keep("boards", [asdict(board)])
        self._keep("pins", [asdict(pin)])
        self._keep("schedules", map(asdict, made))

    def _keyed(self, chance: random.Random, number: int) -> KeyedPost:
        return KeyedPost(
            key=new_id(),
            title=f"board {number}",
            after=chance.random() * 2,
            at_once=chance.choice([1, 1, 2]),
            patience_seconds=chance.choice([0.5, 3.0, 30.0]),
        )

    def _keep(self, name: str, documents: Iterable[Document]) -> None:
        rows = [layout.row(SCHEMA[name], each, new_id()) for each in documents]
        self.cluster.store.write(layout.place_of(SCHEMA[name]), rows, "create")

    def _question(self, session_id: str, in_turn: bool) -> Asked:
        chance = self._chance
        text = f"question {self._asked} of {session_id[-3:]}"  # ends of ids may be the same
        self._asked += 1
        usual: list[MultitaskStrategy] = (
            ["reject"] if in_turn else ["enqueue", "enqueue", "enqueue", "interrupt"]
        )
        key = new_id() if chance.random() < 0.6 else None
        cancels = chance.random() * 2 if chance.random() < 0.12 else None
        asked = Asked(session_id, text, chance.choice(usual), key, cancels)
        asked.way = self._people.choice(WAYS)
        asked.eager = self._people.random() < 0.3
        return asked

    async def run(self) -> None:
        """Everything of the seed, until it is at rest or does not come to it."""
        for role in self._roles:
            self._open(role)
        asking = [asyncio.create_task(self._ask(plan)) for plan in self.plans]
        if self.cluster.deletion is not None:
            asking.append(asyncio.create_task(self._delete(self.cluster.deletion)))
        asking += [asyncio.create_task(self._client.post(each)) for each in self.cluster.keyed]
        await self._rest(asking)
        if self._chance.random() < 0.3 and not self._world.violations:
            await asyncio.sleep(KEPT_SECONDS + 1)
            for plan in self.plans:
                last = self._question(plan.asked[0].session_id, in_turn=True)
                plan.asked.append(last)
                asking.append(asyncio.create_task(self._client.talk(last)))
            await self._rest(asking)
        await self._calm(asking)
        check_at_rest(self.cluster, self._questions())

    def end(self) -> None:
        """End all tasks. Those of dead processes run their `finally` blocks only now, to no effect."""
        world, loop = self._world, self._world.loop
        world.over = True
        for process in self._all:
            loop.revive(process)
        for process in self._all:
            for task in process.tasks:
                task.cancel()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with suppress(NothingHappens):
            loop.run_until_complete(_ended(loop))

    def _questions(self) -> list[Asked]:
        """Those of sessions that stay."""
        every = [asked for plan in self.plans for asked in plan.asked]
        return [asked for asked in every if asked.session_id not in self._client.deleting]

    async def _rest(self, asking: list["asyncio.Task[None]"]) -> None:
        deadline = self._world.loop.time() + LONGEST_SECONDS
        while True:
            reason = unrest(self.cluster, self._questions()) if all(each.done() for each in asking) else None
            if all(each.done() for each in asking) and reason is None:
                break
            if self._world.loop.time() > deadline:
                open_ones = [each.text for each in self._questions() if each.run and each.done is None]
                self._world.violate(f"no rest: {reason or f'{open_ones} get no done'}")
                break
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        for each in asking:
            if each.done() and not each.cancelled() and (error := each.exception()) is not None:
                raise error

    async def _calm(self, asking: list["asyncio.Task[None]"]) -> None:
        """Wait for the late effects of all faults, and for a sweep that finds what the queue has lost."""
        calm_since = -1
        while not self._world.violations and calm_since < len(self._world.struck):
            calm_since = len(self._world.struck)
            await asyncio.sleep(_SWEEP_SECONDS)
            await self._rest(asking)

    async def _ask(self, plan: Plan) -> None:
        if plan.in_turn:
            for asked in list(plan.asked):
                await self._client.talk(asked)
            return
        async with asyncio.TaskGroup() as group:
            for asked in list(plan.asked):
                group.create_task(self._client.talk(asked))
                await asyncio.sleep(self._chance.choice([0.001, 0.05, 0.3, 1.0]))

    # Processes

    def _open(self, role: Role) -> None:
        self._born += 1
        process = Process(f"{role}{self._born}", self._chance.choice([0.0, 0.0, 0.3, -0.3, 5.0, -5.0]))
        site = Site(self.cluster, process, role)
        self._all.append(process)
        self._world.note(f"{process.name} starts, its clock {process.skew_seconds:+} s")
        self._world.loop.spawn(process, self._start(site), "start")

    async def _start(self, site: Site) -> None:
        try:
            await site.start()
        except Exception as error:  # noqa: BLE001
            self._world.note(f"cannot start: {error!r}")
            self._world.kill(site.process)
            await asyncio.Future()
        self._sites[site.process.name] = site

    def _apis(self) -> list[Site]:
        return [site for site in self._sites.values() if site.role in ("api", "all")]

    def _bury(self, process: Process) -> None:
        """Break the connections of a process that has died, and start another in its place."""
        story, name = self.cluster.story, process.name
        killer = story.killed.get(name)
        for run_id in story.under_way.pop(name, set()):
            counted = story.deaths if killer in (None, run_id) else story.poisoned
            counted[run_id] = counted.get(run_id, 0) + 1
        for response in self._world.connections.pop(name, {}):
            if not response.done():
                response.set_exception(ConnectionLost())
        self._sites.pop(name, None)
        role = next(role for role in _ROLES if name.startswith(role))
        if role == "worker" and self._loses_bus:
            self._lose_bus()
        self._world.later(self._chance.choice([0.1, 0.5, 2.0]), lambda: self._open(role))

    def _lose_bus(self) -> None:
        """The queue and the decisions are lost. What a log still holds is the harder case."""
        self.cluster.queue.forget(self._world.loop.time())
        self._lose_decisions()

    def _lose_decisions(self) -> None:
        """Not while a late write has put an earlier state into a document, which only they can repair. A
        process that is alone has its own ones.
        """
        chance = self._world.chance
        if self.cluster.alone or self.cluster.store.set_back:
            return
        self._world.losses += 1
        self.cluster.store.highest.clear()
        loss: Loss = chance.choice(["purge", "new stream", "rollback"])
        self._world.note(f"decisions: {loss}")
        self.cluster.decisions.lose(loss, self._world.loop.time(), kept=chance.random())

    def _stop(self, process: Process) -> None:
        site = self._sites.get(process.name)
        if site is None or site.role != "worker" or process.state == "dead":
            return

        async def stop() -> None:
            await site.stop()
            self._world.kill(process)
            await asyncio.Future()

        self._world.note(f"{process.name} is asked to stop")
        self._world.loop.spawn(process, stop(), "stop")

    # Invariants of moments

    def _check_begin(self, run: Run) -> None:
        kept = self.cluster.store.effective("runs", run.id)
        if kept is not None and kept["status"] != "open" and cast("int", kept["attempt"]) < run.attempt:
            self._world.violate(
                f"{run.question!r} is {kept['status']} and runs again (attempt {run.attempt})"
            )
        if run.webhook_due_at is not None:
            self._world.violate(f"{run.question!r} runs, and its end is marked for webhooks already")

    def _check_effect(self, call_id: str) -> None:
        """What has an effect was approved before, and has not had it."""
        call = self.cluster.store.effective("tool_calls", call_id)
        if call is None and self._client.deleting:
            return
        if call is None or call["decided_by"] is None or call["begun_at"] is None:
            self._world.violate(f"call {call_id[-4:]} has its effect and was not approved")
        if call_id in self.cluster.story.office.booked:
            self._world.violate(f"call {call_id[-4:]} has its effect twice")

    def _check_free(self, session_id: str, run_id: str) -> None:
        session = self.cluster.store.effective("sessions", session_id)
        is_held = session is not None and session["active_run_id"] == run_id
        if is_held and not self._world.long_outage:  # after which a stream ends before all is kept
            self._world.held_at_done.append(run_id)


async def _ended(loop: VirtualLoop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for _ in range(20):
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1) if left else (set(), set())
        if not left:
            return
