"""Every call of a model counts in its owner's day; titles and memories can do without."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.bootstrap import Services, open_services
from app.core.settings import ConversationSettings, LlmSettings, MemorySettings, QuotaSettings, Settings
from app.modules.records.model import NewQuestion, Session
from tests.support.choices import FIRST
from tests.support.model_script import Scripted
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.waiting import until

OWNER = "local"
SQL = "```sql\nSELECT count(*) AS n FROM customers\n```"
TITLE, MEMORY = "Counting customers", "The analyst counts customers.\nThemes: customers"

Open = Callable[..., AbstractAsyncContextManager[Services]]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        running.rule_after("You name conversations", TITLE)
        running.rule_after("so that it can be found again", MEMORY)
        yield running


@pytest.fixture
def opened(model: ScriptedModel, tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opening(
        *,
        embedding: str | None = None,
        titles: bool = True,
        memories: bool = True,
        conversations: bool = True,
    ) -> AsyncGenerator[Services]:
        llm = LlmSettings(
            base_url=model.base_url,
            api_key=SecretStr("sk-x"),
            model="scripted",
            embedding_model=embedding,
            titles=titles,
            memories=memories,
        )
        # Tokens are counted only where a day has a limit.
        limited = QuotaSettings(tokens_per_day=1_000_000)
        memory = MemorySettings(conversations=conversations)
        reduction = ConversationSettings(reduce_with_ai=True, reduce_threshold=10)
        settings = Settings(
            data_dir=tmp_path / "data", llm=llm, quotas=limited, memory=memory, conversations=reduction
        )
        async with open_services(settings) as services:
            yield services

    return opening


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
    return path


async def started(services: Services, shop: Path) -> Session:
    known = await services.database_connections.register(OWNER, f"sqlite:///{shop}", "shop", description="")
    return await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})


async def ask(services: Services, session: Session, question: str = "How many customers?") -> int:
    """Its `tokens_used`."""
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion(question))
    done = [entry async for entry in services.sessions.follower.events(asked[1])][-1]
    return int(json.loads(done.data)["tokens_used"])


async def used(services: Services) -> int:
    return (await services.allowances.usage(OWNER)).tokens_today


def counted(*replies: str) -> int:
    """As the scripted model counts them."""
    return sum(100 + len(Scripted(reply).tokens) for reply in replies)


async def test_titles_and_memories_count_in_the_day_of_the_owner_but_not_in_the_run(
    opened: Open, shop: Path, model: ScriptedModel
) -> None:
    async with opened() as services:
        session = await started(services, shop)
        model.say(SQL, FIRST)
        assert await ask(services, session) == counted(SQL, FIRST)
        everything = counted(SQL, FIRST, TITLE, MEMORY)

        async def all_counted() -> bool:
            return await used(services) == everything

        await until(all_counted)
        messages, _ = await services.sessions.repository.messages(
            await services.sessions.repository.get(OWNER, session.id), 10, None
        )
        assert sum(each.tokens_used for each in messages) == counted(SQL, FIRST)


async def test_titles_and_memories_can_do_without_a_model(
    opened: Open, shop: Path, model: ScriptedModel
) -> None:
    async with opened(titles=False, memories=False, embedding="trigrams-64") as services:
        session = await started(services, shop)
        model.say(SQL, FIRST)
        tokens = await ask(services, session)

        async def remembered() -> bool:
            return await services.memories.repository.find(session.id) is not None

        await until(remembered)
        assert not model.afterwards
        assert not any("Asked:" in text for text in model.embedded)
        memory = await services.memories.repository.find(session.id)
        assert memory is not None
        assert memory.summary == "Asked: How many customers? Answered: **Number of customers: 0**."
        assert (await services.sessions.repository.get(OWNER, session.id)).title == "How many customers?"
        assert await used(services) >= tokens == counted(SQL, FIRST)


async def test_without_memories_of_conversations_only_the_title_is_written(
    opened: Open, shop: Path, model: ScriptedModel
) -> None:
    async with opened(conversations=False, embedding="trigrams-64") as services:
        session = await started(services, shop)
        model.say(SQL, FIRST)
        await ask(services, session)

        async def titled() -> bool:
            return (await services.sessions.repository.get(OWNER, session.id)).title == TITLE

        await until(titled)
        assert await services.memories.repository.find(session.id) is None
    # The jobs under way have ended by now.
    assert ["You name conversations" in each.text for each in model.afterwards] == [True]


async def test_a_call_that_failed_counts_too(opened: Open, shop: Path, model: ScriptedModel) -> None:
    async with opened(titles=False, memories=False) as services:
        session = await started(services, shop)
        cut = Scripted("```sql\nSELECT count(*) AS", finish_reason="length")
        model.say(cut)
        tokens = await ask(services, session, "Why did the revenue of our best customers fall?")
        assert tokens == 100 + len(cut.tokens) == await used(services)


async def test_summaries_count_in_the_run_that_had_them_written(
    opened: Open, shop: Path, model: ScriptedModel
) -> None:
    async with opened(titles=False, memories=False) as services:
        session = await started(services, shop)
        model.rule("SQL writer", "CHAT: Fine.")
        model.rule("memory of a conversation", "They chat.")
        each = [await ask(services, session, f"Hello {number}") for number in range(6)]
        assert each == [*5 * [counted("CHAT: Fine.")], counted("CHAT: Fine.", "They chat.")]
        assert await used(services) == sum(each)


async def test_embeddings_count_for_the_owner_of_what_is_embedded(
    opened: Open, shop: Path, model: ScriptedModel
) -> None:
    async with opened(embedding="trigrams-64", titles=False) as services:
        session = await started(services, shop)
        model.rule("SQL writer", "CHAT: Fine.")
        await ask(services, session)

        async def embedded() -> bool:
            return any("The analyst counts customers." in text for text in model.embedded)

        await until(embedded)
        everything = counted("CHAT: Fine.", MEMORY)

        async def all_counted() -> bool:
            return await used(services) == everything + sum(len(text.split()) for text in model.embedded)

        await until(all_counted)
        await services.memories.search(OWNER, "customers and countries", 5)
        assert model.embedded[-1] == "customers and countries"
        assert await all_counted()
