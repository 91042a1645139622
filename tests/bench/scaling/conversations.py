"""What it brings to have hot conversations in Redis: reading the latest 20 messages, level by level."""

import time
from datetime import timedelta

from prometheus_client import CollectorRegistry

from app.core.best_effort_cache import best_effort_cache
from app.core.ids import new_id
from app.core.storage.port import Storage
from app.modules.records.cache import ConversationCache
from app.modules.records.model import Message, Session
from app.modules.records.repository import SessionRepository, document
from app.modules.records.shared_cache import SharedConversations
from migrations.runner import migrate
from tests.bench.scaling.systems import Ground
from tests.bench.scaling.table import row, spread, title
from tests.support.typesense import address_of, open_typesense

MESSAGES = 20
SQL = "SELECT c.country, count(*) AS customers FROM customers AS c GROUP BY c.country ORDER BY customers DESC"


async def measure(ground: Ground, reads: int) -> None:
    title(f"Reading a session with its latest {MESSAGES} messages, {reads} times (p50 / p99)")
    async with (
        open_typesense(address_of(ground.typesense), "conversations_") as storage,
        best_effort_cache(ground.redis.url, timedelta(hours=1)) as texts,
    ):
        await migrate(storage)
        session = await _conversation(storage)
        shared = SharedConversations(texts, "", None, registry=CollectorRegistry())
        memory = ConversationCache(max_bytes=10**8, idle_seconds=3_600, registry=CollectorRegistry())
        levels = {
            "from Typesense": SessionRepository(storage),
            "from Redis, the session from Typesense": SessionRepository(storage, None, shared),
            "from memory, the session from Typesense": SessionRepository(storage, memory),
        }
        for name, repository in levels.items():
            row(name, await _timed(repository, session, reads))


async def _conversation(storage: Storage) -> Session:
    session = Session(
        id=new_id(),
        owner="ada",
        db_connection_id=new_id(),
        title="Customers",
        mode="ask",
        metadata={},
        created_at=1_000,
        updated_at=2_000,
    )
    await storage.put("sessions", [document(session)])
    for number in range(MESSAGES):
        message = Message(
            id=new_id(),
            owner="ada",
            session_id=session.id,
            run_id=new_id(),
            role="human",
            query="How many per country?",
            created_at=2_000,
            sequence=number,
        )
        if number % 2:
            text = "Most of them live in Brazil. " * 20
            answered = {"role": "assistant", "sql": SQL, "analysis": text, "row_count": 27}
            message = message.model_copy(update=answered)
        await storage.put("messages", [document(message)])
    return session


async def _timed(repository: SessionRepository, session: Session, reads: int) -> str:
    times: list[float] = []
    for _ in range(reads):
        start = time.perf_counter()
        now = await repository.get(session.owner, session.id)
        messages, _ = await repository.messages(now, MESSAGES, None)
        times.append((time.perf_counter() - start) * 1_000)
        assert len(messages) == MESSAGES
    return spread(times[1:])
