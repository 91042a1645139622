"""Hot conversations in Redis: what one process has read another need not read from the store, and nothing
that Redis forgets, holds up or makes up is ever seen."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from cryptography.fernet import Fernet
from prometheus_client import CollectorRegistry
from pydantic import JsonValue
from redis.asyncio import Redis

from app.core.best_effort_cache import best_effort_cache
from app.core.ids import new_id
from app.core.secrets import SecretBox
from app.core.storage.sqlite import SqliteStorage
from app.modules.records.model import Message, Run, Session
from app.modules.records.repository import SessionRepository, document
from app.modules.records.shared_cache import LIFETIME, SharedConversations
from app.modules.run.messages import answer_message, question_message, question_sequence
from graph.answer import TurnAnswer
from graph.events import RunError
from tests.support.redis_server import RedisServer, running_redis
from tests.support.waiting import until

KEY = Fernet.generate_key()


class Process:
    """Reads conversations as one of several processes does, without memory of its own."""

    def __init__(self, storage: SqliteStorage, opened: AsyncExitStack) -> None:
        self._storage = storage
        self._opened = opened
        self.metrics = CollectorRegistry()

    async def open(self, url: str, prefix: str = "", box: SecretBox | None = None) -> "Process":
        texts = await self._opened.enter_async_context(best_effort_cache(url, LIFETIME))
        shared = SharedConversations(texts, prefix, box, registry=self.metrics)
        self.repository = SessionRepository(self._storage, None, shared)
        return self

    async def questions(self, session: Session, limit: int = 20) -> list[str]:
        now = await self.repository.get(session.owner, session.id)
        return [message.query for message in (await self.repository.messages(now, limit, None))[0]]

    @property
    def hits(self) -> float | None:
        return self.metrics.get_sample_value("kai_shared_conversation_reads_total", {"outcome": "hit"})


class Together:
    """Processes over one store."""

    def __init__(self, storage: SqliteStorage, opened: AsyncExitStack) -> None:
        self.storage = storage
        self._opened = opened

    async def process(self, redis: RedisServer, prefix: str = "", box: SecretBox | None = None) -> Process:
        return await Process(self.storage, self._opened).open(redis.url, prefix, box)

    async def session(self, owner: str = "ada", questions: int = 2) -> Session:
        session = Session(
            id=new_id(),
            owner=owner,
            db_connection_id=new_id(),
            title="Orders",
            mode="ask",
            metadata={},
            created_at=1_000,
            updated_at=2_000,
        )
        await self.storage.put("sessions", [document(session)])
        for number in range(questions):
            await self.say(session, f"question {number}", number)
        return session

    async def say(self, session: Session, question: str, sequence: int = 100) -> None:
        message = Message(
            id=new_id(),
            owner=session.owner,
            session_id=session.id,
            run_id=new_id(),
            role="human",
            query=question,
            created_at=2_000,
            sequence=sequence,
        )
        await self.storage.put("messages", [document(message)])

    async def move(self, session: Session, **changes: int | str | None) -> None:
        await self.storage.patch("sessions", session.id, changes)


PATIENCE = "app.core.best_effort_cache._PATIENCE_SECONDS"


@pytest.fixture
async def together(storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Together]:
    monkeypatch.setattr(PATIENCE, 60.0)  # a busy machine makes no command late
    async with AsyncExitStack() as opened:
        yield Together(storage, opened)


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncGenerator[Redis]:
    async with Redis.from_url(redis_server.url) as opened:
        yield opened


async def test_what_one_process_has_read_another_finds_in_redis_for_a_day(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    first, second = await together.process(redis_server), await together.process(redis_server)
    session = await together.session()
    read = await first.questions(session)
    assert (await second.questions(session), second.hits) == (read, 1)
    assert read == ["question 0", "question 1"]
    assert 86_000 < await redis.ttl(f"session:{session.id}") <= 86_400


async def test_a_session_that_moved_or_is_held_by_a_run_is_read_from_the_store(
    together: Together, redis_server: RedisServer
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await process.questions(session)
    await together.say(session, "and now?")
    await together.move(session, active_run_id=new_id())
    assert (await process.questions(session))[-1] == "and now?"
    await together.move(session, active_run_id=None, updated_at=2_001)
    assert (await process.questions(session))[-1] == "and now?"
    assert process.hits == 0


async def test_a_page_of_another_length_is_answered_by_a_whole_conversation_only(
    together: Together, redis_server: RedisServer
) -> None:
    process, session = await together.process(redis_server), await together.session(questions=3)
    assert len(await process.questions(session, 2)) == 2
    assert len(await process.questions(session, 20)) == 3
    assert (len(await process.questions(session, 100)), process.hits) == (3, 1)
    assert len(await process.questions(session, 2)) == 2


@pytest.mark.parametrize("garbage", [b"", b"{}", b"\xff\xfe", b"null", b'{"sessionId": 1}', b"[" * 5_000])
async def test_garbage_in_redis_is_replaced_by_what_the_store_has(
    together: Together, redis_server: RedisServer, redis: Redis, garbage: bytes
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await redis.set(f"session:{session.id}", garbage)
    assert await process.questions(session) == ["question 0", "question 1"]
    await process.questions(session)
    assert process.hits == 1


async def test_a_value_of_another_kind_in_redis_costs_nothing_but_the_hit(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await redis.rpush(f"session:{session.id}", "a list")
    assert await process.questions(session) == ["question 0", "question 1"]


async def test_records_of_another_owner_are_never_shown(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process = await together.process(redis_server)
    mine, yours = await together.session("ada"), await together.session("eve", questions=1)
    await process.questions(yours)
    stolen = await redis.get(f"session:{yours.id}")
    assert isinstance(stolen, bytes)
    moved = stolen.replace(yours.id.encode(), mine.id.encode())
    for forged in (stolen, moved, moved.replace(b'"userId":"eve"', b'"userId":"ada"')):
        await redis.set(f"session:{mine.id}", forged)
        assert await process.questions(mine) == ["question 0", "question 1"]
    assert process.hits == 0


async def test_with_a_key_redis_holds_nothing_that_can_be_read_or_made_up(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    session, clear = await together.session(), await together.process(redis_server)
    await clear.questions(session)
    process = await together.process(redis_server, box=SecretBox(KEY))
    assert (await process.questions(session), process.hits) == (["question 0", "question 1"], 0)
    held = await redis.get(f"session:{session.id}")
    assert isinstance(held, bytes)
    assert b"question" not in held
    await process.questions(session)
    assert process.hits == 1


async def test_a_prefix_of_its_own_keeps_the_conversations_of_several_kais_apart(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server, "other:"), await together.session()
    await process.questions(session)
    assert await redis.exists(f"other:session:{session.id}")
    assert not await redis.exists(f"session:{session.id}")


async def test_a_deleted_session_leaves_nothing_in_redis(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await process.questions(session)
    await process.repository.delete([session.id])
    assert not await redis.exists(f"session:{session.id}")


async def test_a_deleted_session_leaves_a_slow_redis_too(
    together: Together, redis_server: RedisServer, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await process.questions(session)
    monkeypatch.setattr(PATIENCE, 0.05)
    monkeypatch.setattr("app.core.best_effort_cache._REMOVAL_SECONDS", 60.0)
    await redis.client_pause(1_000)
    assert await process.questions(session) == ["question 0", "question 1"]
    assert process.hits == 0
    await process.repository.delete([session.id])
    assert not await redis.exists(f"session:{session.id}")


async def test_a_redis_that_forgot_everything_is_filled_again(together: Together, tmp_path: Path) -> None:
    with running_redis(tmp_path) as server:
        process, session = await together.process(server), await together.session()
        await process.questions(session)
        server.empty()
        assert await process.questions(session) == ["question 0", "question 1"]
        await process.questions(session)
        assert process.hits == 1


async def test_a_frozen_redis_is_waited_for_once_and_then_left_alone(
    together: Together, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_redis(tmp_path) as server:
        process, session = await together.process(server), await together.session()
        await process.questions(session)
        monkeypatch.setattr(PATIENCE, 0.05)
        monkeypatch.setattr("app.core.best_effort_cache._PAUSE_SECONDS", 600.0)
        server.freeze()

        async def is_missed() -> bool:  # a signal to freeze takes its time
            hits = process.hits
            assert await process.questions(session) == ["question 0", "question 1"]
            return process.hits == hits

        await until(is_missed)
        monkeypatch.setattr(PATIENCE, 600.0)
        for _ in range(50):
            assert await process.questions(session) == ["question 0", "question 1"]
        server.thaw()


async def test_a_redis_that_came_back_is_used_again(together: Together, tmp_path: Path) -> None:
    with running_redis(tmp_path) as server:
        process, session = await together.process(server), await together.session()
        await process.questions(session)
        server.kill()
        assert await process.questions(session) == ["question 0", "question 1"]
        server.start()

        async def is_hit() -> bool:
            assert await process.questions(session) == ["question 0", "question 1"]
            return bool(process.hits)

        await until(is_hit)


async def test_the_latest_page_can_be_left_for_others_before_anybody_reads(
    together: Together, redis_server: RedisServer
) -> None:
    ending, reading = await together.process(redis_server), await together.process(redis_server)
    session = await together.session()
    await ending.repository.share(session)
    assert (await reading.questions(session), reading.hits) == (["question 0", "question 1"], 1)


async def copy_of(redis: Redis, session: Session) -> dict[str, JsonValue]:
    held = await redis.get(f"session:{session.id}")
    assert isinstance(held, bytes)
    return cast("dict[str, JsonValue]", json.loads(held))


async def test_the_copy_has_its_messages_as_chats_know_them(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session(questions=0)
    run = Run(
        id=new_id(),
        owner="ada",
        session_id=session.id,
        message_id=new_id(),
        question="How many?",
        created_at=1_000,
        idempotency_key="chat-7",
    )
    await process.repository.add_run(run, question_message(run, new_id(), question_sequence(1)))
    ended = replace(
        run,
        status="failed",
        ended_at=2_500,
        error=RunError(type="t", title="T", status=503, detail="It was down.", retryable=True),
    )
    await process.repository.add_message(answer_message(ended, TurnAnswer(), 1))
    await process.repository.share(session)
    copy = await copy_of(redis, session)
    assert {name: copy[name] for name in ("sessionId", "userId", "createdAt", "lastActivity", "title")} == {
        "sessionId": session.id,
        "userId": "ada",
        "createdAt": "1970-01-01T00:00:01.000Z",
        "lastActivity": "1970-01-01T00:00:02.000Z",
        "title": "Orders",
    }
    assert copy["messages"] == [
        {
            "messageId": "chat-7_user",
            "role": "user",
            "content": "How many?",
            "timestamp": "1970-01-01T00:00:01.000Z",
        },
        {
            "messageId": "chat-7_assistant",
            "role": "assistant",
            "content": "It was down.",
            "timestamp": "1970-01-01T00:00:02.500Z",
        },
    ]


async def test_the_copy_of_a_renamed_session_has_its_present_title(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await process.questions(session)
    await process.repository.change(session, {"title": "Orders by region", "updated_at": 3_000})
    assert (await copy_of(redis, session))["title"] == "Orders by region"
    assert await process.questions(session) == ["question 0", "question 1"]
    await together.move(session, active_run_id=new_id())
    await process.repository.change(session, {"title": "While it is answered"})
    assert (await copy_of(redis, session))["title"] == "While it is answered"
    unread = await together.session()
    await process.repository.change(unread, {"title": "Never read"})
    assert not await redis.exists(f"session:{unread.id}")


async def test_a_title_given_while_the_copy_is_written_is_in_it(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await together.move(session, title="Given meanwhile")
    await process.repository.share(session)
    assert (await copy_of(redis, session))["title"] == "Given meanwhile"


async def test_a_session_deleted_while_its_copy_is_written_leaves_none(
    together: Together, redis_server: RedisServer, redis: Redis
) -> None:
    process, session = await together.process(redis_server), await together.session()
    await process.repository.delete([session.id])
    await process.repository.share(session)
    assert not await redis.exists(f"session:{session.id}")
