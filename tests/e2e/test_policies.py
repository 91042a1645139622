"""Two people ask one database with policies by every protocol: no answer holds what the policies hide."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import duckdb
import httpx
import pytest

from tests.e2e.conftest import model_settings
from tests.support.keys import made_key
from tests.support.mcp_client import mcp_client, text_of
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.server import Server, running_server
from tests.support.waiting import until

SHOP = """
create table customers (id integer, name varchar, country varchar, email varchar, wageamount integer);
insert into customers values (1, 'Ada', 'Norway', 'ada@kept.example', 111222),
    (2, 'Zebrawood', 'Quokkaland', 'z@kept.example', 987654), (3, 'Cleo', 'Norway', null, 333444);
create table vaulttable (vaultgold varchar);
insert into vaulttable values ('goldvalue');
"""
POLICIES = {
    "default": "allow",
    "policies": [
        {
            "name": "own country",
            "tables": {
                "customers": {
                    "rows": ["country = {{ user.country }}"],
                    "columns": {"wageamount": "hidden", "email": "hash"},
                },
                "vaulttable": {"hidden": True},
            },
        }
    ],
}
UNKNOWN = ("wageamount", "vaulttable", "vaultgold", "goldvalue", "kept.example", "111222", "987654", "_p.")
"""Hidden from both people; the last is what the rewrite writes."""
OF_OTHERS = {"anna": ("Zebrawood", "Quokkaland"), "bob": ("Ada", "Cleo", "Norway")}
COUNTRIES = {"anna": "Norway", "bob": "Quokkaland"}
STATEMENTS = (
    "SELECT * FROM customers ORDER BY id",
    "SELECT c FROM customers c",
    "SELECT CAST(name AS INTEGER) FROM customers",
    "SELECT sha256(email)::INTEGER FROM customers",
    "SELECT id FROM customers WHERE CASE WHEN id = 2 THEN name ELSE '1' END::INTEGER = 1",
    "SELECT * FROM custommers",
    "EXPLAIN SELECT * FROM customers",
)
QUESTION = "Which customers are there?"


@dataclass
class House:
    """A running server, its scripted model, and clients of the owner of the database and of two people."""

    server: Server
    model: ScriptedModel
    clients: Mapping[str, httpx.Client]
    keys: Mapping[str, str]
    database: str
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Doors that one person used, and what came out of them."""

    def see(self, door: str, answer: httpx.Response) -> httpx.Response:
        self.seen.append((f"{door} {answer.status_code}", f"{answer.text} {dict(answer.headers)}"))
        return answer


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("policies")
    with duckdb.connect(str(data / "shop.duckdb")) as connection:
        connection.execute(SHOP)
    of_bob = f"country={COUNTRIES['bob']}"
    keys = {
        "olga": made_key(data, "olga", "--role", "admin"),
        "bob": made_key(data, "bob", "--role", "admin", "--attribute", of_bob),
    }
    with (
        scripted_model() as model,
        running_server(data, {**model_settings(model), "KAI_AUTH__REQUIRED": "true"}, data / "log") as server,
    ):
        clients = {"olga": _client(server, keys["olga"])}
        of_anna = {"country": COUNTRIES["anna"]}
        body = {"owner": "anna", "role": "admin", "days": 1, "attributes": of_anna}
        keys["anna"] = clients["olga"].post("/api/v1/api-keys", json=body).json()["key"]
        clients |= {name: _client(server, keys[name]) for name in COUNTRIES}
        olga = clients["olga"]
        new = {"url": f"duckdb:///{data / 'shop.duckdb'}", "name": "Shop", "shared": True}
        database = _made(olga.post("/api/v1/database-connections", json=new))
        mine = {"db_connection_id": database}
        _made(olga.post("/api/v1/glossary", json={**mine, "term": "gold", "meaning": "See vaulttable."}))
        _made(olga.post("/api/v1/instructions", json={**mine, "text": "Pay is wageamount of customers."}))
        example = {"question": "How much gold?", "sql": "SELECT vaultgold FROM vaulttable"}
        _made(olga.post("/api/v1/examples", json={**mine, **example}))
        changed = olga.patch(f"/api/v1/database-connections/{database}/policies", json={"policies": POLICIES})
        assert changed.status_code == 200, changed.text
        yield House(server, model, clients, keys, database)
        for client in clients.values():
            client.close()


def _client(server: Server, key: str) -> httpx.Client:
    return httpx.Client(base_url=server.address, timeout=60, headers={"Authorization": f"Bearer {key}"})


