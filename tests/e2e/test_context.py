"""What prompts hold of the page and of the database, and what is withheld."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import model_settings
from tests.support.keys import made_key
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Client, chunks, client_of, running_server

SQL = "```sql\nSELECT city, count(*) AS n FROM customers GROUP BY city\n```"
SHOWN = "## What the page shows"


@pytest.fixture
def towns(tmp_path: Path) -> str:
    path = tmp_path / "towns.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);"
            "CREATE TABLE invoices (id INTEGER PRIMARY KEY, total REAL);"
            "INSERT INTO customers (city) VALUES ('Zanzibar'), ('Zanzibar'), ('Zanzibar');"
            "INSERT INTO customers (city) VALUES ('Oslo'), ('Oslo');"
        )
    return f"sqlite:///{path}"


async def ask(kai: Client, session: str, model: ScriptedModel, **body: object) -> str:
    """Returns the prompt for the statement."""
    before = len(model.requests)
    model.say(SQL, "Two towns.")
    events = await kai.ask(session, "How many customers by city?", **body)
    assert events[-1].data["status"] == "complete"
    return model.requests[before].text


async def test_the_model_reads_about_what_the_page_shows(
    kai: Client, model: ScriptedModel, towns: str
) -> None:
    connection = await kai.connect(towns)
    session = await kai.open_session(connection)
    assert SHOWN not in await ask(kai, session, model)
    answer = (await kai.session(session))["messages"]["items"][-1]["id"]
    table = await ask(kai, session, model, about={"kind": "table", "id": "customers"})
    assert "Table customers:" in table
    assert "Its last statements:" in table
    by_id = await ask(kai, session, model, about={"kind": "table", "id": f"{connection}/customers"})
    assert "Table customers:" in by_id
    database = await ask(kai, session, model, about={"kind": "connection", "id": connection})
    assert "Tables: customers, invoices" in database
    assert "- How many customers by city?" in database
    result = await ask(kai, session, model, about={"kind": "result", "id": answer})
    assert "Columns: city (text), n (integer)" in result
    assert "city: 2 values, 2 distinct, from 'Oslo' to 'Zanzibar'" in result
    assert "Databases:" in await ask(kai, session, model, about={"kind": "none"})


async def test_a_failed_answer_is_shown_with_its_error(kai: Client, model: ScriptedModel, towns: str) -> None:
    session = await kai.open_session(await kai.connect(towns))
    events = await kai.ask(session, "Which?", sql="SELECT missing FROM customers")
    assert events[-1].data["status"] == "failed"
    failed = (await kai.session(session))["messages"]["items"][-1]["id"]
    shown = await ask(kai, session, model, about={"kind": "failed_answer", "id": failed})
    assert "Status: failed" in shown
    assert "Error: " in shown


@pytest.mark.parametrize(
    "about",
    [
        {"kind": "table", "id": "nothing"},
        {"kind": "table"},
        {"kind": "connection", "id": "01970000-0000-7000-8000-000000000000"},
        {"kind": "connection", "id": "../../etc"},
        {"kind": "result", "id": "01970000-0000-7000-8000-000000000000"},
        {"kind": "failed_answer", "id": "x"},
    ],
)
async def test_unknown_things_are_left_out(
    kai: Client, model: ScriptedModel, towns: str, about: dict[str, str]
) -> None:
    session = await kai.open_session(await kai.connect(towns))
    assert SHOWN not in await ask(kai, session, model, about=about)


async def test_things_of_another_owner_are_left_out(model: ScriptedModel, towns: str, tmp_path: Path) -> None:
    data = tmp_path / "kai"
    data.mkdir()
    keys = [made_key(data, owner, "--role", "admin") for owner in ("ann", "bob")]
    settings = {**model_settings(model), "KAI_AUTH__REQUIRED": "true"}
    with running_server(data, settings) as server:
        async with client_of(server) as ann, client_of(server) as bob:
            for each, key in zip((ann, bob), keys, strict=True):
                each.http.headers["X-API-Key"] = key
            connection = await ann.connect(towns)
            session = await ann.open_session(connection)
            await ask(ann, session, model)
            answer = (await ann.session(session))["messages"]["items"][-1]["id"]
            things = {"table": f"{connection}/customers", "connection": connection, "result": answer}
            for kind, thing in things.items():
                assert SHOWN in await ask(ann, session, model, about={"kind": kind, "id": thing})
            own = await bob.open_session(await bob.connect(towns))
            for kind, thing in things.items():
                assert SHOWN not in await ask(bob, own, model, about={"kind": kind, "id": thing})


async def test_without_investigations_prompts_show_nothing_of_the_page(
    model: ScriptedModel, towns: str, tmp_path: Path
) -> None:
    with running_server(tmp_path / "kai", {**model_settings(model), "KAI_AGENT__ENABLED": "false"}) as server:
        async with client_of(server) as kai:
            session = await kai.open_session(await kai.connect(towns))
            assert SHOWN not in await ask(kai, session, model, about={"kind": "table", "id": "customers"})


async def test_an_about_of_another_kind_is_refused(kai: Client, towns: str) -> None:
    session = await kai.open_session(await kai.connect(towns))
    for about in ({"kind": "file"}, {"kind": "table", "x": 1}, "table"):
        body = {"query": "Q", "about": about}
        assert (await kai.http.post(f"/sessions/{session}/query/stream", json=body)).status_code == 422


KINDS = ["schema", "values", "rows", "history", "knowledge", "memory", "tool_results"]


@pytest.mark.parametrize("withheld", ["schema", "values", "rows", "history", "knowledge"])
async def test_what_is_withheld_reaches_no_model_and_is_named(
    model: ScriptedModel, towns: str, tmp_path: Path, withheld: str
) -> None:
    allowed = "[" + ", ".join(f'"{kind}"' for kind in KINDS if kind != withheld) + "]"
    settings = {**model_settings(model), "KAI_LLM__ALLOWED_CONTEXT": allowed}
    with running_server(tmp_path / "kai", settings) as server:
        async with client_of(server) as kai:
            connection = await kai.connect(towns)
            term = {"db_connection_id": connection, "term": "customers", "meaning": "people in KNOWLEDGE"}
            assert (await kai.http.post("/glossary", json=term)).status_code == 201
            other = (
                await kai.http.post("/database-connections", json={"url": towns, "name": "other"})
            ).json()
            both = {"db_connection_id": connection, "also_db_connection_ids": [other["id"]]}
            session = (await kai.http.post("/sessions", json=both)).json()["id"]
            model.rule(lambda _: True, SQL)
            events = []
            for question in ("How many customers by city, FIRSTLY?", "And of customers now?"):
                events = await kai.ask(session, question)
                assert events[-1].data["status"] == "complete", events
            assert chunks(events, "analysis")[0]
            prompts = [request.text for request in model.requests]
            assert len(prompts) >= 2
            for prompt in prompts:
                assert ("CREATE TABLE customers" in prompt) is False or withheld != "schema"
                assert "-- in other" not in prompt or withheld != "schema"
                if withheld in ("values", "rows"):
                    assert "[[" not in prompt
                if withheld == "values":
                    assert "'Zanzibar'" not in prompt
                if withheld == "rows":
                    assert '["Zanzibar"' not in prompt
            systems = [request.messages[0]["content"] for request in model.requests]
            assert any(f"no model read: {withheld}" in system for system in systems)
            if withheld == "knowledge":
                assert not any("KNOWLEDGE" in prompt for prompt in prompts)
            if withheld == "history":
                assert not any("FIRSTLY" in prompt for prompt in prompts[2:])
            capabilities = (await kai.http.get("/capabilities")).json()
            assert capabilities["investigations"]["on"] is (withheld == "knowledge")
