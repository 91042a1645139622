"""Conversations in memory: bounded, isolated, never older than the store."""

import asyncio
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from app.modules.records.cache import ConversationCache, MessagePage
from app.modules.records.model import Message, Session
from tests.support.clock import Clock

SESSION = Session(
    id="s", owner="o", db_connection_id="d", title=None, mode="ask", metadata={}, created_at=1, updated_at=1
)


class Store:
    """Counts how often it is read."""

    def __init__(self, text: str = "How many?") -> None:
        self.text = text
        self.reads = 0

    async def load(self) -> MessagePage:
        self.reads += 1
        await asyncio.sleep(0)
        message = Message(
            id="m",
            owner="o",
            session_id="s",
            run_id="r",
            role="human",
            query=self.text,
            created_at=1,
            sequence=2,
        )
        return [message], None


@pytest.fixture
def cache(clock: Clock, metrics: CollectorRegistry) -> ConversationCache:
    return ConversationCache(max_bytes=10_000, idle_seconds=60, registry=metrics, clock=clock)


async def test_a_page_is_read_from_the_store_once(
    cache: ConversationCache, metrics: CollectorRegistry
) -> None:
    store = Store()
    pages = [await cache.page(SESSION, 20, None, load=store.load) for _ in range(3)]
    assert pages[0] == pages[1] == pages[2]
    assert store.reads == 1
    assert metrics.get_sample_value("kai_conversation_cache_hits_total") == 2
    assert metrics.get_sample_value("kai_cached_conversations") == 1
    await cache.page(SESSION, 10, None, load=store.load)
    assert store.reads == 2


async def test_a_session_that_moved_is_read_again(cache: ConversationCache) -> None:
    store = Store()
    await cache.page(SESSION, 20, None, load=store.load)
    await cache.page(replace(SESSION, updated_at=2), 20, None, load=store.load)
    await cache.page(SESSION, 20, None, load=store.load)
    assert store.reads == 3


async def test_a_conversation_under_way_is_not_kept(cache: ConversationCache) -> None:
    store, busy = Store(), replace(SESSION, active_run_id="r")
    await cache.page(busy, 20, None, load=store.load)
    await cache.page(busy, 20, None, load=store.load)
    await cache.page(SESSION, 20, None, load=store.load)
    assert store.reads == 3


async def test_owners_never_share_a_conversation(cache: ConversationCache) -> None:
    mine, yours = Store("mine"), Store("yours")
    await cache.page(SESSION, 20, None, load=mine.load)
    messages, _ = await cache.page(replace(SESSION, owner="other"), 20, None, load=yours.load)
    assert messages[0].query == "yours"


async def test_the_least_recently_used_make_room(
    cache: ConversationCache, metrics: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    store = Store("x" * 2_300)
    first, second, third, fourth = (replace(SESSION, id=name) for name in "abcd")
    for session in (first, second, third, first, fourth):
        await cache.page(session, 20, None, load=store.load)
    assert store.reads == 4
    size = metrics.get_sample_value("kai_cached_conversation_bytes")
    assert size is not None
    assert 8_000 < size <= 10_000
    await cache.page(first, 20, None, load=store.load)
    assert store.reads == 4
    await cache.page(second, 20, None, load=store.load)
    assert store.reads == 5
    evicted = metrics.get_sample_value("kai_conversation_cache_evictions_total", {"reason": "memory"})
    assert evicted == 2
    assert [
        each for each in "abcd" if f"session {each} left the conversation cache: memory" in caplog.text
    ] == [
        "b",
        "c",
    ]


async def test_a_conversation_larger_than_the_limit_is_answered_and_not_kept(
    cache: ConversationCache, metrics: CollectorRegistry
) -> None:
    store = Store("x" * 20_000)
    for _ in range(2):
        messages, _ = await cache.page(SESSION, 20, None, load=store.load)
        assert messages[0].query == store.text
    assert store.reads == 2
    assert metrics.get_sample_value("kai_cached_conversations") == 0


async def test_idle_conversations_go_and_used_ones_stay(
    cache: ConversationCache, clock: Clock, metrics: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    store, other = Store(), replace(SESSION, id="other")
    await cache.page(SESSION, 20, None, load=store.load)
    await cache.page(other, 20, None, load=store.load)
    for _ in range(3):
        clock.now += 40
        await cache.page(SESSION, 20, None, load=store.load)
    assert store.reads == 2
    assert metrics.get_sample_value("kai_cached_conversations") == 1
    assert metrics.get_sample_value("kai_conversation_cache_evictions_total", {"reason": "idle"}) == 1
    assert "session other left the conversation cache: idle (" in caplog.text
    await cache.page(other, 20, None, load=store.load)
    assert store.reads == 3


async def test_pages_read_at_once_are_all_kept(cache: ConversationCache) -> None:
    store = Store()
    limits = range(1, 11)
    await asyncio.gather(*(cache.page(SESSION, limit, None, load=store.load) for limit in limits))
    assert store.reads == 10
    await asyncio.gather(*(cache.page(SESSION, limit, None, load=store.load) for limit in limits))
    assert store.reads == 10
