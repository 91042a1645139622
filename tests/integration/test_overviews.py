"""Overviews: computed once for each reader, under their rights and within limits, and read from the store."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import httpx
import psycopg
import pytest

from app.bootstrap import Services, open_services
from app.core.auth.caller import SCOPES_OF_ROLE, Attributes, Caller, calling
from app.core.clock import now_ms
from app.core.settings import OverviewSettings, Settings
from app.main import create_app
from app.modules.database_connection.errors import ConnectionNotFound
from app.modules.database_connection.model import Connection
from app.modules.database_connection.roles import DatabaseRoleMissing, Roles
from app.modules.overview.model import Overview
from app.modules.overview.running import OverviewLimits, OverviewRuns
from app.modules.policies.model import Policies
from app.modules.records.model import NewQuestion
from app.modules.records.repository import SessionRepository
from app.modules.records.rows import RowStore
from tests.support.boards import store_settings
from tests.support.callers import admin, call_as
from tests.support.postgres_server import PostgresServer

TODAY = datetime.now(UTC).date()
DAYS = 800
DAY_MS = 86_400_000
REGIONS = [("north", 10), ("west", 10), ("north", 10), ("south", 30)]
SALES = [
    (day, (TODAY - timedelta(days=day)).isoformat(), *REGIONS[day % 4], "pen") for day in range(1, DAYS + 1)
]
"""A sale a day until yesterday."""
TABLE = """
create table sales (id integer primary key, sold_on date not null, region text, amount integer not null,
    api_token text)
