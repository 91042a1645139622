"""Rules: what models read of them, and who sees and changes them."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import model_settings
from tests.e2e.test_investigations import PLAN, finish, per_year
from tests.support.choices import FIRST
from tests.support.keys import made_key
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, Server, client_of, running_server

SQL = "SELECT count(*) AS n FROM customers"
REPLY = f"```sql\n{SQL}\n```"
LIMITED = ("--scope", "read", "--scope", "ask", "--scope", "manage")
HEADING = "## Rules\nFollow these rules"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules")
    files = {
        "global/tax.md": "---\npriority: 10\n---\nState revenue without tax.",
        "modes/agent/careful.md": "Ask before you write.",
        "global/broken.md": "---\npriority: high\n---\nNEVER SHOWN",
        "AGENTS.md": "---\napply: manual\n---\nAnswer in German.",
    }
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ruled")


@pytest.fixture(scope="module")
def keys(data: Path) -> dict[str, str]:
    return {
        "ann": made_key(data, "ann", "--role", "admin", *LIMITED),
        "bob": made_key(data, "bob", "--role", "admin", *LIMITED),
        "root": made_key(data, "root", "--role", "admin"),
    }


@pytest.fixture(scope="module")
def server(data: Path, keys: dict[str, str], model_of_all: ScriptedModel, folder: Path) -> Iterator[Server]:
    settings = {
        **model_settings(model_of_all),
        "KAI_AUTH__REQUIRED": "true",
        "KAI_RULES__PATH": str(folder),
    }
    with running_server(data, settings) as running:
        yield running


@asynccontextmanager
async def caller(server: Server, key: str) -> AsyncGenerator[Client]:
    async with client_of(server) as client:
        client.http.headers["X-API-Key"] = key
        yield client


@pytest.fixture
async def ann(server: Server, keys: dict[str, str], model: ScriptedModel) -> AsyncGenerator[Client]:
    async with caller(server, keys["ann"]) as client:
        yield client
        await client.until_idle()


@pytest.fixture
async def bob(server: Server, keys: dict[str, str]) -> AsyncGenerator[Client]:
    async with caller(server, keys["bob"]) as client:
        yield client


@pytest.fixture
async def root(server: Server, keys: dict[str, str]) -> AsyncGenerator[Client]:
    async with caller(server, keys["root"]) as client:
        yield client


def system(model: ScriptedModel, at: int) -> str:
    message = model.requests[at].messages[0]
    assert message["role"] == "system"
    return message["content"]


async def add(client: Client, **body: object) -> httpx.Response:
    return await client.http.post("/rules", json=body)


async def test_rules_stand_in_the_system_message_of_pipeline_and_loop_in_their_order(
    ann: Client, root: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await ann.connect(shop)
    mine = {"scope": {"connections": [connection]}}
    assert (await add(ann, name="round", text="Round to euros.", priority=5, **mine)).status_code == 201
    assert (
        await add(ann, name="salaries", text="Never show salaries.", priority=20, **mine)
    ).status_code == 201
    session = await ann.open_session(connection)
    model.say(REPLY, "There are three.")
    await ann.ask(session, "How many customers?")
    model.say(PLAN, per_year(), finish("It rose."))
    await ann.ask(session, "Why did revenue change?")
    assert len(model.requests) == 5
    for at in range(5):
        prompt = system(model, at)
        assert prompt.count(HEADING) == 1
        assert "the earlier one counts" in prompt
        places = [prompt.index(each) for each in ("Round to euros.", "without tax.", "Never show salaries.")]
        assert places == sorted(places)
        assert not any(each in prompt for each in ("NEVER SHOWN", "Ask before you write", "German"))
        assert not any(HEADING in (each["content"] or "") for each in model.requests[at].messages[1:])
    for name in ("round", "salaries"):
        assert (await ann.http.delete(f"/rules/{name}")).status_code == 204


async def test_manual_rules_are_named_in_the_request_or_in_the_question(
    ann: Client, model: ScriptedModel, shop: str
) -> None:
    session = await ann.open_session(await ann.connect(shop))
    model.say(*(["```sql\nSELECT 1 AS n FROM customers\n```", FIRST] * 2))
    await ann.ask(session, "How many customers?", rules=["AGENTS"])
    await ann.ask(session, "How many clients, @agents?")
    assert all("Answer in German." in system(model, at) for at in (0, 1, 2, 3))
    answer = await ann.http.post(
        f"/sessions/{session}/query/stream", json={"query": "How many?", "rules": ["tax", "nothing"]}
    )
    assert (answer.status_code, answer.json()["rules"]) == (422, ["nothing"])


async def test_a_question_by_statement_has_the_rules_in_its_analysis(
    ann: Client, model: ScriptedModel, shop: str
) -> None:
    session = await ann.open_session(await ann.connect(shop))
    model.say(FIRST)
    await ann.ask(session, "How many?", sql=SQL)
    assert "State revenue without tax." in system(model, 0)


async def test_a_rule_draws_the_proposed_chart_and_words_beyond_the_form_are_read_by_the_model(
    ann: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await ann.connect(shop)
    rule = {"scope": {"connections": [connection]}, "chart": "as a pie", "chart_of": ["customers"]}
    added = await add(ann, name="pies", text="Customers are shown as a pie.", **rule)
    assert (added.json()["chart"], added.json()["chart_of"]) == ("as a pie", ["customers"])
    session = await ann.open_session(connection)
    sql = "SELECT country, count(*) AS customers FROM customers GROUP BY 1 ORDER BY 2 DESC"
    model.say(f"```sql\n{sql}\n```", FIRST)
    await ann.ask(session, "Customers per country?")
    (answer,) = (await ann.http.get(f"/sessions/{session}")).json()["messages"]["items"][1:]
    note = answer["chart"]["usermeta"]["kai"]
    assert (note["mark"], note["rule"]["name"]) == ("arc", "pies")
    assert "Drawn as your rule pies asks." in note["how"]
    asked = len(model.requests)
    model.say('{"mark": "bar", "color": null, "sort": "name", "take_back": [], "not_understood": ["warmly"]}')
    path = f"/sessions/{session}/messages/{answer['id']}/chart"
    read = (await ann.http.post(path, json={"words": "like towers in a row, warmly"})).json()
    assert read["choice"] == {"mark": "bar", "sort": "name"}
    assert read["not_understood"] == ["warmly"]
    assert read["chart"]["usermeta"]["kai"]["mark"] == "bar"
    prompt = str(model.requests[-1].messages)
    assert "1 = customers" in prompt
    assert not any(name in prompt for name in ("Germany", "France", "Austria"))
    assert (await ann.http.post(path, json={"words": "in green"})).json()["choice"] == {"color": "#2e7d32"}
    assert len(model.requests) == asked + 1
    assert (await ann.http.delete("/rules/pies")).status_code == 204


async def test_toggling_a_file_is_a_record_of_its_own(
    ann: Client, root: Client, model: ScriptedModel, shop: str, folder: Path
) -> None:
    before = (folder / "global/tax.md").read_text()
    refused = await ann.http.patch("/rules/tax", json={"active": False})
    assert (refused.status_code, refused.json()["missing_scope"]) == (403, "admin")
    assert (await root.http.patch("/rules/tax", json={"active": False})).json()["active"] is False
    session = await ann.open_session(await ann.connect(shop))
    model.say(REPLY, FIRST)
    await ann.ask(session, "How many customers?")
    assert HEADING not in system(model, 0)
    assert (await root.http.patch("/rules/tax", json={"active": True})).json()["active"] is True
    assert (folder / "global/tax.md").read_text() == before
    changed = await root.http.patch("/rules/tax", json={"text": "With tax."})
    assert (changed.status_code, changed.json()["type"]) == (409, "urn:kai:rule-of-file")
    assert (await root.http.delete("/rules/tax")).status_code == 409


async def test_rules_without_room_are_named_in_a_status(ann: Client, model: ScriptedModel, shop: str) -> None:
    connection = await ann.connect(shop)
    long = "This sentence is one of many that say the same thing. " * 140
    for name, priority in (("first", 50), ("second", 60)):
        made = await add(ann, name=name, text=long, priority=priority, scope={"connections": [connection]})
        assert made.status_code == 201
    second = (await ann.http.get("/rules/second")).json()
    assert any("left out" in each for each in second["warnings"])
    model.say(REPLY, FIRST)
    events = await ann.ask(await ann.open_session(connection), "How many customers?")
    said = [event.data["message"] for event in events if event.name == "status"]
    assert "There is no room for the rules second" in said
    assert "### first" in system(model, 0)
    assert "### second" not in system(model, 0)
    for name in ("first", "second"):
        await ann.http.delete(f"/rules/{name}")


async def test_the_list_shows_files_with_their_faults_and_pages_by_cursor(ann: Client) -> None:
    rules = (await ann.http.get("/rules")).json()["items"]
    shown = {each["name"]: each for each in rules}
    assert set(shown) == {"tax", "careful", "broken", "agents"}
    assert (shown["tax"]["source"], shown["tax"]["path"]) == ("file", "global/tax.md")
    assert shown["careful"]["scope"]["chat_modes"] == ["agent"]
    assert shown["broken"]["applied"] is False
    assert "priority" in shown["broken"]["warnings"][0]
    names, cursor = [], None
    while True:
        page = (
            await ann.http.get("/rules", params={"limit": 1, **({"cursor": cursor} if cursor else {})})
        ).json()
        names += [each["name"] for each in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert names == [each["name"] for each in rules]


async def test_an_owner_sees_and_changes_their_own_rules_and_administrators_those_of_all(
    ann: Client, bob: Client, root: Client, shop: str
) -> None:
    connection = await ann.connect(shop)
    mine = {"connections": [connection]}
    assert (await add(ann, name="secret", text="Ann's rule.", scope=mine)).status_code == 201
    assert (await add(ann, name="Secret", text="Again.", scope=mine)).status_code == 409
    unknown = await bob.http.get("/rules/unknown")
    for client in (bob, root):
        for method, body in (("GET", None), ("PATCH", {"active": False}), ("DELETE", None)):
            answer = await client.http.request(method, "/rules/secret", json=body)
            assert (answer.status_code, answer.content) == (404, unknown.content), method
        listed = (await client.http.get("/rules", params={"db_connection_id": connection})).json()["items"]
        assert listed == []
    assert (await add(bob, name="theirs", text="x", scope=mine)).status_code == 404
    for_all = await add(ann, name="all", text="For all.")
    assert (for_all.status_code, for_all.json()["missing_scope"]) == (403, "admin")
    assert (await add(root, name="all", text="For all.")).status_code == 201
    assert (await bob.http.get("/rules/all")).json()["owner"] == "root"
    assert (await bob.http.patch("/rules/all", json={"active": False})).status_code == 403
    assert (await bob.http.delete("/rules/all")).status_code == 403
    widened = await ann.http.patch("/rules/secret", json={"scope": {}})
    assert widened.status_code == 403
    assert (await root.http.delete("/rules/all")).status_code == 204
    assert (await ann.http.delete("/rules/secret")).status_code == 204
    assert (await ann.http.delete("/rules/secret")).status_code == 404


async def test_the_owner_of_a_shared_connection_rules_how_it_is_read(
    ann: Client, bob: Client, model: ScriptedModel, shop: str
) -> None:
    connection = await ann.connect(shop)
    await add(ann, name="mine", text="Leave out test customers.", scope={"connections": [connection]})
    await ann.http.patch(f"/database-connections/{connection}", json={"shared": True})
    listed = (await bob.http.get("/rules", params={"db_connection_id": connection})).json()["items"]
    assert "mine" in [each["name"] for each in listed]
    model.say(REPLY, FIRST)
    await bob.ask(await bob.open_session(connection), "How many customers?")
    assert "Leave out test customers." in system(model, 0)
    await bob.until_idle()
    await ann.http.delete("/rules/mine")


async def test_front_matter_of_a_stored_rule_counts_where_the_body_has_no_field(
    ann: Client, shop: str
) -> None:
    connection = await ann.connect(shop)
    source = f"---\napply: manual\npriority: 7\nscope: {{connections: [{connection}]}}\n---\n# Tax\nNo tax."
    made = (await add(ann, name="front", text=source, priority=8)).json()
    assert (made["apply"], made["priority"], made["text"]) == ("manual", 8, "# Tax\nNo tax.")
    changed = (await ann.http.patch("/rules/front", json={"text": "With tax."})).json()
    assert (changed["apply"], changed["priority"], changed["text"]) == ("manual", 8, "With tax.")
    off = (await ann.http.patch("/rules/front", json={"active": False, "priority": 9})).json()
    assert (off["active"], off["priority"]) == (False, 9)
    for body in (
        {"name": "x", "text": "---\napply: never\n---\nx"},
        {"name": "x", "text": "---\n---\n "},
        {"name": "x y", "text": "x"},
        {"name": "x", "text": "x", "priority": "1"},
        {"name": "x", "text": "x" * 17_000},
    ):
        assert (await add(ann, **body)).status_code == 422, body
    await ann.http.delete("/rules/front")


async def test_contradictions_are_reported_when_a_rule_is_stored(ann: Client, shop: str) -> None:
    connection = await ann.connect(shop)
    scope = {"connections": [connection]}
    await add(ann, name="one", text="Round amounts to whole euros.", scope=scope)
    made = (await add(ann, name="two", text="Never round amounts to whole euros.", scope=scope)).json()
    assert "contradict one" in made["warnings"][0]
    for name in ("one", "two"):
        await ann.http.delete(f"/rules/{name}")


async def test_switched_off_agent_mode_has_no_routes_and_no_rules_in_the_prompt(
    model: ScriptedModel, shop: str, folder: Path, tmp_path: Path
) -> None:
    settings = {
        **model_settings(model),
        "KAI_RULES__PATH": str(folder),
        "KAI_AGENT__ENABLED": "false",
    }
    with running_server(tmp_path, settings) as server:
        async with client_of(server) as kai:
            model.say(REPLY, FIRST)
            events = await kai.ask(
                await kai.open_session(await kai.connect(shop)), "How many?", rules=["tax"]
            )
            assert events[-1].data["status"] == "complete"
            for request in model.requests:
                assert HEADING not in request.messages[0]["content"]
                assert "INVESTIGATE" not in request.text
                assert not request.tools
            toggle = {"active": True}
            for method, path, body in (
                ("GET", "/rules", None),
                ("GET", "/rules/tax", None),
                ("POST", "/rules", {"name": "a", "text": "b"}),
                ("PATCH", "/rules/tax", toggle),
                ("DELETE", "/rules/tax", None),
                ("GET", "/tools", None),
            ):
                answer = await kai.http.request(method, path, json=body)
                assert answer.status_code == 404, (method, path)
            capabilities = (await kai.http.get("/capabilities")).json()
            assert capabilities["rules"]["on"] is False
            assert "KAI_AGENT__ENABLED" in capabilities["rules"]["reason"]
