"""Runs whose client has left: cancelled where that is wanted, and never because the server stops."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import JsonValue

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_CALLER
from app.core.clock import now_ms
from app.core.settings import NO_QUOTAS, Settings
from app.core.storage.port import Equals
from app.modules.protocols.disconnects import Departures
from app.modules.records.errors import SessionUnknown
from app.modules.records.model import ONE_RUN, NewQuestion, Run, Session
from app.modules.session.service import SessionFilter
from tests.support.waiting import until

OWNER = "local"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[Services]:
    async with open_services(Settings(data_dir=tmp_path / "data", quotas=NO_QUOTAS)) as opened:
        yield opened


async def ask(services: Services, session: Session, sql: str = ENDLESS) -> tuple[Session, Run]:
    return await services.sessions.ask(OWNER, session.id, NewQuestion("mine", sql=sql))


async def until_cancelled(services: Services, run: Run) -> None:
    async def is_cancelled() -> bool:
        found = await services.sessions.repository.find_run(run.id)
        return found is not None and found.status == "cancelled"

    await until(is_cancelled)


async def test_a_run_is_cancelled_when_its_client_has_left(services: Services, session: Session) -> None:
    asked, run = await ask(services, session)
    services.departures.cancel_later(asked, run)
    await until_cancelled(services, run)


async def test_a_client_that_comes_back_in_time_keeps_its_run(services: Services, session: Session) -> None:
    asked, run = await ask(services, session)
    services.departures.cancel_later(asked, run, seconds=600)
    services.departures.keep(run.id)
    services.departures.cancel_later(asked, run)
    await until_cancelled(services, run)


async def test_a_stop_of_the_server_cancels_no_run(services: Services, session: Session) -> None:
    asked, run = await ask(services, session)
    stopping = Departures(services.sessions, is_stopping=lambda: True)
    stopping.cancel_later(asked, run)
    waiting = Departures(services.sessions, is_stopping=lambda: False)
    waiting.cancel_later(asked, run, seconds=600)
    await stopping.aclose()
    await waiting.aclose()
    found = await services.sessions.repository.find_run(run.id)
    assert found is not None
    assert (found.status, found.cancel_requested) == ("open", False)
    await services.sessions.submissions.cancel(asked, run)
    await until_cancelled(services, run)


async def test_sessions_of_one_run_that_a_process_has_left_are_deleted_and_no_others(
    services: Services, session: Session
) -> None:
    connection = session.connection_id

    async def made(sql: str, *, is_for_one_run: bool, metadata: dict[str, JsonValue]) -> tuple[Session, Run]:
        new = await services.sessions.create(
            OWNER, connection, None, mode=None, metadata=metadata, is_for_one_run=is_for_one_run
        )
        return await ask(services, new, sql)

    left, _ = await made("SELECT 1 AS one", is_for_one_run=True, metadata={})
    kept, _ = await made(
        "SELECT 1 AS one", is_for_one_run=False, metadata={ONE_RUN: True, "langgraph_stateless": True}
    )
    asking, endless = await made(ENDLESS, is_for_one_run=True, metadata={})
    for each in (left, kept):

        async def is_idle(session_id: str = each.id) -> bool:
            return (await services.sessions.repository.get(OWNER, session_id)).status == "idle"

        await until(is_idle)
    (ended, *_), _ = await services.sessions.copies.checkpoints(OWNER, left.id, 1, cursor=None)
    continued = await services.sessions.copies.fork(OWNER, left.id, ended.id)
    left = await services.sessions.change(OWNER, left.id, {"metadata": {"team": "sales"}})

    async def left_ids(before: int) -> list[str]:
        await services.departures.delete_left(before + 600_000)
        return [each.id for each in await services.sessions.select(OWNER, SessionFilter(), 100)]

    assert left.id in await left_ids(left.created_at)
    assert set(await left_ids(now_ms() + 1)) == {session.id, kept.id, asking.id, continued.id}
    await services.sessions.submissions.cancel(asking, endless)
    await until_cancelled(services, endless)


async def test_a_session_that_is_not_kept_is_deleted_after_a_day_with_all_that_belongs_to_it(
    services: Services, session: Session
) -> None:
    service = services.sessions
    made = await service.create(OWNER, session.connection_id, None, mode=None, metadata={}, is_kept=False)
    _, run = await ask(services, made, "SELECT 1 AS one")

    async def is_idle() -> bool:
        return (await service.repository.get(OWNER, made.id)).status == "idle"

    await until(is_idle)
    answer = await service.repository.get_answer(await service.repository.get(OWNER, made.id), run.message_id)
    assert await service.repository.answer_of(OWNER, answer.id) is None
    assert answer.id not in {each.id for each in await service.repository.latest_answers(OWNER, 10)}
    assert await service.count(OWNER, SessionFilter()) == 1
    assert (await services.allowances.usage(OWNER)).sessions == 1
    a_day_later = made.created_at + 86_400_000
    await services.departures.delete_left(a_day_later - 1)
    forked = (await service.copies.checkpoints(OWNER, made.id, 1, cursor=None))[0][0]
    fork = await service.copies.fork(OWNER, made.id, forked.id)
    await services.departures.delete_left(a_day_later + 1)
    with pytest.raises(SessionUnknown):
        await service.repository.get(OWNER, made.id)
    assert await service.repository.find_run(run.id) is None
    for collection in ("messages", "runs", "result_chunks"):
        left = await services.storage.count(collection, [Equals("session_id", made.id)])
        assert left == 0, collection
    copied, _ = await service.repository.messages(fork, 10, None)
    assert {each.owner for each in copied} == {OWNER}
    assert {each.id for each in await service.select(OWNER, SessionFilter(), 10)} == {session.id, fork.id}


async def test_forgetting_an_owner_deletes_what_is_not_kept_too(services: Services, session: Session) -> None:
    made = await services.sessions.create(
        OWNER, session.connection_id, None, mode=None, metadata={}, is_kept=False
    )
    assert await services.forgetting.forget_everything(LOCAL_CALLER) == []
    with pytest.raises(SessionUnknown):
        await services.sessions.repository.get(OWNER, made.id)