def _made(answer: httpx.Response) -> str:
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_no_door_shows_a_person_what_the_policies_hide(house: House) -> None:
    ids: dict[str, Mapping[str, str]] = {}
    shown: dict[str, list[tuple[str, str]]] = {}
    for person in ("bob", "anna"):  # so that what is kept for one could reach the other
        house.model.forget()
        house.model.rule("", "These are they.")
        house.model.rule("SQL writer", "```sql\nSELECT * FROM customers ORDER BY id\n```")
        house.seen = []
        ids[person] = await _use_api(house, person)
        _use_openai(house, person)
        _use_agui(house, person)
        _use_langgraph(house, person)
        await _use_mcp(house, person)
        _read_everything(house, person, ids[person])
        house.seen += [("prompt", each.text) for each in house.model.requests]
        shown[person] = house.seen
    house.seen = []
    _read_everything(house, "anna", ids["bob"])
    shown["anna"] += house.seen
    leaks = [
        (person, door, hidden, text[max(0, text.find(hidden) - 80) :][:200])
        for person, seen in shown.items()
        for door, text in seen
        for hidden in (*UNKNOWN, *OF_OTHERS[person])
        if hidden in text
    ]
    assert not leaks, "\n".join(map(str, leaks))
    assert house.server.log is not None
    log = house.server.log.read_text()
    assert "['own country']" in log
    values = (*UNKNOWN[3:], *OF_OTHERS["anna"], *OF_OTHERS["bob"])  # its readers may know names
    assert [each for each in values if each in log] == []
    for person, own in (("anna", "Cleo"), ("bob", "Zebrawood")):
        doors = {door.split()[0] for door, text in shown[person] if own in text}
        assert doors >= {
            "api",
            "openai",
            "ag-ui",
            "langgraph",
            "mcp",
            "rows",
            "xlsx",
            "pin",
            "sample",
            "prompt",
        }


async def _use_api(house: House, person: str) -> Mapping[str, str]:
    """Returns what the person made by it, by the names of parameters of routes."""
    http, mine = house.clients[person], {"db_connection_id": house.database}
    session = _made(http.post("/api/v1/sessions", json=mine))
    house.see("api", http.post(f"/api/v1/sessions/{session}/query/stream", json={"query": QUESTION}))
    for sql in STATEMENTS:
        house.see("api", http.post("/api/v1/ask", json={**mine, "query": QUESTION, "sql": sql}))
        checked = {"sql": sql}
        house.see(
            "check", http.post(f"/api/v1/database-connections/{house.database}/statements", json=checked)
        )
    house.see("api", http.post("/api/v1/generate/sql", json={**mine, "query": QUESTION}))
    house.see("api", http.post("/api/v1/examples/matches", json={**mine, "statements": [STATEMENTS[0]]}))
    history = http.get(f"/api/v1/sessions/{session}").json()
    message = history["messages"]["items"][-1]["id"]
    part = {"kind": "answer", "message_id": message}
    for format_ in ("html", "ipynb", "markdown"):
        report = {"session_id": session, "parts": [part], "format": format_}
        house.see("report", http.post("/api/v1/reports", json=report))
    path = f"/api/v1/sessions/{session}/messages/{message}/rows"
    for form in ("application/json", "text/csv", "application/x-ndjson"):
        house.see("rows", http.get(path, headers={"Accept": form}))
    with ZipFile(BytesIO(http.get(path, params={"format": "xlsx"}).content)) as workbook:
        house.seen += [("xlsx", workbook.read(name).decode()) for name in workbook.namelist()]
    house.see("link", http.post("/api/v1/links", json={"kind": "answer", "target_id": message}))
    return {
        **await _use_boards(house, person, message),
        "db_connection_id": house.database,
        "session_id": session,
        "message_id": message,
        "run_id": http.get("/api/v1/runs").json()["items"][0]["run_id"],
        "table_name": "customers",
        "result_id": message,
        "number": "1",
        "ending": "svg",
    }


