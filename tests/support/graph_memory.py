"""A graph memory over a store and a stand-in of Graphiti, whose clock a test moves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from app.core.bus.port import RunRef
from app.core.ids import new_id
from app.core.storage.port import Document, Query, Storage
from app.modules.memory.consent import Consents, Gate, OutsideMemory
from app.modules.memory.graphiti.circuit import Circuit
from app.modules.memory.graphiti.client import GraphitiAddress, GraphitiClient
from app.modules.memory.graphiti.forgetting import GraphForgetting
from app.modules.memory.graphiti.service import Graphiti, GraphJob
from app.modules.memory.graphiti.worker import GraphMetrics, GraphWorker, SendSettings
from app.modules.memory.model import FactSource, StoredFact
from app.modules.memory.scopes import Groups
from app.modules.memory.turns import MemoryTurn
from tests.support.fake_graphiti import FakeGraphiti

GROUPS = Groups(b"a key")
START = 1_770_000_000_000


@dataclass
class Sources:
    """Turns, facts and databases as KAI's own store has them."""

    turns: dict[str, MemoryTurn] = field(default_factory=dict)
    facts: dict[str, StoredFact] = field(default_factory=dict)
    allowed: dict[str, OutsideMemory] = field(default_factory=dict)

    async def turn_of_run(self, session_id: str, run_id: str) -> MemoryTurn | None:
        return await self.turn(session_id, run_id)

    async def turn(self, session_id: str, message_id: str) -> MemoryTurn | None:
        found = self.turns.get(message_id)
        return found if found is not None and found.session_id == session_id else None

    async def find(self, fact_id: str) -> StoredFact | None:
        return self.facts.get(fact_id)

    async def outside_memory(self, reader: str, connection_id: str) -> OutsideMemory | None:
        return self.allowed.get(connection_id)


@dataclass
class GraphMemory:
    """What a process has, with one owner who has consented for one database."""

    storage: Storage
    fake: FakeGraphiti
    client: GraphitiClient
    graphiti: Graphiti
    worker: GraphWorker
    job: GraphJob
    consents: Consents
    forgetting: GraphForgetting
    metrics: CollectorRegistry
    sources: Sources
    time: "Time"
    owner: str = "ann@example.com"
    connection_id: str = field(default_factory=new_id)
    session_id: str = field(default_factory=new_id)

    async def consent(self) -> None:
        self.sources.allowed[self.connection_id] = OutsideMemory(allowed=True, name="Shop")
        await self.consents.grant(
            self.owner, self.connection_id, self.graphiti.endpoint, credential="local", now=self.time.ms
        )

    async def answer(
        self, question: str = "revenue?", answer: str = "It is 5.", **fields: object
    ) -> MemoryTurn:
        """Store a turn, and do the job that follows it."""
        turn = self.turn(question, answer, session_id=self.session_id, tainted=bool(fields.get("tainted")))
        await self.job.work(RunRef(self.owner, turn.session_id, turn.message_id))
        return turn

    def turn(self, question: str, answer: str, *, session_id: str, tainted: bool = False) -> MemoryTurn:
        turn = MemoryTurn(
            message_id=new_id(),
            owner=self.owner,
            session_id=session_id,
            connection_id=self.connection_id,
            question=question,
            answer=answer,
            at=self.time.ms,
            tainted=tainted,
        )
        self.sources.turns[turn.message_id] = turn
        return turn

    async def promote(self, text: str = "months as 2026-03") -> StoredFact:
        fact = StoredFact(
            id=new_id(),
            owner=self.owner,
            group=GROUPS.user(self.owner),
            scope="user",
            kind="preference",
            text=text,
            source=FactSource("promotion", self.time.ms),
            created_at=self.time.ms,
            updated_at=self.time.ms,
            used_at=self.time.ms,
        )
        self.sources.facts[fact.id] = fact
        await self.graphiti.remember_fact(fact, self.connection_id)
        return fact

    async def work(self, seconds: float = 0) -> None:
        """Let so much time pass, and the worker do what is due."""
        self.time.ms += round(seconds * 1_000)
        await self.worker.step()

    async def documents(self, collection: str) -> list[Document]:
        return list((await self.storage.query(collection, Query(limit=1_000))).items)

    async def statuses(self) -> list[str]:
        return sorted(str(each["status"]) for each in await self.documents("graph_outbox"))

    @property
    def session_group(self) -> str:
        return GROUPS.session(self.owner, self.session_id)

    @property
    def workspace_group(self) -> str:
        return GROUPS.workspace(self.owner, self.connection_id)

    @property
    def user_group(self) -> str:
        return GROUPS.user(self.owner)


@dataclass
class Time:
    ms: int = START

    def milliseconds(self) -> int:
        return self.ms

    def seconds(self) -> float:
        return self.ms / 1_000


@asynccontextmanager
async def graph_memory(
    storage: Storage, fake: FakeGraphiti, settings: SendSettings | None = None
) -> AsyncGenerator[GraphMemory]:
    """Without consent, until the test gives it."""
    time, sources, metrics = Time(), Sources(), CollectorRegistry()
    consents = Consents(storage)
    async with GraphitiClient(GraphitiAddress(fake.url), Circuit(time.seconds)) as client:
        gate = Gate(consents, sources, fake.url)
        graphiti = Graphiti(
            client,
            storage,
            gate=gate,
            groups=GROUPS,
            endpoint=fake.url,
            recalls=True,
            now=time.milliseconds,
        )
        worker = GraphWorker(
            client,
            graphiti.outbox,
            graphiti.groups,
            gate=gate,
            turns=sources,
            facts=sources,
            settings=settings or SendSettings(probe_seconds=0),
            metrics=GraphMetrics(metrics),
            trial_group=graphiti.trial_group,
            news=graphiti.news,
            now=time.milliseconds,
        )
        yield GraphMemory(
            storage=storage,
            fake=fake,
            client=client,
            graphiti=graphiti,
            worker=worker,
            job=GraphJob(sources, graphiti),
            consents=consents,
            forgetting=GraphForgetting(storage),
            metrics=metrics,
            sources=sources,
            time=time,
        )
