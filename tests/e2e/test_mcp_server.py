"""KAI as an MCP server, asked by the SDK's own client: both revisions, over HTTP and over stdio."""

import asyncio
import json
import re
import sqlite3
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, TextContent, TextResourceContents

from tests.e2e.conftest import SHOP
from tests.support.command_line import kai as kai_command
from tests.support.corpus import RUNS_ON, attacks
from tests.support.keys import made_key
from tests.support.mcp_client import kai_mcp, mcp_client, refused_by, said_by, text_of
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client as KaiClient
from tests.support.server import Server, running_server
from tests.support.waiting import until

REVISIONS = pytest.mark.parametrize("mode", ["auto", "legacy"])
TOOLS = {
    "list_databases",
    "describe_database",
    "describe_tables",
    "ask",
    "run_sql",
    "search_conversation_history",
    "get_user_memories",
}


def database_in(folder: Path) -> str:
    path = folder / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
    return f"sqlite:///{path}"


@dataclass(frozen=True)
class House:
    """A server that asks for a login, with a database of Ann's and keys of hers and Bob's."""

    server: Server
    data: Path
    database: str
    ann: str
    bob: str
    reader: str
    """A key of Ann's that only reads."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("mcp")
    ann, bob = (made_key(data, owner, "--role", "admin") for owner in ("ann", "bob"))
    reader = made_key(data, "ann", "--scope", "read")
    with running_server(data, {"KAI_AUTH__REQUIRED": "true"}) as server:
        url = database_in(data)
        made = httpx.post(
            f"{server.address}/api/v1/database-connections",
            json={"url": url, "name": "Shop"},
            headers={"X-API-Key": ann},
            timeout=60,
        )
        yield House(server, data, made.json()["id"], ann, bob, reader)


@REVISIONS
async def test_every_tool_only_reads_and_says_so(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.annotations.destructive_hint is False
        assert tool.output_schema is not None


@REVISIONS
async def test_a_question_is_answered_with_its_statement_rows_and_progress(house: House, mode: str) -> None:
    steps: list[str] = []

    async def note_step(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    async with mcp_client(house.server.address, house.ann, mode) as client:
        result = await client.call_tool(
            "ask", {"question": "How many customers?"}, progress_callback=note_step
        )
        assert not result.is_error, text_of(result)
        answer = result.structured_content
        follow_up = await said_by(client, "ask", question="How many orders?", session_id=answer["session_id"])
    assert "COUNT" in answer["sql"]
    assert answer["rows"] == [[3]]
    assert answer["status"] == "complete"
    assert "3" in text_of(result)
    assert "Running the query" in steps
    assert follow_up["session_id"] == answer["session_id"]
    assert follow_up["rows"] == [[4]]


@REVISIONS
async def test_an_answer_has_its_chart_as_a_specification_and_as_an_image(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        drawn = await client.call_tool("ask", {"question": "Total amount per customer"})
        plain = await client.call_tool("ask", {"question": "How many customers?"})
    assert drawn.structured_content["chart"]["data"]["values"], text_of(drawn)
    (image,) = [each for each in drawn.content if each.type == "image"]
    assert (image.mime_type, b64decode(image.data)[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert plain.structured_content["chart"] is None
    assert [each.type for each in plain.content] == ["text"]


@REVISIONS
async def test_databases_and_tables_are_described(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        listed = await said_by(client, "list_databases")
        described = await said_by(client, "describe_database", database="shop", words="orders")
        tables = await said_by(client, "describe_tables", tables=["Orders"], database=house.database)
    assert [each["name"] for each in listed["databases"]] == ["Shop"]
    assert [each["name"] for each in described["tables"]] == ["orders", "customers"]
    (orders,) = tables["tables"]
    assert orders["row_count"] == 4
    assert {"amount", "order_date"} <= {each["name"] for each in orders["columns"]}
    assert orders["foreign_keys"][0]["refers_to"] == "customers"


@REVISIONS
async def test_a_statement_returns_its_rows_up_to_the_limit(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        found = await said_by(client, "run_sql", sql="SELECT name FROM customers ORDER BY id", limit=2)
        secret = await said_by(client, "run_sql", sql="SELECT name AS api_key FROM customers", limit=1)
    assert found == {"columns": ["name"], "rows": [["Ada"], ["Ben"]], "row_count": 3, "truncated": True}
    assert secret["rows"] == [["[redacted]"]]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM customers",
        "SELECT 1; DROP TABLE customers",
        "ATTACH DATABASE '/tmp/x' AS x",
        "PRAGMA writable_schema=1",
        "SELECT load_extension('x')",
        "SELECT nothing FROM customers",
        "SELECT * FROM sqlite_master",
    ],
)
async def test_a_statement_that_does_not_merely_read_is_refused_with_a_reason(house: House, sql: str) -> None:
    async with mcp_client(house.server.address, house.ann) as client:
        reason = await refused_by(client, "run_sql", sql=sql)
        assert await said_by(client, "run_sql", sql="SELECT COUNT(*) AS n FROM customers")
    assert len(reason) > len("Error executing tool run_sql: ")
    assert "Traceback" not in reason


async def test_no_statement_of_the_corpus_passes_but_those_that_only_cost(house: House) -> None:
    async with mcp_client(house.server.address, house.ann) as client:
        for category, sql in attacks("sqlite"):
            if category != RUNS_ON:
                assert await refused_by(client, "run_sql", sql=sql)
        found = await said_by(client, "run_sql", sql="SELECT name FROM customers ORDER BY id")
    assert found["rows"] == [["Ada"], ["Ben"], ["Cleo"]]


async def test_past_conversations_are_found_by_their_words(house: House) -> None:
    async with mcp_client(house.server.address, house.ann) as client:
        asked = await said_by(client, "ask", question="What is the average amount of orders?")
        found = await said_by(client, "search_conversation_history", search_query="average amount", limit=20)
        remembered = await said_by(client, "get_user_memories", limit=20)
    assert asked["session_id"] in {each["session_id"] for each in found["conversations"]}
    assert remembered["profile"] == {}
    assert isinstance(remembered["conversations"], list)


@REVISIONS
async def test_resources_and_prompts_are_offered(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        asked = await said_by(client, "ask", question="How many customers?")
        databases = await resource(client, "kai://databases")
        schema = await resource(client, f"kai://databases/{house.database}/schema")
        said = await resource(client, f"kai://sessions/{asked['session_id']}")
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        explored = await client.get_prompt("explore_database", {"database": "Shop"})
    assert databases["databases"][0]["name"] == "Shop"
    assert [table["name"] for table in schema["tables"]] == ["customers", "orders"]
    assert [message["role"] for message in said["messages"]] == ["human", "assistant"]
    assert prompts == {"explore_database", "explain_answer"}
    content = explored.messages[0].content
    assert isinstance(content, TextContent)
    assert "Shop" in content.text


@REVISIONS
async def test_what_is_wrong_with_a_request_is_said_in_plain_words(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        reasons = [
            await refused_by(client, "ask"),
            await refused_by(client, "run_sql", sql="SELECT 1", limit=500),
            await refused_by(client, "run_sql", sql="SELECT 1", limits=5),
            await refused_by(client, "list_databases", name="Shop"),
        ]
        with pytest.raises(MCPError) as no_prompt:
            await client.get_prompt("explore")
        with pytest.raises(MCPError) as no_argument:
            await client.get_prompt("explore_database")
        with pytest.raises(MCPError) as no_session:
            await client.read_resource("kai://sessions/01970000-0000-7000-8000-000000000000")
    assert reasons == [
        "The arguments of ask are not valid: question: Field required.",
        "The arguments of run_sql are not valid: limit: Input should be less than or equal to 200.",
        "The tool run_sql has no argument 'limits'. It has: sql, database, limit.",
        "The tool list_databases has no argument 'name'. It has none.",
    ]
    refusals = [each.value for each in (no_prompt, no_argument, no_session)]
    assert [each.code for each in refusals] == [INVALID_PARAMS] * 3
    assert [each.message for each in refusals] == [
        "There is no prompt 'explore'. There are: explore_database, explain_answer.",
        "The prompt explore_database needs the argument 'database'.",
        "There is no session with this id.",
    ]


async def resource(client: Client, uri: str) -> dict[str, Any]:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    found: dict[str, Any] = json.loads(content.text)
    return found


# Who may do what


def test_without_a_key_the_server_is_closed(house: House) -> None:
    refused = httpx.post(f"{house.server.address}/mcp", json={}, timeout=60)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert refused.json()["type"] == "urn:kai:unauthenticated"


def test_a_revoked_or_invented_key_is_refused(house: House) -> None:
    refused = httpx.post(
        f"{house.server.address}/mcp", json={}, headers={"Authorization": "Bearer kai_invented"}, timeout=60
    )
    assert refused.status_code == 401


@REVISIONS
async def test_another_owner_sees_nothing_of_it(house: House, mode: str) -> None:
    async with mcp_client(house.server.address, house.ann, mode) as client:
        asked = await said_by(client, "ask", question="How many customers?")
    async with mcp_client(house.server.address, house.bob, mode) as client:
        listed = await said_by(client, "list_databases")
        found = await said_by(client, "search_conversation_history", search_query="customers")
        by_id = await refused_by(client, "run_sql", sql="SELECT 1", database=house.database)
        by_name = await refused_by(client, "describe_database", database="Shop")
        follow_up = await refused_by(client, "ask", question="And?", session_id=asked["session_id"])
        unknown = "01970000-0000-7000-8000-000000000000"
        of_none = await refused_by(client, "ask", question="And?", session_id=unknown)
        with pytest.raises(MCPError):
            await client.read_resource(f"kai://sessions/{asked['session_id']}")
        with pytest.raises(MCPError):
            await client.read_resource(f"kai://databases/{house.database}/schema")
    assert listed == {"databases": []}
    assert found == {"conversations": []}
    assert house.database in by_id
    assert "The databases are: none." in by_name
    assert follow_up == of_none


async def test_a_key_that_only_reads_cannot_ask(house: House) -> None:
    async with mcp_client(house.server.address, house.reader) as client:
        assert (await said_by(client, "list_databases"))["databases"]
        assert "scope ask" in await refused_by(client, "ask", question="How many customers?")
        assert "scope ask" in await refused_by(client, "run_sql", sql="SELECT 1")


# Requests of pages


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
def test_a_page_of_another_site_is_refused(house: House, origin: str) -> None:
    refused = httpx.post(
        f"{house.server.address}/mcp", json={}, headers={**key_of(house), "Origin": origin}, timeout=60
    )
    assert refused.status_code == 403
    assert refused.json()["type"] == "urn:kai:forbidden"


def test_a_page_of_kai_itself_is_not_refused(house: House) -> None:
    headers = {**key_of(house), "Origin": house.server.address}
    assert httpx.post(f"{house.server.address}/mcp", json={}, headers=headers, timeout=60).status_code != 403


def test_a_foreign_host_is_refused(house: House) -> None:
    headers = {**key_of(house), "Host": "evil.example"}
    assert httpx.post(f"{house.server.address}/mcp", json={}, headers=headers, timeout=60).status_code == 400


def test_only_posts_are_answered(house: House) -> None:
    refused = httpx.get(f"{house.server.address}/mcp", headers=key_of(house), timeout=60)
    assert refused.status_code == 405
    assert refused.headers["allow"] == "POST, OPTIONS"


def test_malformed_messages_are_refused(house: House) -> None:
    headers = {**key_of(house), "Accept": "application/json, text/event-stream"}
    for body in (b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff\xfe"):
        refused = httpx.post(
            f"{house.server.address}/mcp",
            content=body,
            headers={**headers, "Content-Type": "application/json"},
            timeout=60,
        )
        assert 400 <= refused.status_code < 500, (body, refused.text)


def key_of(house: House) -> dict[str, str]:
    return {"X-API-Key": house.ann}


def test_no_issuer_is_named_if_only_keys_are_accepted(house: House) -> None:
    assert (
        httpx.get(f"{house.server.address}/.well-known/oauth-protected-resource", timeout=60).status_code
        == 404
    )


def test_a_client_learns_whose_tokens_are_accepted(tmp_path: Path) -> None:
    issuer = "https://issuer.example"
    settings = {"KAI_AUTH__OIDC__ISSUER": issuer, "KAI_AUTH__OIDC__AUDIENCE": "kai"}
    with running_server(tmp_path, settings) as server:
        refused = httpx.post(f"{server.address}/mcp", json={}, timeout=60)
        named = f"{server.address}/.well-known/oauth-protected-resource/mcp"
        assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{named}"'
        metadata = httpx.get(named, timeout=60).json()
    assert metadata["authorization_servers"] == [issuer]
    assert metadata["resource"] == f"{server.address}/mcp"


async def test_requests_and_questions_count_for_the_rate_limits(tmp_path: Path) -> None:
    with running_server(tmp_path, {"KAI_QUOTAS__QUESTIONS_PER_MINUTE": "1"}) as server:
        connected(server, database_in(tmp_path))
        async with mcp_client(server.address) as client:
            await said_by(client, "run_sql", sql="SELECT 1 AS n")
            assert "1 questions in 60 seconds" in await refused_by(client, "ask", question="How many?")


def connected(server: Server, url: str) -> str:
    made = httpx.post(
        f"{server.address}/api/v1/database-connections", json={"url": url, "name": "Shop"}, timeout=60
    )
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


# Leaving, and many at once


@REVISIONS
async def test_a_client_that_leaves_cancels_its_question(
    kai: KaiClient, shared_server: Server, model: ScriptedModel, shop: str, mode: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    model.say(Scripted("CHAT: too late", hold_after=0))
    async with mcp_client(shared_server.address, mode=mode) as client:
        asking = asyncio.create_task(client.call_tool("ask", {"question": "Who?", "session_id": session}))
        await model.until(lambda: model.on_hold == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    async def cancelled() -> bool:
        messages = (await kai.session(session))["messages"]["items"]
        return any(each["status"] == "cancelled" for each in messages)

    await until(cancelled)


async def test_several_questions_at_once_are_answered(house: House) -> None:
    async with mcp_client(house.server.address, house.ann) as client:
        answers = await asyncio.gather(
            *(said_by(client, "ask", question="How many customers?") for _ in range(8))
        )
    assert [each["rows"] for each in answers] == [[[3]]] * 8
    assert len({str(each["session_id"]) for each in answers}) == 8


async def test_a_failed_question_is_an_error_in_kais_own_words(
    kai: KaiClient, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.rule("Who?", Scripted("", status=400))
    async with mcp_client(shared_server.address) as client:
        reason = await refused_by(client, "ask", question="Who?", session_id=session)
    assert "Traceback" not in reason
    assert "model" in reason.lower()


# As the guides say


GUIDES = Path(__file__).parents[2] / "docs" / "connect"


def configurations() -> Iterator[Any]:
    """The entries of servers that the guides show, by guide and transport."""
    for name in ("claude", "cursor", "vscode"):
        for block in re.findall(r"```json\n(.*?)```", (GUIDES / f"{name}.md").read_text(), re.DOTALL):
            shown = json.loads(block)
            entry = (shown.get("mcpServers") or shown["servers"])["kai"]
            yield pytest.param(entry, id=f"{name}, {entry.get('url', 'program')} {len(block)}")


@pytest.mark.parametrize("entry", list(configurations()))
async def test_a_client_that_is_set_up_as_a_guide_says_is_answered(
    house: House, tmp_path: Path, entry: dict[str, Any]
) -> None:
    if "url" in entry:
        assert entry["headers"]["Authorization"].startswith("Bearer ")
        address = entry["url"].replace("http://127.0.0.1:8000", house.server.address).removesuffix("/mcp")
        async with mcp_client(address, house.ann) as client:
            assert (await said_by(client, "list_databases"))["databases"]
        return
    command, *options = entry["args"]
    assert (Path(entry["command"]).name, command) == ("kai", "mcp")
    database_in(tmp_path)
    given = [house.server.address if option.startswith("http:") else option for option in options]
    given = [str(tmp_path / "shop.db") if option.endswith("shop.db") else option for option in given]
    keys = dict.fromkeys(entry.get("env", {}), house.ann)
    async with Client(kai_mcp(*given, **keys)) as client:
        assert (await said_by(client, "list_databases"))["databases"]


# Over stdio


@REVISIONS
async def test_one_database_is_served_over_stdio(tmp_path: Path, mode: str) -> None:
    database_in(tmp_path)
    async with Client(kai_mcp("--db", str(tmp_path / "shop.db")), mode=mode) as client:
        assert (await said_by(client, "ask", question="How many customers?"))["rows"] == [[3]]
        assert "Only queries" in await refused_by(client, "run_sql", sql="DELETE FROM customers")


@REVISIONS
async def test_the_bridge_passes_calls_progress_and_errors_on(house: House, mode: str) -> None:
    steps: list[str] = []

    async def note_step(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    bridge = kai_mcp("--url", house.server.address, KAI_API_KEY=house.ann)
    async with Client(bridge, mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        result = await client.call_tool(
            "ask", {"question": "How many customers?"}, progress_callback=note_step
        )
        assert "Only queries" in await refused_by(client, "run_sql", sql="DELETE FROM customers")
        assert (await resource(client, "kai://databases"))["databases"]
        assert len((await client.list_prompts()).prompts) == 2
    assert result.structured_content["rows"] == [[3]]
    assert "Running the query" in steps


def test_the_bridge_says_what_is_wrong_with_address_or_key(house: House, tmp_path: Path) -> None:
    wrong = kai_command("mcp", "--url", house.server.address, "--api-key", "kai_wrong", data=tmp_path)
    assert wrong.returncode == 1
    assert "wants a valid key" in wrong.stderr
    absent = kai_command("mcp", "--url", "http://127.0.0.1:9", data=tmp_path)
    assert absent.returncode == 1
    assert "No KAI answers at http://127.0.0.1:9" in absent.stderr
    assert wrong.stdout == absent.stdout == ""


async def test_the_data_folder_is_served_over_stdio(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        connected(server, database_in(tmp_path))
        in_use = kai_command("mcp", data=tmp_path)
        server.stop()
    assert in_use.returncode == 1
    assert "kai mcp --url http://127.0.0.1:" in in_use.stderr
    async with Client(kai_mcp("--data-dir", str(tmp_path))) as client:
        assert [each["name"] for each in (await said_by(client, "list_databases"))["databases"]] == ["Shop"]
