"""People ask one connection with policies: each sees their own rows, and what others see reaches no one."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue, SecretStr

from app.bootstrap import Services, open_services
from app.core.auth.api_keys import NewKey
from app.core.auth.caller import SCOPES_OF_ROLE, Attribute, Caller, calling
from app.core.auth.identity import Identity
from app.core.keyed_ids import created_id
from app.core.settings import LlmSettings, Settings
from app.core.storage.listing import Listed, ListRequest
from app.main import create_app
from app.modules.boards.errors import PinRowsMissing
from app.modules.boards.model import Pin
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.service import NewPin, ShownPin
from app.modules.context_store.errors import EntryUnknown
from app.modules.database_connection.errors import PersonUnknown, PoliciesRefused, StatementNotRun
from app.modules.database_connection.model import Connection
from app.modules.database_connection.statement_audit import Asker
from app.modules.memory.errors import FactPlaceUnclear
from app.modules.memory.fact_reading import FactFilter
from app.modules.memory.model import FactSource, NewFact
from app.modules.policies.model import Policies
from app.modules.policies.rights import Person
from app.modules.records.model import NewQuestion
from app.modules.records.repository import SessionRepository
from app.modules.reports.model import Exchange
from app.modules.reports.schemas import NewReport
from app.modules.schedules.errors import OwnRowsOnly
from app.modules.schedules.model import Condition, Notice, Target
from app.modules.schedules.repository import ScheduleRepository
from app.modules.schedules.running import Runs
from app.modules.schedules.schemas import ScheduleBody
from app.modules.schedules.service import NewSchedule
from app.modules.sharing.errors import NotOffered
from app.modules.webhooks.model import Receiver
from app.modules.webhooks.run_subjects import RunSubjects
from graph.errors import StatementRefused
from tests.e2e.test_investigations import PLAN, calls, finish
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.shop import make_shop
from tests.support.waiting import until
from tests.support.webhooks import events_of

POLICIES = Policies.model_validate(
    {
        "default": "allow",
        "policies": [
            {
                "name": "own country",
                "tables": {
                    "customers": {
                        "rows": ["country = {{ user.country }}"],
                        "columns": {"email": "hidden", "name": "hash"},
                    },
                    "categories": {"hidden": True},
                },
            }
        ],
    }
)
ASKED = "How many buyers are on the tree?"
COUNT = "SELECT count(*) AS n FROM customers"
ANNA: Mapping[str, Attribute] = {"country": "Norway"}
BOB: Mapping[str, Attribute] = {"country": "Japan"}


def person(owner: str, attributes: Mapping[str, Attribute]) -> Caller:
    return Caller(
        owner=owner,
        role="admin",
        scopes=SCOPES_OF_ROLE["admin"],
        signed_in_by="oidc",
        attributes=attributes,
    )


@pytest.fixture
async def services(tmp_path: Path, model: ScriptedModel) -> AsyncGenerator[Services]:
    llm = LlmSettings(base_url=model.base_url, api_key=SecretStr("sk-x"), model="scripted")
    async with open_services(Settings(data_dir=tmp_path / "data", llm=llm)) as opened:
        yield opened


@pytest.fixture
async def shop(services: Services, tmp_path: Path) -> Connection:
    return await register_shop(services, make_shop(tmp_path / "shop.db"))


async def register_shop(services: Services, path: Path) -> Connection:
    """The shop of anna, which others may ask, by the policies."""
    databases = services.database_connections
    known = await databases.register("anna", f"sqlite:///{path}", "Shop", description="", shared=True)
    await databases.scan("anna", known.id)
    await services.connection_policies.change("anna", known.id, POLICIES)
    return await databases.repository.get("anna", known.id)


async def ask(
    services: Services, connection: Connection, who: Caller, sql: str | None = COUNT, question: str = ASKED
) -> str:
    """The events of a turn."""
    with calling(who):
        session = await services.sessions.create(who.owner, connection.id, None, mode="ask", metadata={})
        asked = await services.sessions.ask(who.owner, session.id, NewQuestion(question, sql=sql))
    return "\n".join([entry.data async for entry in services.sessions.follower.events(asked[1])])


async def test_each_person_sees_their_own_rows_and_reads_by_which_rule(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    for who, count in ((person("anna", ANNA), 2), (person("bob", BOB), 1), (person("nil", {}), 0)):
        events = await ask(services, shop, who)
        results = [json.loads(line) for line in events.splitlines() if '"results"' in line]
        assert results[0]["content"]["rows"] == [[count]]
        assert "Rows are limited by the rule *own country*." in events
    unlimited = await ask(services, shop, person("anna", ANNA), "SELECT id FROM orders")
    assert "limited by the rule" not in unlimited


async def test_hidden_things_read_like_missing_ones_and_are_in_no_prompt(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    model.rule("SQL writer", "```sql\nSELECT id FROM customers\n```")
    context = services.context_store
    await context.add_term("anna", shop.id, "tree", meaning="See the table categories.", sql=None)
    await context.add_term("anna", shop.id, "buyer", meaning="A row of customers.", sql=None)
    anna = person("anna", ANNA)
    await ask(services, shop, anna, None)
    prompt = next(each.text for each in model.requests if "SQL writer" in each.text)
    assert "customers" in prompt
    assert "A row of customers" in prompt
    for hidden in ("categories", "email", "Ann", "Bob", "Norway", "Japan"):
        assert hidden not in prompt
    said: list[str] = []
    with calling(anna):
        for name in ("categories", "caregories"):
            with pytest.raises(StatementNotRun) as refused:
                await services.database_connections.inspect("anna", shop.id, f"SELECT id FROM {name}")
            said.append(refused.value.detail.replace(name, "it"))
        assert said[0] == said[1]
        tables, _ = await services.database_connections.tables("anna", shop.id, 50, cursor=None)
    assert "categories" not in {each.name for each in tables}
    customers = next(each for each in tables if each.name == "customers")
    assert "email" not in {each.name for each in customers.columns}
    assert not any(each.values or each.minimum for each in customers.columns)
    assert customers.row_count is None


async def test_knowledge_of_hidden_things_stays_hidden_while_the_tables_are_read_again(
    services: Services, shop: Connection, tmp_path: Path
) -> None:
    context, databases = services.context_store, services.database_connections
    await context.add_term("anna", shop.id, "tree", meaning="See the table categories.", sql=None)
    await context.add_term("anna", shop.id, "buyer", meaning="A row of customers.", sql=None)
    await databases.change("anna", shop.id, {}, url=f"sqlite:///{tmp_path / 'shop.db'}")
    unread = await databases.repository.get("anna", shop.id)
    with calling(person("bob", BOB)):
        known = await context.knowledge_of_person(unread)
    assert [each.term for each in known.terms] == ["buyer"]


async def test_a_table_renamed_in_the_database_stays_closed_until_its_policy_names_it(
    services: Services, shop: Connection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    databases, change = services.database_connections, services.connection_policies.change
    rename_table(tmp_path / "shop.db", "customers", "buyers")
    await databases.scan("anna", shop.id)
    assert "policy 'own country', table 'customers': The latest scan has no table" in caplog.text
    shop = await databases.repository.get("anna", shop.id)
    asker = Asker(owner="anna", purpose="question")
    count = COUNT.replace("customers", "buyers")
    with calling(person("anna", ANNA)):
        for sql in (count, "SELECT * FROM spending"):  # the view reads the table by its new name
            with pytest.raises(StatementRefused, match="no table"):
                await databases.run(shop, sql, asker)
        assert (await databases.run(shop, "SELECT count(*) FROM orders", asker)).rows == [[3]]
    present = POLICIES.model_dump_json().replace('"customers"', '"buyers"')
    await change("anna", shop.id, Policies.model_validate_json(present))
    shop = await databases.repository.get("anna", shop.id)
    with calling(person("anna", ANNA)):
        assert (await databases.run(shop, count, asker)).rows == [[2]]


def rename_table(path: Path, name: str, present: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"alter table {name} rename to {present}")


async def test_the_tools_that_read_whole_tables_read_the_rows_of_the_person(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    seen: dict[str, str] = {}
    for who in (person("bob", BOB), person("anna", ANNA)):
        model.forget()
        model.say(
            PLAN,
            calls(("check_data", {"table": "customers"}), ("check_data", {"table": "categories"})),
            calls(("profile_table", {"table": "customers"}), ("profile_table", {"table": "spending"})),
            calls(("find_values", {"words": "Jappan Norwai Zoee notebok"})),
            finish("Done."),
        )
        events = await ask(services, shop, who, None)
        seen[who.owner] = "\n".join([events, *(each.text for each in model.requests)])
    assert "customers has 2 rows" in seen["anna"]
    assert "every row has 'Norway'" in seen["anna"]
    assert "customers has 1 rows" in seen["bob"]
    for owner, hidden in (("anna", "Japan"), ("bob", "Norway")):
        assert "No stored text is like these words." in seen[owner]
        for each in (hidden, "'Ann'", "'Bob'", "Zoë", "@example.com", "parent_id", "notebooks"):
            assert each not in seen[owner]


async def test_the_built_in_writer_knows_and_offers_no_values_of_others(tmp_path: Path) -> None:
    questions = (
        "How many customers are there per country?",
        "How many customers are from Japann?",
        "customers from Norwey",
        "orders of the customer Bop",
        "customers with example.com",
        "products of the category notebok",
        "and the others?",
    )
    async with open_services(Settings(data_dir=tmp_path / "data")) as services:
        shop = await register_shop(services, make_shop(tmp_path / "shop.db"))
        for who, own, other in (
            (person("anna", ANNA), "Norway", "Japan"),
            (person("bob", BOB), "Japan", "Norway"),
        ):
            events = [await ask(services, shop, who, None, question) for question in questions]
            assert own in events[0]
            for said, question in zip(events, questions, strict=True):
                answer = said.replace(question, "")
                for hidden in (other, '"Bob', '"Ann', "Zoë", "@example", "notebooks", "parent_id"):
                    assert hidden not in answer, (question, hidden)


async def test_what_carries_no_person_or_reaches_others_is_refused(
    services: Services, shop: Connection
) -> None:
    databases = services.database_connections
    with pytest.raises(PersonUnknown):
        await databases.run(shop, COUNT, Asker(owner="anna", purpose="question"))
    with calling(person("anna", ANNA)):
        for asker in (
            Asker(owner="bob", purpose="question"),
            Asker(owner="bob", purpose="board"),
            Asker(owner="bob", purpose="schedule"),
            Asker(owner="anna", purpose="evaluation"),
        ):
            with pytest.raises(PersonUnknown):
                await databases.run(shop, COUNT, asker)
    terms = services.context_store.terms
    term = await services.context_store.add_term("anna", shop.id, "x", meaning="y", sql=None)
    with pytest.raises(EntryUnknown):
        await services.context_store.get(terms, "bob", term.id)
    filters = await services.context_store.listed(terms, "bob", shop.id)
    assert await terms.page(filters, ListRequest(limit=5)) == Listed([], None)


async def pin(services: Services, connection: Connection, who: Caller, sql: str = COUNT) -> ShownPin:
    """An answer of a person, pinned on a new board of theirs, with the rows of its first run."""
    owner = who.owner
    with calling(who):
        session = await services.sessions.create(owner, connection.id, None, mode="ask", metadata={})
        _, run = await services.sessions.ask(owner, session.id, NewQuestion(ASKED, sql=sql))
        _ = [entry async for entry in services.sessions.follower.events(run)]
        answer = next(each for each in await services.sessions.history(session) if each.role == "assistant")
        board = await services.boards.create(owner, "Mine")
        new = NewPin(message_id=answer.id, title=None, chart_choice=None, width=6, height=4)
        pinned = (await services.boards.pin(owner, board.id, new)).pin
    return await read_pin(services, who, pinned)


async def read_pin(services: Services, who: Caller, pinned: Pin, *, refresh: bool = False) -> ShownPin:
    """A pin as a person reads it once nothing runs."""
    place = (who.owner, pinned.board_id, pinned.id)
    with calling(who):
        if refresh:
            await services.boards.refresh_pin(*place)

        async def is_done() -> bool:
            return (await services.boards.read_pin(*place)).state != "running"

        await until(is_done)
        return await services.boards.read_pin(*place)


async def test_pins_show_the_rows_that_their_reader_may_see_now(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    anna, moved = person("anna", ANNA), person("anna", BOB)
    pinned = await pin(services, shop, anna)
    place = ("anna", pinned.pin.board_id, pinned.pin.id)
    assert pinned.pin.result is not None
    assert (pinned.state, pinned.pin.result.rows_head) == ("current", [[2]])
    other = await read_pin(services, moved, pinned.pin)
    assert (other.state, other.pin.result, other.pin.shown_chart) == ("stale", None, None)
    with calling(moved), pytest.raises(PinRowsMissing):
        await services.boards.rows(*place, limit=5, cursor=None)
    with calling(moved):
        report, _ = await services.reports.make("anna", NewReport(board_id=place[1]))
    assert [each.rows for each in report.parts if isinstance(each, Exchange)] == [[]]
    refreshed = await read_pin(services, moved, pinned.pin, refresh=True)
    assert refreshed.pin.result is not None
    assert refreshed.pin.result.rows_head == [[1]]
    assert (await read_pin(services, anna, pinned.pin)).pin.result is None
    with calling(anna):
        assert not (await services.boards.read(*place[:2])).pins[0].pin.result
        with pytest.raises(NotOffered):
            await services.sharing.add("anna", "board", place[1], days=1)
    await services.connection_policies.change("anna", shop.id, None)
    assert (await read_pin(services, moved, pinned.pin)).pin.result is None
    assert (await read_pin(services, moved, pinned.pin, refresh=True)).state == "current"
    await services.connection_policies.change("anna", shop.id, POLICIES)
    assert (await read_pin(services, anna, pinned.pin)).pin.result is None  # all people's rows


async def test_schedules_run_with_the_rights_of_their_owner_and_send_nothing_to_others(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    anna = person("anna", ANNA)
    pinned = (await pin(services, shop, anna)).pin
    new = NewSchedule(
        board_id=pinned.board_id,
        pin_id=pinned.id,
        cron="0 8 * * *",
        time_zone="UTC",
        condition=None,
        webhook_url="https://example.com/hook",
    )
    with pytest.raises(OwnRowsOnly, match="would reach others"):
        await services.schedules.create("anna", new)
    made = (await services.schedules.create("anna", replace(new, webhook_url=None))).schedule
    refused = await run_schedule(services, made.id)
    assert refused.failure is not None
    assert "as long as all of these agree" in refused.failure.cure
    for country in ("Norway", "Japan"):
        await make_key(services, country)
        if country == "Norway":
            ran = await run_schedule(services, made.id)
            assert (ran.kind, ran.row_count, ran.value, ran.failure) == ("ran", None, None, None)
            shown = await read_pin(services, anna, pinned)
            assert shown.pin.result is not None
            assert (shown.pin.result.rows_head, shown.pin.result.id != pinned.id) == ([[2]], True)
    assert (await run_schedule(services, made.id)).failure is not None


async def run_schedule(services: Services, schedule_id: str) -> Notice:
    """Run a schedule of anna at its next time. Returns her latest notice."""
    connections, boards = services.database_connections, services.boards.repository
    due = (await services.schedules.repository.get("anna", schedule_id)).due_at
    worker = Runs(
        ScheduleRepository(services.storage),
        boards,
        Refreshing(boards, connections, CollectorRegistry()),
        events=events_of(services.storage),
        connections=connections.repository,
        keys=services.identity.keys,
        metrics=CollectorRegistry(),
        now=lambda: due or 0,
    )
    (claimed,) = await worker.claim(5)
    await worker.run(claimed)
    notices, _ = await services.schedules.repository.notices("anna", 1, None)
    return notices[0]


async def make_key(services: Services, country: str) -> None:
    """Make a key of anna that says where she is."""
    wanted = NewKey(
        owner="anna",
        name=country,
        role="user",
        scopes=frozenset(),
        expires_at=None,
        attributes={"country": country},
    )
    await services.identity.keys.create(wanted)


async def test_a_schedule_from_before_the_policies_sends_nothing_and_its_figures_keep_to_their_rights(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    policies, storage = services.connection_policies, services.storage
    pinned = (await pin(services, shop, person("anna", ANNA))).pin
    new = NewSchedule(
        board_id=pinned.board_id,
        pin_id=pinned.id,
        cron="0 8 * * *",
        time_zone="UTC",
        condition=Condition(kind="above", column="n", value=0),
        webhook_url=None,
    )
    made = (await services.schedules.create("anna", new)).schedule
    mail = asdict(Target(id="t", kind="mail", label="others@example.com"))
    hook = asdict(Receiver(host="example.com", url="", secret=""))
    await storage.patch("schedules", made.id, {"targets": [mail], "webhook": hook})
    refused = await run_schedule(services, made.id)
    assert refused.failure is not None
    assert refused.failure.title == "Not sent to others"
    assert (refused.deliveries, refused.deliver_due_at) == ([], None)
    assert (refused.webhook, refused.webhook_due_at) == (None, None)
    await storage.patch("schedules", made.id, {"targets": [], "webhook": None})

    async def last_value() -> JsonValue:
        last = ScheduleBody.of(await services.schedules.repository.get("anna", made.id)).last_run
        assert last is not None
        return last.value

    await make_key(services, "Norway")
    assert (await run_schedule(services, made.id)).kind == "met"
    assert await last_value() is None
    await policies.change("anna", shop.id, None)
    notice = await run_schedule(services, made.id)
    assert (notice.kind, notice.value, notice.previous) == ("met", 3, None)
    assert await last_value() == 3


async def test_a_pin_says_why_it_failed_to_whom_it_failed(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    anna = person("anna", ANNA)
    pinned = (await pin(services, shop, anna)).pin
    hidden = {"name": "unknown", "tables": {"customers": {"hidden": True}}}
    none = Policies.model_validate({"default": "allow", "policies": [hidden]})
    await services.connection_policies.change("anna", shop.id, none)
    failed = await read_pin(services, anna, pinned, refresh=True)
    assert (failed.state, failed.pin.result) == ("failed", None)
    assert failed.pin.failure is not None
    assert "no table customers" in failed.pin.failure.detail
    other = await read_pin(services, person("anna", BOB), pinned)
    assert (other.state, other.pin.failure) == ("stale", None)


async def test_a_pin_takes_no_rows_of_another_database_of_its_session(
    services: Services, shop: Connection, model: ScriptedModel, tmp_path: Path
) -> None:
    databases = services.database_connections
    path = make_shop(tmp_path / "open.db")
    main = await databases.register("anna", f"sqlite:///{path}", "Open", description="", shared=True)
    reads = json.dumps({"sql": COUNT, "database": shop.name, "purpose": "Counts"})
    ends = json.dumps({"answer": "These are all.", "main_result": "r1.1"})
    model.say(
        "INVESTIGATE:\n1. Count them",
        Scripted(calls=(("run_sql", reads),)),
        Scripted(calls=(("finish", ends),)),
    )
    anna = person("anna", ANNA)
    with calling(anna):
        session = await services.sessions.create(
            "anna", main.id, None, mode="agent", metadata={}, also=[shop.id]
        )
        _, run = await services.sessions.ask("anna", session.id, NewQuestion(ASKED))
        _ = [entry async for entry in services.sessions.follower.events(run)]
        answer = next(each for each in await services.sessions.history(session) if each.role == "assistant")
        assert answer.rows_head == [[2]]
        board = await services.boards.create("anna", "Mine")
        new = NewPin(message_id=answer.id, title=None, chart_choice=None, width=6, height=4)
        pinned = (await services.boards.pin("anna", board.id, new)).pin
    shown = await read_pin(services, anna, pinned)
    assert shown.pin.result is not None
    assert shown.pin.result.rows_head == [[3]]  # of the database that the pin names


async def test_answers_of_a_further_database_stay_with_its_rights_when_it_is_taken_away(
    services: Services, shop: Connection, model: ScriptedModel, tmp_path: Path
) -> None:
    databases = services.database_connections
    path = make_shop(tmp_path / "open.db")
    main = await databases.register("anna", f"sqlite:///{path}", "Open", description="", shared=True)
    model.rule("", "All of them.")
    with calling(person("anna", ANNA)):
        session = await services.sessions.create(
            "anna", main.id, None, mode="ask", metadata={}, also=[shop.id]
        )
        _, run = await services.sessions.ask("anna", session.id, NewQuestion(ASKED, sql=COUNT))
        _ = [entry async for entry in services.sessions.follower.events(run)]
        answer = next(each for each in await services.sessions.history(session) if each.role == "assistant")
        await services.sessions.change("anna", session.id, {"also": []})
        changed = await services.sessions.change("anna", session.id, {"also": [main.id]})
        assert (changed.also, changed.also_before) == ((main.id,), (shop.id,))
        with pytest.raises(NotOffered):
            await services.sharing.add("anna", "answer", answer.id, days=1)
        with pytest.raises(NotOffered):
            await services.sharing.add("anna", "session", session.id, days=1)
        board = await services.boards.create("anna", "Mine")
        new = NewPin(message_id=answer.id, title=None, chart_choice=None, width=6, height=4)
        pinned = (await services.boards.pin("anna", board.id, new)).pin
    shown = await read_pin(services, person("anna", ANNA), pinned)
    assert shown.pin.result is not None
    assert shown.pin.result.rows_head == [[3]]  # of the database that the pin names


async def test_shared_facts_and_the_graph_memory_are_closed_while_policies_hold(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    model.rule("SQL writer", "```sql\nSELECT id FROM customers\n```")
    fact = NewFact(
        owner="anna",
        scope="shared",
        kind="terminology",
        text="A buyer on the tree is a customer of Oslo",
        source=FactSource(origin="promotion", at=0),
        connection_id=shop.id,
    )
    with pytest.raises(FactPlaceUnclear, match="Write it as an instruction"):
        await services.facts.keep(fact)
    mine = replace(fact, scope="workspace", text="Mine is Ann", about=("customers",))
    own = await services.facts.keep(mine)
    with pytest.raises(FactPlaceUnclear, match="Write it as an instruction"):
        await services.facts.promote("anna", own.fact.id, "shared", source=fact.source)
    assert await services.facts.stale("anna", [own.fact]) == frozenset()  # of an export without a person
    await services.connection_policies.change("anna", shop.id, None)
    await services.facts.keep(fact)
    allows_outside: list[bool] = []
    recalled: list[bool] = []
    for policies in (None, POLICIES):
        await services.connection_policies.change("anna", shop.id, policies)
        await services.database_connections.change("anna", shop.id, {"external_memory": True})
        held = await services.database_connections.repository.get("anna", shop.id)
        model.forget()
        model.rule("", "All of them.")
        model.rule("SQL writer", "```sql\nSELECT id FROM customers\n```")
        await ask(services, held, person("bob", BOB), None)
        recalled.append(any("Oslo" in each.text for each in model.requests))
        allows_outside.append((await services.external_memory.outside_memory("bob", shop.id)).allowed)
        found = await services.facts.first("bob", FactFilter(connection_id=shop.id), 5)
        assert len(found) == (policies is None)
    assert recalled == allows_outside == [True, False]


async def test_a_webhook_sends_no_answer_from_before_a_change_of_policies(
    services: Services, shop: Connection, model: ScriptedModel
) -> None:
    model.rule("", "All of them.")
    with calling(person("anna", ANNA)):
        session = await services.sessions.create("anna", shop.id, None, mode="ask", metadata={})
        _, run = await services.sessions.ask("anna", session.id, NewQuestion(ASKED, sql=COUNT))
        _ = [entry async for entry in services.sessions.follower.events(run)]
    databases = services.database_connections.repository
    subjects = RunSubjects(SessionRepository(services.storage), databases)
    sent = await subjects.data(run.id, "answer")
    assert sent is not None
    assert sent["rows"] == [[2]]
    await services.connection_policies.change("anna", shop.id, POLICIES)
    sent = await subjects.data(run.id, "answer")
    assert sent is not None
    assert (sent["sql"], sent["analysis"], sent["rows"], sent["run_id"]) == (None, None, [], run.id)


async def test_the_cache_of_checked_statements_does_not_mix_people(
    services: Services, shop: Connection
) -> None:
    databases = services.database_connections
    for _ in range(3):
        for owner, attributes, count in (("anna", ANNA, 2), ("bob", BOB, 1)):
            with calling(person(owner, attributes)):
                found = await databases.run(shop, COUNT, Asker(owner=owner, purpose="question"))
                assert found.rows == [[count]]


async def test_policies_with_errors_are_refused_by_their_place(services: Services, shop: Connection) -> None:
    wrong = {
        "country": "no_such_column = 1",
        "quotes": "country = '{{ user.country }}'",
        "syntax": "country = ) OR (1 = 1",
        "function": "load_extension('x') = 1",
        "table": "id IN (SELECT id FROM no_such_table)",
    }
    for condition in wrong.values():
        bad = {"name": "bad", "tables": {"customers": {"rows": [condition]}}}
        written = {"default": "deny", "policies": [bad]}
        with pytest.raises(PoliciesRefused, match=r"policy 'bad', table 'customers', rows\[0\]"):
            await services.connection_policies.change("anna", shop.id, Policies.model_validate(written))
    unknown = {"default": "allow", "policies": [{"name": "bad", "tables": {"customer": {"hidden": True}}}]}
    with pytest.raises(PoliciesRefused, match="no table of this name"):
        await services.connection_policies.change("anna", shop.id, Policies.model_validate(unknown))
    shown = await services.connection_policies.test(
        "anna", shop.id, Person("bob", BOB), sql="SELECT name FROM customers", policies=None
    )
    assert "'Japan'" in shown.sql
    assert "<key>" in shown.sql
    assert (shown.row_policies, shown.column_policies) == (["own country"], ["own country"])


class ByCountry(Identity):
    """Takes a credential for the country of the person anna."""

    async def caller(self, credential: str | None) -> Caller:
        return person("anna", {} if credential is None else {"country": credential})


async def test_routes_read_change_check_and_test_policies(
    services: Services, shop: Connection, tmp_path: Path
) -> None:
    identity = ByCountry(services.identity.keys, None, login_required=True)
    app = create_app(replace(services, identity=identity), Settings(data_dir=tmp_path))
    where = f"/api/v1/database-connections/{shop.id}"
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        client.headers["X-API-Key"] = "Japan"
        read = await client.get(f"{where}/policies")
        assert read.json()["policies"]["policies"][0]["name"] == "own country"
        sample = await client.get(f"{where}/tables/customers/sample")
        assert [row[2] for row in sample.json()["rows"]] == ["Japan"]
        tag = {"If-Match": read.headers["ETag"]}
        policies = {"default": "deny", "policies": []}
        checked = await client.post(f"{where}/policies/check", json=policies)
        assert {each["kind"] for each in checked.json()["items"]} == {"warning"}
        body = {"sql": COUNT, "owner": "bob", "attributes": {"country": "Norway"}}
        tested = await client.post(f"{where}/policies/test", json=body)
        assert "'Norway'" in tested.json()["sql"]
        changed = await client.patch(f"{where}/policies", json={"policies": policies}, headers=tag)
        assert changed.status_code == 200
        again = await client.patch(f"{where}/policies", json={"policies": None}, headers=tag)
        assert again.status_code == 412
        refused = await client.get(f"{where}/tables/customers/sample")
        assert refused.status_code == 404
        text = changed.json()["text"]
        assert text == "default: deny\npolicies: []\n"
        wrong = await client.patch(f"{where}/policies", json={"policies": text.replace("deny", "perhaps")})
        assert (wrong.status_code, "line 1: default" in wrong.text) == (422, True)
        kept = await client.patch(f"{where}/policies", json={"policies": f"# All hidden.\n{text}"})
        assert kept.json()["policies"] == {"default": "deny"}
        ended = await client.patch(f"{where}/policies", json={"policies": None})
        assert ended.json()["policies"] is None
        sample = await client.get(f"{where}/tables/customers/sample")
        assert len(sample.json()["rows"]) == 3


async def test_a_database_of_another_kind_takes_no_policies(services: Services, tmp_path: Path) -> None:
    snow = Connection(
        id=created_id(),
        owner="anna",
        name="Snow",
        description="",
        dialect="snowflake",
        masked_url="snowflake://",
        encrypted_url="",
        created_at=0,
    )
    await services.database_connections.repository.save(snow)
    identity = ByCountry(services.identity.keys, None, login_required=True)
    app = create_app(replace(services, identity=identity), Settings(data_dir=tmp_path))
    where = f"/api/v1/database-connections/{snow.id}/policies"
    policies = {"default": "deny", "policies": []}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        client.headers["X-API-Key"] = "Japan"
        trial = {"sql": "SELECT 1", "owner": "bob", "policies": policies}
        for answer in (
            await client.patch(where, json={"policies": policies}),
            await client.post(f"{where}/check", json=policies),
            await client.post(f"{where}/test", json=trial),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (
                422,
                "KAI has no proof that policies hold on Snowflake. Limit people there by the database.",
            )
        assert (await client.get(where)).json()["policies"] is None
