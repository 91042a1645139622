"""Answers whose rows are no longer stored: what can still be said is said to be of their head."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.bootstrap import Services, open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import read_settings
from app.modules.records.errors import RowsGone
from app.modules.records.model import Message, NewQuestion
from app.modules.session.answers import StoredRows

DAYS = 731


@pytest.fixture
def calendar(tmp_path: Path) -> str:
    path = tmp_path / "calendar.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE days (day DATE PRIMARY KEY, orders INTEGER NOT NULL)")
        connection.executemany(
            "INSERT INTO days VALUES (date('2024-01-01', ?), ?)",
            [(f"+{number} days", number + 1) for number in range(DAYS)],
        )
    return f"sqlite:///{path}"


async def answered(services: Services, session_id: str, question: str, sql: str | None = None) -> Message:
    session, run = await services.sessions.ask(LOCAL_OWNER, session_id, NewQuestion(question, sql=sql))
    assert '"complete"' in [entry async for entry in services.sessions.follower.events(run)][-1].data
    messages, _ = await services.sessions.repository.messages(session, 100, None)
    return messages[-1]


async def test_a_reading_of_rows_that_are_gone_says_that_it_is_of_the_first_ones(
    tmp_path: Path, calendar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAI_DATA_DIR", str(tmp_path / "kai"))
    settings = read_settings()
    async with open_services(settings) as services:
        connection = await services.database_connections.register(
            LOCAL_OWNER, calendar, "calendar", description=""
        )
        session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode="ask", metadata={})
        first = await answered(
            services, session.id, "Number of orders per day", "SELECT day, orders FROM days"
        )
        with closing(sqlite3.connect(settings.data_dir / "kai.db")) as store, store:
            assert store.execute("DELETE FROM result_chunks").rowcount > 0
        with pytest.raises(RowsGone):
            await services.sessions.answers.read_rows(StoredRows.of_answer(first), 10, None)
        second = await answered(services, session.id, "Summarize that")
    assert second.route == "rows"
    assert "only the first 100 of 731 rows" in (second.analysis or "").lower()
    assert "Made of the first 100 of 731 rows" in str(second.chart)
