"""The real engine, wired up in a simulated process as the composition root does it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from prometheus_client import CollectorRegistry, Gauge

from app.core.bus.begun_runs import BegunRuns
from app.core.bus.job_worker import JobWorker
from app.core.bus.local import LocalDecisions, LocalJobs, LocalLogs
from app.core.bus.port import Decisions, EventLogs, FollowUp, JobQueue, RunRef
from app.core.clock import now_ms
from app.core.follow_up import follow_up
from app.core.tasks import Loops
from app.modules.agent.step_events import said_in_steps
from app.modules.memory.memory_job import MemoryJob
from app.modules.memory.service import ConversationMemories
from app.modules.memory.turns import StoredTurns
from app.modules.records.model import Run
from app.modules.records.repository import SessionRepository
from app.modules.run.engine import RunServices
from app.modules.run.follower import RunFollower
from app.modules.run.lifecycle import RunLifecycle
from app.modules.run.observer import RunObserver
from app.modules.run.pending_submissions import Arrivals, Turnstiles
from app.modules.run.retention import Retention
from app.modules.run.submission import Submissions
from app.modules.run.worker import Worker
from app.modules.schedules.worker import ScheduleWorker
from app.modules.session.confirmations import Confirmations
from app.modules.tools.policy import ToolPolicy
from app.modules.tools.registry import BUILTIN, ToolRegistry
from app.modules.usage.repository import UsageRepository
from app.modules.usage.service import Allowances, Quotas
from graph import SessionEvent
from graph.events import Done
from tests.simulation.agent import AgentSite
from tests.simulation.bus import (
    LEASE_SECONDS,
    DecisionData,
    LogData,
    QueueData,
    SimulatedDecisions,
    SimulatedLogs,
    SimulatedQueue,
)
from tests.simulation.deletion import SWEEP_SECONDS, Deleting, Deletion
from tests.simulation.keyed import KeyedApi, KeyedPost
from tests.simulation.loop import Process
from tests.simulation.schedules import Timetable, worker_of_schedules
from tests.simulation.store import SCHEMA, SimulatedSqlite, SimulatedTypesense, StoreData
from tests.simulation.turn import SimulatedGraph, Story
from tests.simulation.webhooks import Received, send_events
from tests.simulation.world import LATE_SECONDS, STORE_PATIENCE_SECONDS, TIMEOUT_SECONDS, World
from tests.support.webhooks import events_of

Role = Literal["all", "api", "worker", "history"]

_CONCURRENCY = 4
_MAX_WAITING = 100
_PAUSE_SECONDS = 2.0
_QUOTAS = Quotas(None, None, None)


async def _untainted(message_id: str) -> bool:
    """No turn here calls a tool of others."""
    return False


@dataclass
class Cluster:
    """The servers of a KAI and what they hold. `alone`: one process does everything, with its own bus."""

    world: World
    alone: bool
    on_typesense: bool
    store: StoreData
    decisions: DecisionData
    story: Story
    queue: QueueData
    logs: LogData
    observed: list[tuple[str, str, int]]
    """Run, outcome and tokens of each end that the metrics counted."""
    begun: BegunRuns
    """What processes with buses of their own leave behind as they die."""
    handled: set[str]
    """Runs whose answers were there as a job of the kind `title` looked at their session."""
    deletion: Deletion | None = None
    """None in a seed in which nothing is deleted."""
    timetable: Timetable | None = None
    """None in a seed without schedules."""
    received: Received | None = None
    """None in a seed without webhooks."""
    keyed: list[KeyedPost] = field(default_factory=list)


class CountingObserver(RunObserver):
    """The metrics, with what they counted."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(CollectorRegistry())
        self._cluster = cluster

    def observe(self, run: Run, event: SessionEvent) -> None:
        super().observe(run, event)
        if isinstance(event, Done):
            self._cluster.observed.append((run.id, event.status, event.tokens_used))


