"""Runs within one process: leftovers are cleared, interrupted runs continue."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.bootstrap import Services, open_services, open_services_for_once
from app.core.exclusive import FolderInUse
from app.core.ids import new_id
from app.core.settings import LlmSettings, Settings
from app.core.storage.port import Equals
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import NewQuestion, Run, Session
from app.modules.records.repository import SessionRepository
from app.modules.run.errors import SessionClosed
from tests.support.scripted_model import scripted_model
from tests.support.waiting import until

OWNER = "local"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
async def services(settings: Settings) -> AsyncGenerator[Services]:
    async with open_services(settings) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
    return path


@pytest.fixture
async def session(services: Services, shop: Path) -> Session:
    known = await services.database_connections.register(OWNER, f"sqlite:///{shop}", "shop", description="")
    return await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})


async def ask(services: Services, session: Session) -> list[str]:
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion("How many customers?"))
    return [entry.event async for entry in services.sessions.follower.events(asked[1])]


async def test_a_hold_whose_run_is_gone_does_not_block_the_session(
    services: Services, session: Session
) -> None:
    left_over = {"status": "processing", "active_run_id": "01970000-0000-7000-8000-000000000000"}
    await services.storage.patch("sessions", session.id, left_over)
    assert (await ask(services, session))[-1] == "done"
    assert (await services.sessions.repository.get(OWNER, session.id)).status == "idle"


async def test_a_hold_whose_run_is_gone_does_not_keep_the_session_from_being_closed(
    services: Services, session: Session
) -> None:
    left_over = {"status": "processing", "active_run_id": "01970000-0000-7000-8000-000000000000"}
    await services.storage.patch("sessions", session.id, left_over)
    changed = await services.sessions.change(OWNER, session.id, {"status": "closed"})
    assert (changed.status, changed.active_run_id) == ("closed", None)


async def test_a_hold_without_a_run_is_cleared_at_the_next_start(settings: Settings, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY)")
    async with open_services(settings) as first:
        known = await first.database_connections.register(
            OWNER, f"sqlite:///{tmp_path}/shop.db", "shop", description=""
        )
        kept = await first.sessions.create(OWNER, known.id, None, mode="ask", metadata={})
        await first.storage.patch("sessions", kept.id, {"status": "processing", "active_run_id": "ghost"})
    async with open_services(settings) as second:

        async def idle() -> bool:
            return (await second.sessions.repository.get(OWNER, kept.id)).status == "idle"

        await until(idle)


async def test_one_process_at_a_time_has_a_data_folder(services: Services, settings: Settings) -> None:
    with pytest.raises(FolderInUse, match="KAI_DATA_DIR"):
        async with open_services(settings):
            pass


async def test_records_of_another_owner_are_unknown(services: Services, session: Session) -> None:
    for owner in ("LOCAL", "local ", "other"):
        with pytest.raises(Exception, match="no session"):
            await services.sessions.repository.get(owner, session.id)
    assert (await services.sessions.repository.get(OWNER, session.id)).id == session.id


async def test_questions_asked_while_their_session_is_deleted_leave_nothing_behind(
    services: Services, session: Session, settings: Settings
) -> None:
    async def hurried() -> None:
        for _ in range(3):
            with suppress(SessionUnknown, SessionClosed):
                await services.sessions.ask(
                    OWNER, session.id, NewQuestion("How many customers?", multitask_strategy="enqueue")
                )

    deleting = services.sessions.delete(OWNER, session.id)
    await asyncio.wait_for(asyncio.gather(hurried(), deleting, hurried(), hurried()), 60)
    for collection in ("runs", "messages", "result_chunks"):
        assert await services.storage.count(collection, [Equals("session_id", session.id)]) == 0
    with closing(sqlite3.connect(settings.data_dir / "checkpoints.db")) as opened:
        assert opened.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)


async def test_a_name_given_just_before_the_first_question_stays(
    services: Services, session: Session
) -> None:
    await services.sessions.change(OWNER, session.id, {"title": "Mine"})
    run = Run(
        id=new_id(),
        owner=OWNER,
        session_id=session.id,
        message_id=new_id(),
        question="How many customers?",
        created_at=session.created_at,
    )
    repository = SessionRepository(services.storage)
    claimed = await repository.claim(session, run, awaited=False)  # which has no title here
    assert claimed is not None
    assert (claimed.title, claimed.active_run_id) == ("Mine", run.id)


async def test_a_kai_that_keeps_nothing_has_no_titles_and_memories_written(
    settings: Settings, shop: Path
) -> None:
    async with scripted_model() as model:
        asking = LlmSettings(base_url=model.base_url, model="scripted")
        async with open_services_for_once(settings.model_copy(update={"llm": asking})) as services:
            known = await services.database_connections.register(
                OWNER, f"sqlite:///{shop}", "shop", description=""
            )
            session = await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})
            assert (await ask(services, session))[-1] == "done"
            assert await services.storage.count("conversation_memories", []) == 0
    assert len(model.requests) == 2
    assert not model.afterwards


async def test_the_stream_of_a_run_whose_end_was_never_kept_ends_all_the_same(
    settings: Settings, shop: Path
) -> None:
    async with open_services(settings) as first:
        known = await first.database_connections.register(OWNER, f"sqlite:///{shop}", "shop", description="")
        session = await first.sessions.create(OWNER, known.id, None, mode="ask", metadata={})
        _, run = await first.sessions.ask(OWNER, session.id, NewQuestion("How many customers?"))
        assert [entry.event async for entry in first.sessions.follower.events(run)][-1] == "done"
        await first.storage.delete("messages", [Equals("id", run.message_id)])
    async with open_services(settings) as second:  # its log is gone, too
        over = await second.sessions.run(OWNER, session.id, run.id)
        events = [entry.event async for entry in second.sessions.follower.events(over[1])]
        assert events == ["done"]


async def test_a_session_never_moves_back_in_time_whichever_clock_is_behind(
    services: Services, session: Session
) -> None:
    ahead = session.updated_at + 60_000
    await services.storage.patch("sessions", session.id, {"updated_at": ahead})
    changed = await services.sessions.change(OWNER, session.id, {"title": "Mine"})
    assert changed.updated_at > ahead
