"""The audit log: one line for each statement that is sent to a user's database."""

import hashlib
import json
import stat
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.operations.conftest import Watched
from tests.support.server import Client, client_of, running_server

COUNT = "SELECT count(*) AS n FROM orders"
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS many FROM n, orders"
)


async def run(client: Client, session: str, sql: str) -> str:
    """Runs a statement of the analyst's own; the run's id."""
    return str((await client.ask(session, "mine", sql=sql))[-1].data["run_id"])


async def test_a_statement_is_recorded_with_who_what_where_and_how_it_ended(
    watched: Watched, shop: str
) -> None:
    connection = await watched.client.connect(shop)
    session = await watched.client.open_session(connection)
    run_id = await run(watched.client, session, COUNT)
    line = await watched.line(message="statement", run_id=run_id)
    expected = {
        "owner": "local",
        "session_id": session,
        "connection_id": connection,
        "purpose": "question",
        "dialect": "sqlite",
        "statement_sha256": hashlib.sha256(COUNT.encode()).hexdigest(),
        "rows": 1,
        "outcome": "ok",
        "refused_as": None,
    }
    assert expected.items() <= line.items()
    assert "statement" not in line
    assert isinstance(line["duration_ms"], int)


async def test_a_refused_statement_is_recorded_with_the_rule_that_refused_it(
    watched: Watched, shop: str
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    run_id = await run(watched.client, session, "DROP TABLE orders")
    line = await watched.line(message="statement", run_id=run_id)
    assert (line["outcome"], line["refused_as"], line["rows"]) == ("refused", "not-a-query", None)


async def test_a_statement_that_the_check_of_names_refused_is_recorded_too(
    watched: Watched, shop: str
) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    sql = "SELECT nothing_like_it FROM orders"
    run_id = await run(watched.client, session, sql)
    line = await watched.line(message="statement", run_id=run_id)
    assert (line["outcome"], line["refused_as"], line["rows"]) == ("refused", "name", None)
    assert line["statement_sha256"] == hashlib.sha256(sql.encode()).hexdigest()


async def test_a_statement_that_was_cancelled_is_recorded_as_that(watched: Watched, shop: str) -> None:
    session = await watched.client.open_session(await watched.client.connect(shop))
    async with watched.client.asking(session, "mine", None, sql=ENDLESS) as stream:
        await stream.until("status", step="executing_sql")
        await watched.client.cancel(session, stream.run_id)
        await stream.until("done", status="cancelled")
        line = await watched.line(message="statement", run_id=stream.run_id)
    assert line["outcome"] == "cancelled"


async def test_the_first_rows_of_a_table_and_a_scan_are_recorded_too(watched: Watched, shop: str) -> None:
    connection = await watched.client.connect(shop)
    answer = await watched.client.http.get(f"/database-connections/{connection}/tables/orders/sample")
    preview = await watched.line(message="statement", connection_id=connection)
    scan = await watched.line(message="scan", connection_id=connection)
    assert (preview["purpose"], preview["owner"], preview["run_id"]) == ("preview", "local", None)
    assert preview["request_id"] == answer.headers["X-Request-Id"]
    assert (scan["purpose"], scan["owner"], scan["tables"], scan["outcome"]) == ("scan", "local", 2, "ok")


@dataclass
class Audited:
    client: Client
    file: Path

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()]


@pytest.fixture
async def audited(tmp_path: Path) -> AsyncGenerator[Audited]:
    """A server whose audit log is a file that was there before, open to all, and holds the texts."""
    file = tmp_path / "audit.jsonl"
    file.touch(0o644)
    settings = {
        "KAI_AUDIT__FILE": str(file),
        "KAI_AUDIT__STATEMENTS": "true",
        "KAI_LOG_LEVEL": "error",
        "KAI_LIMITS__STATEMENT_SECONDS": "2",
        "KAI_OVERVIEW__ENABLED": "false",
    }
    with running_server(tmp_path / "data", settings) as server:
        async with client_of(server) as client:
            yield Audited(client, file)


async def test_a_file_of_its_own_is_private_survives_rotation_and_holds_texts_only_when_configured(
    audited: Audited, shop: str, tmp_path: Path
) -> None:
    session = await audited.client.open_session(await audited.client.connect(shop))
    await run(audited.client, session, COUNT)
    assert stat.S_IMODE(audited.file.stat().st_mode) == 0o600
    assert [line["statement"] for line in audited.lines() if line["message"] == "statement"] == [COUNT]
    audited.file.rename(tmp_path / "audit.jsonl.1")
    await run(audited.client, session, ENDLESS)
    (line,) = audited.lines()
    assert line["outcome"] == "timed_out"
    assert stat.S_IMODE(audited.file.stat().st_mode) == 0o600