"""


@pytest.fixture(params=["sqlite", "typesense"])
async def services(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Services]:
    """Without a worker of its own: only the test computes."""
    settings = Settings(data_dir=tmp_path / "data").model_copy(update=store_settings(request))
    async with open_services(settings, "once") as opened:
        yield opened


def write_sales(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(TABLE)
        database.executemany("insert into sales values (?, ?, ?, ?, ?)", SALES)


async def registered(services: Services, folder: Path, *, shared: bool = False) -> Connection:
    path = folder / "sales.db"
    write_sales(path)
    connections = services.database_connections
    made = await connections.register("ann", f"sqlite:///{path}", "Sales", description="", shared=shared)
    return await connections.scan("ann", made.id)


def runs_of(
    services: Services, *, rows: int = 10_000, seconds: float = 30, at: int | None = None
) -> OverviewRuns:
    return OverviewRuns(
        services.overviews.repository,
        services.database_connections,
        SessionRepository(services.storage),
        limits=OverviewLimits(table_rows=rows, statement_seconds=seconds),
        asks_in_english=True,
        now=now_ms if at is None else lambda: at,
    )


async def overview_of(services: Services, owner: str, connection: Connection) -> Overview:
    found = (await services.overviews.read(owner, connection.id, "en")).overview
    assert found is not None
    return found


async def test_after_a_scan_the_figures_are_those_of_the_questions_that_they_name(
    services: Services, tmp_path: Path
) -> None:
    connection = await registered(services, tmp_path)
    assert (await services.overviews.read("ann", connection.id, "en")).missing == "waiting"
    await runs_of(services).run_due()
    shown = await services.overviews.read("ann", connection.id, "en")
    assert shown.missing is None
    assert shown.computed_at is not None
    overview = await overview_of(services, "ann", connection)
    amount, count = overview.figures
    assert (amount.kind, amount.name, count.kind, count.name) == ("sum", "amount", "count", "sales")
    assert overview.latest_day == (TODAY - timedelta(days=1)).isoformat()
    for figure in overview.figures:
        assert figure.question in {"Total amount of sales per month", "Number of sales per month"}
        session = await services.sessions.create("ann", connection.id, None, mode="ask", metadata={})
        asked = await services.sessions.ask("ann", session.id, NewQuestion(figure.question))
        async for _ in services.sessions.follower.events(asked[1]):
            pass
        messages = await services.sessions.history(session)
        answer = messages[-1]
        assert answer.sql == figure.sql
        assert answer.row_count is not None
        rows = await RowStore(services.storage).read(answer.id, 0, answer.row_count)
        by_month = {str(row[0]): row[1] for row in rows}
        assert {each.month: each.value for each in figure.months} == {
            each.month: by_month[each.month] for each in figure.months
        }
    german = (await services.overviews.read("ann", connection.id, "de")).overview
    assert german is not None
    assert [each.finding for each in german.questions] != [each.finding for each in overview.questions]
    await runs_of(services, at=now_ms() + DAY_MS + 1).run_due()
    assert (await overview_of(services, "ann", connection)).answers == 2
    assert (await overview_of(services, "ann", connection)).tables[0].answers == 2


async def test_of_several_workers_one_computes_and_each_day_again_while_it_is_read(
    services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    connection = await registered(services, tmp_path)
    caplog.set_level("INFO", "kai.audit")

    def statements() -> int:
        return sum(getattr(each, "purpose", None) == "overview" for each in caplog.records)

    await asyncio.gather(*(runs_of(services).run_due() for _ in range(4)))
    once = statements()
    assert 0 < once < 6
    await runs_of(services).run_due()
    assert statements() == once
    await runs_of(services, at=now_ms() + DAY_MS + 60_000).run_due()
    assert statements() == 2 * once
    await runs_of(services, at=now_ms() + 9 * DAY_MS).run_due()  # not read for a week
    assert statements() == 2 * once
    await overview_of(services, "ann", connection)


async def test_each_reader_has_an_overview_of_their_own_and_strangers_have_none(
    services: Services, tmp_path: Path
) -> None:
    connection = await registered(services, tmp_path, shared=True)
    await runs_of(services).run_due()
    assert (await services.overviews.read("ben", connection.id, "en")).missing == "waiting"
    await runs_of(services).run_due()
    assert (await overview_of(services, "ben", connection)).figures
    await services.database_connections.change("ann", connection.id, {"shared": False})
    with pytest.raises(ConnectionNotFound):
        await services.overviews.read("ben", connection.id, "en")
    await runs_of(services, at=now_ms() + DAY_MS + 60_000).run_due()
    kept = await services.overviews.repository.find("ben", connection.id)
    assert kept is not None
    assert (kept.by_language, kept.due_at) == (None, None)


async def test_what_the_owner_hides_is_gone_at_once_also_from_what_is_under_way(
    services: Services, tmp_path: Path
) -> None:
    connection = await registered(services, tmp_path)
    await runs_of(services).run_due()
    assert "api_token" not in str(await overview_of(services, "ann", connection))
    assert "amount" in str(await overview_of(services, "ann", connection))
    (due,) = await services.overviews.repository.claims.due(now_ms() + 2 * DAY_MS, 1)
    leased = await services.overviews.repository.claims.change(due, {"due_at": now_ms() + 60_000})
    assert leased is not None
    await services.database_connections.describe_table(
        "ann", connection.id, "sales", columns={"amount": {"hidden": True}}
    )
    assert (await services.overviews.read("ann", connection.id, "en")).missing == "waiting"
    assert await services.overviews.repository.claims.change(leased, {"missing": None}) is None
    await runs_of(services).run_due()
    overview = await overview_of(services, "ann", connection)
    assert [each.name for each in overview.figures] == ["sales"]
    assert "amount" not in str(overview)


async def test_a_table_that_costs_too_much_is_left_out_and_named(services: Services, tmp_path: Path) -> None:
    connection = await registered(services, tmp_path)
    await runs_of(services, rows=DAYS - 1).run_due()
    overview = await overview_of(services, "ann", connection)
    assert (overview.figures, overview.questions, overview.left_out) == ([], [], ["sales"])
    assert overview.tables[0].name == "sales"
    await services.database_connections.scan("ann", connection.id)
    await runs_of(services, seconds=0.000_001).run_due()
    assert (await overview_of(services, "ann", connection)).left_out == ["sales"]


async def test_an_overview_goes_with_its_connection_and_with_its_owner(
    services: Services, tmp_path: Path
) -> None:
    connection = await registered(services, tmp_path, shared=True)
    await services.overviews.read("ben", connection.id, "en")
    ben = Caller(owner="ben", role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="api_key")
    await services.forgetting.forget_everything(ben)
    assert await services.overviews.repository.find("ben", connection.id) is None
    assert await services.overviews.repository.find("ann", connection.id) is not None
    await services.database_connections.delete("ann", connection.id)
    assert await services.overviews.repository.find("ann", connection.id) is None


async def test_where_it_is_switched_off_nothing_is_kept_or_asked(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", overview=OverviewSettings(enabled=False))
    async with open_services(settings) as services:
        connection = await registered(services, tmp_path)
        app = create_app(services, settings)
        call_as(app, lambda _: admin("ann"))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/api/v1") as http:
            answer = await http.get(f"/database-connections/{connection.id}/overview?language=de")
        assert answer.json() == {"overview": None, "missing": "off", "computed_at": None}
        assert await services.overviews.repository.find("ann", connection.id) is None


_ROLES = """
create role overview_north nologin;
create role overview_south nologin;
create role overview_kai login noinherit password 'kai';
grant overview_north, overview_south to overview_kai;
"""
_POLICIES = """
grant select on sales to overview_north, overview_south;
alter table sales enable row level security;
create policy by_region on sales using (current_user = 'overview_' || region);
"""


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Services]:
    async with open_services(Settings(data_dir=tmp_path / "data"), "once") as opened:
        yield opened


async def test_a_reader_with_a_role_sees_figures_of_the_rows_of_that_role(
    embedded: Services, postgres: PostgresServer
) -> None:
    services = embedded
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as server:
        server.execute("create database overviews")
        server.execute(_ROLES)
    with psycopg.connect(postgres.url("overviews"), autocommit=True) as database:
        database.execute(TABLE)
        database.cursor().executemany("insert into sales values (%s, %s, %s, %s, %s)", SALES)
        database.execute(_POLICIES)
    url = f"postgresql://overview_kai:kai@127.0.0.1:{postgres.port}/overviews"
    roles = Roles("claim", (("n", "overview_north"), ("s", "overview_south")))
    connections = services.database_connections
    with calling(_person("ann", "n")):
        made = await connections.register("ann", url, "Sales", description="", shared=True, roles=roles)
        connection = await connections.scan("ann", made.id)

    async def counted(owner: str, claim: str) -> float | None:
        with calling(_person(owner, claim)):
            shown = await services.overviews.read(owner, connection.id, "en")
            if shown.overview is None:
                assert shown.missing == "waiting"
                return None
            assert shown.overview.is_of_role
            return sum(each.value or 0 for each in shown.overview.figures[1].months)

    assert [await counted("ann", "n"), await counted("ben", "s")] == [None, None]
    await runs_of(services).run_due()
    north, south = await counted("ann", "n"), await counted("ben", "s")
    assert north is not None
    assert south is not None
    assert abs(north - 2 * south) <= 4
    assert await counted("ben", "n") is None  # of another role nothing is shown
    await runs_of(services).run_due()
    assert await counted("ben", "n") == north
    with calling(_person("eve", "x")), pytest.raises(DatabaseRoleMissing):
        await services.overviews.read("eve", connection.id, "en")
    await connections.change("ann", connection.id, {"roles": Roles("claim", (("n", "overview_south"),))})
    assert await counted("ann", "n") is None


def _person(owner: str, claim: str, attributes: Attributes = MappingProxyType({})) -> Caller:
    return Caller(
        owner=owner,
        role="user",
        scopes=SCOPES_OF_ROLE["user"],
        signed_in_by="oidc",
        database_claim=claim,
        attributes=attributes,
    )


_OWN_REGION = Policies.model_validate(
    {
        "default": "allow",
        "policies": [{"name": "own region", "tables": {"sales": {"rows": ["region = {{ user.region }}"]}}}],
    }
)


async def test_where_policies_hold_figures_are_of_the_rows_that_their_reader_may_see_now(
    embedded: Services, tmp_path: Path
) -> None:
    services = embedded
    connection = await registered(services, tmp_path, shared=True)
    everyone = _person("ann", "", {"region": "north"})
    with calling(everyone):
        assert (await services.overviews.read("ann", connection.id, "en")).missing == "waiting"
    await runs_of(services).run_due()

    async def counted(owner: str, region: str | None) -> float | None:
        with calling(_person(owner, "", {} if region is None else {"region": region})):
            shown = await services.overviews.read(owner, connection.id, "en")
        if shown.overview is None:
            assert shown.missing == "waiting"
            return None
        assert shown.overview.is_of_role
        return sum(each.value or 0 for figure in shown.overview.figures[-1:] for each in figure.months)

    change = services.connection_policies.change
    await change("ann", connection.id, _OWN_REGION)
    await runs_of(services).run_due()  # of no one known
    assert [await counted("ann", "north"), await counted("ben", "south")] == [None, None]
    await runs_of(services).run_due()
    north, south = await counted("ann", "north"), await counted("ben", "south")
    assert north is not None
    assert south is not None
    assert abs(north - 2 * south) <= 4
    assert await counted("ben", "north") is None  # who has moved
    await runs_of(services).run_due()
    assert await counted("ben", "north") == north
    assert await counted("ben", None) is None  # who has no region any more
    await runs_of(services).run_due()
    assert not await counted("ben", None)
    hidden = {"name": "pay", "tables": {"sales": {"columns": {"amount": "hidden"}}}}
    await change("ann", connection.id, Policies.model_validate({"default": "allow", "policies": [hidden]}))
    assert await counted("ann", "north") is None
    await runs_of(services).run_due()
    with calling(everyone):
        shown = (await services.overviews.read("ann", connection.id, "en")).overview
    assert shown is not None
    assert ([each.kind for each in shown.figures], "amount" in str(shown)) == (["count"], False)
    await change("ann", connection.id, None)
    with calling(everyone):
        assert (await services.overviews.read("ann", connection.id, "en")).missing == "waiting"