class Site:
    """A process with the parts that its role needs."""

    def __init__(self, cluster: Cluster, process: Process, role: Role) -> None:
        world = cluster.world
        self.process = process
        self.role = role
        self.world = world
        self.cluster = cluster

    async def start(self) -> None:
        """Make the parts, and start what works by itself. Runs in the process."""
        cluster, world = self.cluster, self.world
        queue: JobQueue = LocalJobs()
        logs: EventLogs = LocalLogs(cluster.begun)
        decisions: Decisions = LocalDecisions()
        if not cluster.alone:
            queue = SimulatedQueue(world, cluster.queue)
            logs = SimulatedLogs(world, cluster.logs)
            decisions = SimulatedDecisions(world, cluster.decisions)
        elif cluster.on_typesense:
            # The first read of a process waits for the writes that the server has in its queue.
            await asyncio.sleep(TIMEOUT_SECONDS + LATE_SECONDS)
        made = SimulatedTypesense if cluster.on_typesense else SimulatedSqlite
        storage = made(world, cluster.store, SCHEMA, decisions)
        self.repository = repository = SessionRepository(storage)
        agents = AgentSite(world, cluster.story.office, storage, repository)
        events = events_of(storage)
        self.lifecycle = lifecycle = RunLifecycle(
            repository, queue, logs, calls=agents.records, events=events
        )
        self.keyed = KeyedApi(storage) if cluster.keyed else None
        allowances = Allowances(UsageRepository(storage), _QUOTAS)
        self.submissions = Submissions(
            lifecycle,
            repository,
            queue,
            logs=logs,
            allowances=allowances,
            max_waiting=_MAX_WAITING,
            turnstiles=Turnstiles(Arrivals(), STORE_PATIENCE_SECONDS),
        )
        self.confirmations = Confirmations(
            repository,
            agents.records,
            lifecycle,
            allowances=allowances,
            tools=ToolRegistry(BUILTIN, ToolPolicy()),
        )
        self.follower = RunFollower(
            repository,
            agents.rows,
            logs,
            said_in_steps=partial(said_in_steps, agents.records, agents.rows),
        )
        graph = SimulatedGraph(world, cluster.story, agents)
        self.deleting = Deleting(
            storage,
            repository,
            graph,
            logs=logs,
            submissions=self.submissions,
            follower=self.follower,
            records=agents.records,
            allowances=allowances,
        )
        self.worker: Worker | None = None
        self.loops = Loops("worker")
        self.following: list[JobWorker] = []
        self.schedules: ScheduleWorker | None = None
        if self.role in ("all", "worker"):
            services = RunServices(
                graph=graph,
                lifecycle=lifecycle,
                repository=repository,
                logs=logs,
                bind=graph.bind,
                allowances=allowances,
                observer=CountingObserver(cluster),
                store_patience_seconds=STORE_PATIENCE_SECONDS,
            )
            waiting = Gauge("waiting", "Runs that wait", registry=CollectorRegistry())
            self.worker = Worker(
                services,
                queue,
                _CONCURRENCY,
                waiting=waiting,
                retention=Retention(services.graph, 0),
                actions=agents.actions,
            )
            if cluster.alone:
                await self.worker.sweep(before=now_ms())
            self.worker.start()
            if cluster.deletion is not None:
                self.loops.every(SWEEP_SECONDS, "forget sessions", self.deleting.sessions.sweep)
            if cluster.received is not None:
                send_events(
                    world, self.loops, cluster.received, cluster.store, storage=storage, events=events
                )
            if cluster.timetable is not None:
                self.schedules = worker_of_schedules(world, cluster.timetable, cluster.store, storage=storage)
                self.schedules.start()
        if self.role in ("all", "history"):
            memories = ConversationMemories(storage, None)
            remembering = MemoryJob(StoredTurns(repository, _untainted), memories, None)
            work: dict[FollowUp, Callable[[str], Awaitable[None]]] = {
                "title": self._handle,
                "memory": remembering.work,
            }
            for kind, do in work.items():
                self.following.append(self._follow_up(queue, kind, do))

    def _follow_up(self, queue: JobQueue, kind: FollowUp, do: Callable[[str], Awaitable[None]]) -> JobWorker:
        async def work(ref: RunRef) -> None:
            await do(ref.session_id)

        worker = JobWorker(
            queue,
            kind,
            follow_up(work),
            concurrency=1,
            retry_seconds=LEASE_SECONDS,
            pause_seconds=_PAUSE_SECONDS,
            yield_to=None if self.worker is None else self.worker.jobs,
        )
        worker.start()
        return worker

    async def _handle(self, session_id: str) -> None:
        await self.repository.find(session_id)
        messages = self.cluster.store.documents("messages")
        there = [
            each for each in messages if each["session_id"] == session_id and each["role"] == "assistant"
        ]
        self.cluster.handled.update(str(each["run_id"]) for each in there)

    async def stop(self) -> None:
        """End as on a signal."""
        await self.loops.end()
        if self.schedules is not None:
            await self.schedules.stop()
        if self.worker is not None:
            await self.worker.stop(0.5)
