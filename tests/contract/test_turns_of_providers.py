"""A whole investigation over the protocol of every provider: plan, calls of tools, their results, the end."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from pydantic import SecretStr

from app.bootstrap import open_services
from app.core.auth.caller import LOCAL_OWNER
from app.core.settings import NO_QUOTAS, LlmSettings, Settings
from app.modules.records.model import NewQuestion
from app.terminal.console import event_of
from graph import SessionEvent
from graph.events import AnalysisChunk, Done, FindingsChunk, ToolCalled, ToolReturned
from tests.contract.test_providers import ProviderCase, case, private_key, server
from tests.support.provider_server import ProviderServer, Served

__all__ = ["case", "private_key", "server"]

SQL = "SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY country"


def settings_of(case: ProviderCase, server: ProviderServer, folder: Path) -> Settings:
    known = case.settings(server)
    llm = LlmSettings(
        provider=known.provider,
        base_url=server.address,
        api_key=None if known.api_key is None else SecretStr(known.api_key.get_secret_value()),
        project=known.project,
        region=known.region,
        model=known.model,
        titles=False,
        memories=False,
        max_retries=0,
        instruction="long",  # the names of these models are those of small ones
    )
    return Settings(data_dir=folder / "data", llm=llm, quotas=NO_QUOTAS)


async def events_of(settings: Settings, database: str) -> list[SessionEvent]:
    async with open_services(settings, "once") as services:
        connection = await services.database_connections.register(
            LOCAL_OWNER, database, "shop", description=""
        )
        session = await services.sessions.create(LOCAL_OWNER, connection.id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(LOCAL_OWNER, session.id, NewQuestion("Why are there customers?"))
        return [event_of(entry.data) async for entry in services.sessions.follower.events(asked[1])]


async def test_an_investigation_calls_tools_reads_their_results_and_concludes(
    case: ProviderCase, server: ProviderServer, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
        shop.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT);"
            "INSERT INTO customers (country) VALUES ('Norway'), ('Brazil'), ('Brazil');"
        )
    finding = {"result": "r1.1", "fact": 'value(n, country="Brazil")'}
    server.say(
        Served(pieces=["INVESTIGATE:\n", "1. Customers per country"]),
        Served(
            pieces=["I count ", "them."],
            calls=[("run_sql", {"sql": SQL, "purpose": "Customers"}), ("list_databases", {})],
        ),
        Served(
            calls=[
                ("finish", {"answer": "The rest stays open.", "findings": [finding], "main_result": "r1.1"})
            ]
        ),
    )
    said = await events_of(settings_of(case, server, tmp_path), f"sqlite:///{tmp_path}/shop.db")
    assert [event.name for event in said if isinstance(event, ToolCalled)] == ["run_sql", "list_databases"]
    assert [event.status for event in said if isinstance(event, ToolReturned)] == ["done", "done"]
    (found,) = [event.content for event in said if isinstance(event, FindingsChunk)]
    assert [each["references"][0]["value"] for each in found] == ["2"]
    (text,) = [event.content for event in said if isinstance(event, AnalysisChunk)]
    assert text == f"{found[0]['text']}\n\n*Reading:* The rest stays open."
    done = said[-1]
    assert isinstance(done, Done)
    assert (done.status, done.steps, done.tool_calls) == ("complete", 2, 2)
    returned = case.tool_result(json.loads(server.requests[-1].body))
    assert "Brazil" in returned
    assert "shop" in returned
