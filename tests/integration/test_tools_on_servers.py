"""The tools that read whole tables, on real database servers: their SQL, and roles of people."""

import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import JsonValue, SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.caller import Caller, calling
from app.core.settings import LlmSettings, Settings
from app.modules.database_connection.roles import Roles
from app.modules.records.model import NewQuestion
from tests.e2e.test_investigations import PLAN, QUESTION, calls, finish
from tests.e2e.test_tools import defective
from tests.integration.database_connection.test_roles import BY_OWNER, make_sales, person
from tests.support.mariadb_server import MariadbServer, installed, mariadb_server
from tests.support.postgres_server import PostgresServer
from tests.support.scripted_model import ScriptedModel


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariadbServer]:
    if not installed():
        pytest.skip("no MariaDB server is installed here")
    with mariadb_server() as running:
        yield running


@pytest.fixture
async def services(tmp_path: Path, model: ScriptedModel) -> AsyncGenerator[Services]:
    llm = LlmSettings(
        base_url=model.base_url,
        api_key=SecretStr("sk-x"),
        model="scripted",
        instruction="long",
        max_retries=0,
    )
    async with open_services(Settings(data_dir=tmp_path / "data", llm=llm)) as opened:
        yield opened


async def use(
    services: Services, model: ScriptedModel, connection_id: str, *tables: str, who: Caller
) -> list[dict[str, Any]]:
    """Let this person's model check, profile and look for values. Returns the results of the calls."""
    given: list[dict[str, JsonValue]] = [{"table": each} for each in tables]
    model.say(
        PLAN,
        calls(*(("check_data", each) for each in given)),
        calls(*(("profile_table", each) for each in given)),
        calls(("find_values", {"words": "north south"})),
        finish("Done."),
    )
    with calling(who):
        session = await services.sessions.create(who.owner, connection_id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(who.owner, session.id, NewQuestion(QUESTION, sql=None))
    entries = [entry.data async for entry in services.sessions.follower.events(asked[1])]
    events = [json.loads(line) for entry in entries for line in entry.splitlines() if line.startswith("{")]
    return [each for each in events if each.get("event") == "tool_result"]


def script() -> str:
    """The defects without an orphan: these servers keep foreign keys."""
    return "".join(defective()).replace(" REFERENCES regions (id)", "").replace("DOUBLE", "DOUBLE PRECISION")


def made_in_postgres(request: pytest.FixtureRequest) -> str:
    server: PostgresServer = request.getfixturevalue("postgres")
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("create database defective")
    with psycopg.connect(server.url("defective"), autocommit=True) as connection:
        connection.execute(script())
    return server.url("defective")


def made_in_mariadb(request: pytest.FixtureRequest) -> str:
    server: MariadbServer = request.getfixturevalue("mariadb")
    server.run("create database defective; create user 'analyst'@'%' identified by 's3cret/with@signs';")
    server.run("grant select, show view on defective.* to 'analyst'@'%';")
    server.run(script(), "defective")
    return server.url("analyst", "defective")


@pytest.mark.parametrize("make", [made_in_postgres, made_in_mariadb])
async def test_check_data_finds_the_planted_defects_on_a_server(
    request: pytest.FixtureRequest, services: Services, model: ScriptedModel, make: Any
) -> None:
    ada = person("ada")
    connection = await services.database_connections.register("ada", make(request), "Sales", description="")
    checked, profiled, _ = await use(services, model, connection.id, "sales", who=ada)
    assert checked["status"] == profiled["status"] == "done", checked
    assert "Not checked" not in checked["content"]
    for kind in ("nulls", "constant", "duplicates", "future dates", "outliers", "gap"):
        assert kind in checked["content"], kind
    assert "no row between 2025-02-09 and 2025-03-02" in checked["content"]
    assert "sales has 62 rows." in profiled["content"]


async def test_tools_read_as_the_role_of_the_person_who_asks(
    services: Services, model: ScriptedModel, postgres: PostgresServer
) -> None:
    url = make_sales(postgres, "tools_by_role")
    roles: Roles = BY_OWNER
    shared = await services.database_connections.register(
        "ada", url, "Sales", description="", shared=True, roles=roles
    )
    for owner, count, own, foreign in (("ada", 2, "north", "south"), ("ben", 1, "south", "north")):
        results = await use(services, model, shared.id, "sales", who=person(owner))
        assert f"sales has {count} rows" in results[1]["content"], results
        assert own in results[1]["content"]
        assert all(foreign not in each["content"] for each in results)
