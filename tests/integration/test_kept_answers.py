"""What an answer keeps beside its text, so that a reader who returns finds it as it was."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest

from app.bootstrap import Services, open_services
from app.core.settings import Settings
from app.modules.analysis.chart.choice import ChartChoice
from app.modules.database_connection.errors import StatementNotRun
from app.modules.records.errors import MessageUnknown, SessionUnknown
from app.modules.records.model import MOST_VERSIONS, Message, NewQuestion, Session
from app.modules.run.errors import SessionBusy, SessionClosed
from app.modules.session.errors import (
    TooManyVersions,
    VersionUnknown,
)

OWNER = "local"


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[Services]:
    async with open_services(Settings(data_dir=tmp_path / "data")) as opened:
        yield opened


@pytest.fixture
async def session(services: Services, tmp_path: Path) -> Session:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT)")
    known = await services.database_connections.register(OWNER, f"sqlite:///{path}", "shop", description="")
    return await services.sessions.create(OWNER, known.id, None, mode="ask", metadata={})


async def ask(services: Services, session: Session, question: str, sql: str | None = None) -> None:
    asked = await services.sessions.ask(OWNER, session.id, NewQuestion(question, sql=sql))
    async for _ in services.sessions.follower.events(asked[1]):
        pass


async def history(services: Services, session: Session) -> list[Message]:
    now = await services.sessions.repository.get(OWNER, session.id)
    return (await services.sessions.repository.messages(now, 20, None))[0]


async def test_a_chosen_chart_is_in_the_history_that_was_read_before(
    services: Services, session: Session
) -> None:
    await ask(services, session, "How many customers?")
    question, answer = await history(services, session)
    before = await services.sessions.repository.get(OWNER, session.id)
    repository = services.sessions.repository
    await repository.change_answer(before, answer.id, {"chart_choice": {"mark": "line"}})
    assert (await history(services, session))[1].chart_choice == ChartChoice(mark="line")
    now = await repository.get(OWNER, session.id)
    assert now.updated_at == before.updated_at, "to look at a session is no use of it"
    await repository.change_answer(now, answer.id, {"chart_choice": None})
    assert (await history(services, session))[1].chart_choice is None
    with pytest.raises(MessageUnknown):
        await repository.change_answer(now, question.id, {"chart_choice": {"mark": "line"}})


async def test_a_failed_answer_keeps_its_steps_and_the_statement_that_failed(
    services: Services, session: Session
) -> None:
    await ask(services, session, "Run my own", sql="SELECT naem FROM customers")
    question, answer = await history(services, session)
    assert answer.status == "failed"
    assert answer.sql == answer.given_sql == question.given_sql == "SELECT naem FROM customers"
    assert answer.row_count is None
    assert question.timeline == []
    steps = [each.step for each in answer.timeline]
    assert steps[0] == "loading_context"
    assert "executing_sql" in steps
    assert steps[-1] == "saving"
    assert answer.error is not None
    assert answer.error.detail in [each.error for each in answer.timeline]
    await services.sessions.feedback.give(
        OWNER, session.id, answer.id, rating="up", comment=None, corrected_sql=None
    )
    assert await services.storage.count("examples", []) == 0, "what failed is no example"


async def test_an_answer_keeps_its_rating_and_the_rows_of_its_steps(
    services: Services, session: Session
) -> None:
    await ask(services, session, "Run my own", sql="SELECT 1 AS n")
    answer = (await history(services, session))[1]
    fetched = [(each.step, each.rows) for each in answer.timeline if each.rows is not None]
    assert fetched == [("executing_sql", 1)]
    assert answer.feedback is None
    await services.sessions.feedback.give(
        OWNER, session.id, answer.id, rating="down", comment="No", corrected_sql=None
    )
    rated = (await history(services, session))[1]
    assert rated.feedback is not None
    assert rated.feedback.model_dump() == {"rating": "down", "comment": "No", "corrected_sql": None}


async def test_a_version_has_its_own_statement_and_rows_and_the_answer_stays(
    services: Services, session: Session
) -> None:
    await ask(services, session, "How many customers?", "SELECT count(*) AS n FROM customers")
    _, answer = await history(services, session)
    sessions = services.sessions
    statement = "select 1 as a, 2 as b union all select 3, 4"
    version = await sessions.answers.add_version(OWNER, session.id, answer.id, sql=statement)
    assert (version.number, version.sql, version.row_count) == (2, statement, 2)
    assert version.sql_pretty.startswith("SELECT\n")
    _, now = await history(services, session)
    assert now.versions == [version]
    assert now.model_copy(update={"versions": [], "version_count": 0}) == answer
    stored = await sessions.answers.version(OWNER, session.id, answer.id, number=2)
    assert (await sessions.answers.read_rows(stored, 10, None))[0] == [[1, 2], [3, 4]]
    with pytest.raises(VersionUnknown):
        await sessions.answers.version(OWNER, session.id, answer.id, number=3)


async def test_a_statement_that_is_refused_or_fails_is_no_version(
    services: Services, session: Session
) -> None:
    await ask(services, session, "How many customers?", "SELECT count(*) AS n FROM customers")
    question, answer = await history(services, session)
    sessions = services.sessions
    refused = ("DELETE FROM customers", "SELECT nothing FROM customers", "SELECT", "SELECT 1; SELECT 2")
    for statement in refused:
        with pytest.raises(StatementNotRun):
            await sessions.answers.add_version(OWNER, session.id, answer.id, sql=statement)
    with pytest.raises(MessageUnknown):
        await sessions.answers.add_version(OWNER, session.id, question.id, sql="SELECT 1")
    with pytest.raises(SessionUnknown):
        await sessions.answers.add_version("ann", session.id, answer.id, sql="SELECT 1")
    assert (await history(services, session))[1].versions == []


async def test_versions_that_come_at_once_are_all_kept_up_to_a_limit(
    services: Services, session: Session
) -> None:
    await ask(services, session, "How many customers?", "SELECT count(*) AS n FROM customers")
    _, answer = await history(services, session)
    sessions = services.sessions
    adding = (
        sessions.answers.add_version(OWNER, session.id, answer.id, sql=f"SELECT {number}")
        for number in range(MOST_VERSIONS)
    )
    versions = await asyncio.gather(*adding)
    assert sorted(each.number for each in versions) == list(range(2, MOST_VERSIONS + 2))
    with pytest.raises(TooManyVersions):
        await sessions.answers.add_version(OWNER, session.id, answer.id, sql="SELECT 1")


async def test_a_closed_session_takes_no_versions(services: Services, session: Session) -> None:
    await ask(services, session, "How many customers?", "SELECT count(*) AS n FROM customers")
    _, answer = await history(services, session)
    await services.sessions.change(OWNER, session.id, {"status": "closed"})
    with pytest.raises(SessionClosed):
        await services.sessions.answers.add_version(OWNER, session.id, answer.id, sql="SELECT 1")


async def test_a_question_does_not_go_on_with_a_conversation_that_another_has_continued_meanwhile(
    services: Services, session: Session
) -> None:
    """The run of the other fits between the read of the session and its claim."""
    await ask(services, session, "How many customers?", "SELECT count(*) AS n FROM customers")
    as_read = await services.sessions.repository.get(OWNER, session.id)
    await ask(services, session, "And per country?", "SELECT country FROM customers")

    async def read() -> Session:
        return as_read

    with pytest.raises(SessionBusy):
        await services.sessions.submissions.submit(
            OWNER, session.id, NewQuestion("And the first?"), transcript=as_read.transcript, read=read
        )
    assert [each.query for each in await history(services, session) if each.role == "human"] == [
        "How many customers?",
        "And per country?",
    ]
