"""People ask one connection as roles of their own, on a real PostgreSQL server with row-level security."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest

from app.bootstrap import Services, open_services
from app.core.auth.caller import SCOPES_OF_ROLE, Caller, calling
from app.core.auth.identity import Identity
from app.core.settings import Settings
from app.main import create_app
from app.modules.database_connection.errors import RolesRefused
from app.modules.database_connection.model import Connection
from app.modules.database_connection.roles import DatabaseRoleMissing, Roles, checked_role
from app.modules.records.model import NewQuestion
from tests.support.postgres_server import PostgresServer
from tests.support.shop import make_shop

_ROLES = """
create role "north; team" nologin;
create role south nologin;
create role everywhere nologin bypassrls;
create role stranger nologin;
create role kai login noinherit password 'kai';
grant "north; team", south, everywhere to kai;
"""
_SALES = """
create table sales (id int primary key, region text not null, amount int not null);
insert into sales values (1, 'north', 10), (2, 'north', 20), (3, 'south', 300);
grant select on sales to "north; team", south, everywhere;
alter table sales enable row level security;
create policy by_region on sales using (region = split_part(current_user, ';', 1));
"""
NORTH = "north; team"
TOTAL = "SELECT sum(amount) AS total FROM sales"
BY_OWNER = Roles("owner", (("ada", NORTH), ("ben", "south")))
BY_CLAIM = Roles("claim", (("n", NORTH), ("s", "south")))


def make_sales(postgres: PostgresServer, name: str) -> str:
    """Create a database of this name whose rows belong to roles. Returns its URL.

    Roles belong to the whole server, so the first database creates them.
    """
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {name}")
        if connection.execute("select 1 from pg_roles where rolname = 'kai'").fetchone() is None:
            connection.execute(_ROLES)
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        connection.execute(_SALES)
    return f"postgresql://kai:kai@127.0.0.1:{postgres.port}/{name}"


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    return make_sales(postgres, "sales")


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[Services]:
    async with open_services(Settings(data_dir=tmp_path)) as opened:
        yield opened


async def connected(services: Services, url: str, roles: Roles) -> Connection:
    return await services.database_connections.register(
        "ada", url, "Sales", description="", shared=True, roles=roles
    )


def person(owner: str, claim: str | None = None) -> Caller:
    return Caller(
        owner=owner, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="oidc", database_claim=claim
    )


async def ask(services: Services, connection: Connection, who: Caller, sql: str = TOTAL) -> str:
    """The events of a turn."""
    with calling(who):
        session = await services.sessions.create(who.owner, connection.id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(who.owner, session.id, NewQuestion("mine", sql=sql))
    return "\n".join([entry.data async for entry in services.sessions.follower.events(asked[1])])


def rows_of(events: str) -> object:
    results = [json.loads(line) for line in events.splitlines() if '"results"' in line]
    return results[0]["content"]["rows"]


async def test_two_people_see_their_own_rows_of_one_connection(services: Services, url: str) -> None:
    connection = await connected(services, url, BY_OWNER)
    assert rows_of(await ask(services, connection, person("ada"))) == [[30]]
    assert rows_of(await ask(services, connection, person("ben"))) == [[300]]
    for owner, regions in (("ada", {"north"}), ("ben", {"south"})):
        sample = await services.database_connections.sample(owner, connection.id, "sales")
        assert {row[1] for row in sample.rows} == regions


async def test_a_claim_of_the_token_chooses_the_role(services: Services, url: str) -> None:
    connection = await connected(services, url, BY_CLAIM)
    assert rows_of(await ask(services, connection, person("ada", "s"))) == [[300]]
    assert rows_of(await ask(services, connection, person("ben", "n"))) == [[30]]
    for unknown in ("everywhere", 'south"; reset role; --', None):
        assert '"urn:kai:database-role"' in await ask(services, connection, person("ben", unknown))


class ByClaim(Identity):
    """Takes a credential for the claim of the person ada."""

    async def caller(self, credential: str | None) -> Caller:
        return person("ada", credential)


async def test_the_claim_of_a_request_reaches_the_database(
    services: Services, url: str, tmp_path: Path
) -> None:
    connection = await connected(services, url, BY_CLAIM)
    identity = ByClaim(services.identity.keys, None, login_required=True)
    app = create_app(replace(services, identity=identity), Settings(data_dir=tmp_path))
    for claim, total in (("n", 30), ("s", 300)):
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1/api/v1",
            headers={"Authorization": f"Bearer {claim}"},
        ) as http:
            session = (await http.post("/sessions", json={"db_connection_id": connection.id})).json()
            asked = {"query": "mine", "sql": TOTAL}
            answer = await http.post(f"/sessions/{session['id']}/query/stream", json=asked)
            assert f'"rows":[[{total}]]' in answer.text.replace(" ", "")
            sample = await http.get(f"/database-connections/{connection.id}/tables/sales/sample")
            assert {row[1] for row in sample.json()["rows"]} == {"north" if claim == "n" else "south"}


async def test_a_person_without_a_role_is_refused_and_one_by_default_has_it(
    services: Services, url: str
) -> None:
    connection = await connected(services, url, BY_OWNER)
    events = await ask(services, connection, person("eve"))
    assert '"urn:kai:database-role"' in events
    assert '"failed"' in events
    assert "Ask its owner" in events
    with pytest.raises(DatabaseRoleMissing):
        await services.database_connections.sample("eve", connection.id, "sales")
    open_to_all = await connected(services, url, Roles("owner", (), default="south"))
    assert rows_of(await ask(services, open_to_all, person("eve"))) == [[300]]


async def test_no_value_of_the_database_is_kept_by_the_scan(services: Services, url: str) -> None:
    connection = await connected(services, url, BY_OWNER)
    scanned = await services.database_connections.scan("ada", connection.id)
    assert scanned.table_count == 1
    known = await services.database_connections.scanned_schema(scanned)
    (table,) = known.schema.tables
    assert not any(known.texts.values())
    assert not any(column.values or column.minimum or column.maximum for column in table.columns)


async def test_a_statement_cannot_give_the_role_back(services: Services, url: str) -> None:
    connection = await connected(services, url, BY_OWNER)
    for sql in ("RESET ROLE", "SET ROLE everywhere", "SELECT set_config('role', 'everywhere', true)"):
        assert '"urn:kai:statement-failed"' in await ask(services, connection, person("ada"), sql)


async def test_roles_that_the_account_may_not_take_are_refused_at_registration(
    services: Services, url: str
) -> None:
    for role in ("stranger", "missing_role"):
        with pytest.raises(RolesRefused, match=f"{role}.*GRANT"):
            await connected(services, url, Roles("owner", (("ada", role),)))
    warned = await connected(services, url, Roles("owner", (("ada", "everywhere"),)))
    assert any("does not bind the role everywhere" in warning for warning in warned.warnings)


async def test_a_role_that_is_taken_away_later_is_a_clear_error(
    services: Services, url: str, postgres: PostgresServer
) -> None:
    connection = await connected(services, url, BY_OWNER)
    with psycopg.connect(postgres.url("sales"), autocommit=True) as server:
        server.execute("revoke south from kai")
    try:
        events = await ask(services, connection, person("ben"))
    finally:
        with psycopg.connect(postgres.url("sales"), autocommit=True) as server:
            server.execute("grant south to kai")
    assert '"urn:kai:database-role"' in events
    assert "may not take the role south" in events


async def test_roles_can_be_changed_later_but_not_given_to_a_scanned_database(
    services: Services, url: str
) -> None:
    connections = services.database_connections
    connection = await connected(services, url, BY_OWNER)
    changed = await connections.change("ada", connection.id, {"roles": Roles("owner", (("eve", "south"),))})
    assert rows_of(await ask(services, changed, person("eve"))) == [[300]]
    assert '"urn:kai:database-role"' in await ask(services, changed, person("ben"))
    with pytest.raises(RolesRefused, match="GRANT"):
        await connections.change("ada", connection.id, {"roles": Roles("owner", (("eve", "stranger"),))})
    plain = await connections.register("ada", url, "Sales", description="")
    with pytest.raises(RolesRefused, match="Register it again"):
        await connections.change("ada", plain.id, {"roles": BY_OWNER})


async def test_other_databases_have_no_roles(services: Services, tmp_path: Path) -> None:
    shop = make_shop(tmp_path / "shop.db")
    with pytest.raises(RolesRefused, match="PostgreSQL"):
        await connected(services, f"sqlite:///{shop}", BY_OWNER)


@pytest.mark.parametrize("name", ["none", "None", "NONE", "pg_read_server_files", "a\nb", "ä" * 32])
def test_names_that_are_no_roles_of_people_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="role"):
        checked_role(name)