async def _use_boards(house: House, person: str, message: str) -> Mapping[str, str]:
    """Pins an answer, has it drawn and refreshed, and writes of it. Returns what was made."""
    http = house.clients[person]
    board = _made(http.post("/api/v1/boards", json={"title": "Mine"}))
    pin = house.see("pin", http.post(f"/api/v1/boards/{board}/pins", json={"message_id": message})).json()[
        "id"
    ]
    place = f"/api/v1/boards/{board}/pins/{pin}"

    async def is_done() -> bool:
        return bool(house.see("pin", http.get(place)).json()["state"] != "running")

    await until(is_done)
    house.see("chart", http.post(f"{place}/chart", json={"words": "as bars"}))
    house.see("report", http.post("/api/v1/reports", json={"board_id": board, "format": "html"}))
    schedule = {"board_id": board, "pin_id": pin, "cron": "0 8 * * *", "time_zone": "UTC"}
    comments = [
        house.see(
            "comment", http.post("/api/v1/comments", json={"kind": kind, "target_id": to, "text": "Why?"})
        )
        for kind, to in (("answer", message), ("board", board))
    ]
    for kind, to in (("answer", message), ("board", board)):
        house.see("comment", http.get("/api/v1/comments", params={"kind": kind, "target_id": to}))
    own = {"anna": "Cleo", "bob": "Zebrawood"}[person]
    fact = {"text": f"Mine is {own}.", "kind": "terminology", "scope": "workspace"}
    known = http.post("/api/v1/memory/facts", json={"db_connection_id": house.database, **fact})
    example = {"question": f"Where is {own}?", "sql": f"SELECT country FROM customers WHERE name = '{own}'"}
    written = http.post("/api/v1/examples", json={"db_connection_id": house.database, **example})
    assert written.status_code == 403  # what one person writes would reach the prompts of another
    house.see("metrics", http.get("/metrics"))
    return {
        "board_id": board,
        "pin_id": pin,
        "schedule_id": _made(http.post("/api/v1/schedules", json=schedule)),
        "comment_id": comments[0].json()["id"],
        "fact_id": known.json()["id"],
    }


def _use_openai(house: House, person: str) -> None:
    body = {"model": house.database, "messages": [{"role": "user", "content": QUESTION}]}
    for stream in (False, True):
        answer = house.clients[person].post("/openai/v1/chat/completions", json={**body, "stream": stream})
        house.see("openai", answer)
    house.see("openai", house.clients[person].get("/openai/v1/models"))


def _use_agui(house: House, person: str) -> None:
    message = {"id": "m", "role": "user", "content": QUESTION}
    run = {"threadId": f"t-{person}", "runId": f"r-{person}", "messages": [message]}
    house.see("ag-ui", house.clients[person].post(f"/ag-ui/{house.database}", json=run))


def _use_langgraph(house: House, person: str) -> None:
    http = house.clients[person]
    assistants = house.see("langgraph", http.post("/langgraph/assistants/search", json={})).json()
    assistant = next(each["assistant_id"] for each in assistants if house.database in str(each))
    thread = http.post("/langgraph/threads", json={}).json()["thread_id"]
    run: dict[str, Any] = {
        "assistant_id": assistant,
        "input": {"messages": [{"role": "user", "content": QUESTION}]},
        "stream_mode": ["values", "updates", "messages-tuple", "custom", "debug"],
    }
    house.see("langgraph", http.post(f"/langgraph/threads/{thread}/runs/stream", json=run))
    for path in ("state", "history", "runs"):
        house.see("langgraph", http.get(f"/langgraph/threads/{thread}/{path}"))
    house.see("langgraph", http.post("/langgraph/threads/search", json={}))


async def _use_mcp(house: House, person: str) -> None:
    async with mcp_client(house.server.address, house.keys[person]) as client:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("list_databases", {}),
            ("describe_database", {"database": house.database}),
            ("describe_tables", {"database": house.database, "names": ["customers"]}),
            ("ask", {"database": house.database, "question": QUESTION}),
            ("search_conversation_history", {"query": "customers"}),
            *(("run_sql", {"database": house.database, "sql": sql}) for sql in STATEMENTS[:3]),
        ]
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            house.seen.append((f"mcp {tool}", f"{text_of(result)} {result.structured_content}"))


def _read_everything(house: House, person: str, ids: Mapping[str, str]) -> None:
    """Reads each route of the API's description that these ids can fill."""
    http = house.clients[person]
    for path, methods in http.get("/api/v1/openapi.json").json()["paths"].items():
        if "get" not in methods or not path.startswith("/api/") or path.endswith("/policies"):
            continue
        names = [part.split("}")[0] for part in path.split("{")[1:]]
        if all(name in ids for name in names) and not path.endswith("/stream"):
            door = "sample" if path.endswith("/sample") else "read"
            house.see(f"{door} {path}", http.get(path.format_map(ids)))
    for path in ("glossary", "examples", "instructions", "knowledge/file", "memory/facts"):
        query = {"db_connection_id": house.database, "q": "gold"}
        house.see(f"read {path}", http.get(f"/api/v1/{path}", params=query))
