"""Calls that wait for a person, decided by the user of an MCP client (revision 2026-07-28)."""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from mcp import Client as McpClient
from mcp import MCPError
from mcp.client import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from mcp_types import InputRequiredResult as Asked

from tests.e2e.conftest import model_settings
from tests.e2e.test_approval import (
    DESCRIBE,
    PLAN_TO_ACT,
    TEXT,
    card_of,
    cards_of,
    decide,
    describe,
    descriptions,
)
from tests.e2e.test_investigations import calls, finish, last_prompt
from tests.support.keys import made_key
from tests.support.mcp_client import kai_mcp, mcp_client, text_of
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.server import Client, Server, client_of, running_server

TOOL = "ask_in_agent_mode"
QUESTION: dict[str, Any] = {"question": "Describe the customers."}
APPROVED = ElicitResult(action="accept", content={"decision": "approve"})


@dataclass(frozen=True)
class House:
    """A server that asks for a login, with keys: two of Ann's, of which one may not approve, and Bob's."""

    server: Server
    model: ScriptedModel
    ann: str
    asker: str
    bob: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, shop: str) -> Iterator[House]:
    data = tmp_path_factory.mktemp("mcp-approvals")
    every = ("--role", "admin", "--scope", "admin", "--scope", "approve")
    ann, bob = (made_key(data, owner, *every) for owner in ("ann", "bob"))
    asker = made_key(data, "ann", "--scope", "read", "--scope", "ask")
    with scripted_model() as model:
        settings = {**model_settings(model), "KAI_AUTH__REQUIRED": "true"}
        with running_server(data, settings) as server:
            made = httpx.post(
                f"{server.address}/api/v1/database-connections",
                json={"url": shop, "name": "test"},
                headers={"X-API-Key": ann},
                timeout=60,
            )
            assert made.status_code == 201, made.text
            yield House(server, model, ann, asker, bob)


@pytest.fixture
async def ann(house: House) -> AsyncGenerator[Client]:
    """Ann on KAI's own routes."""
    house.model.forget()
    async with client_of(house.server) as client:
        client.http.headers["X-API-Key"] = house.ann
        yield client
        await client.until_idle()


@dataclass
class User:
    """Gives the same answer to every form. Notes what it was shown."""

    answer: ElicitResult
    shown: list[ElicitRequestFormParams] = field(default_factory=list)

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.shown.append(params)
        return self.answer


async def first_request(client: McpClient) -> Asked:
    result = await client.session.call_tool(TOOL, QUESTION, allow_input_required=True)
    assert isinstance(result, Asked), result
    return result


async def again(
    client: McpClient, asked: Asked, answer: ElicitResult = APPROVED, **changed: Any
) -> CallToolResult | Asked:
    """What the tool says to this answer to all that it asked."""
    sent = {
        "arguments": QUESTION,
        "input_responses": dict.fromkeys(asked.input_requests or {}, answer),
        "request_state": asked.request_state,
        **changed,
    }
    result: CallToolResult | Asked = await client.session.call_tool(TOOL, **sent, allow_input_required=True)
    return result


def end_of(result: CallToolResult | Asked) -> str:
    """The text of a result, which asks for nothing more."""
    assert isinstance(result, CallToolResult), result
    return text_of(result)


async def the_session(ann: Client) -> str:
    """Ann's session that was used last."""
    session, *_ = (await ann.http.get("/sessions")).json()["items"]
    return str(session["id"])


async def test_what_the_user_of_a_client_approves_is_done_and_the_answer_follows(
    house: House, ann: Client
) -> None:
    house.model.say(PLAN_TO_ACT, describe(), describe("Second."), finish("It is described."))
    user = User(APPROVED)
    async with mcp_client(house.server.address, house.ann, user=user) as client:
        result = await client.call_tool(TOOL, QUESTION)
    assert not result.is_error, text_of(result)
    assert result.structured_content["answer"] == "It is described."
    first, second = user.shown
    for words in ("describe_table_as", "Replace the description", "database test", TEXT):
        assert words in first.message
    assert "Second." in second.message
    session = result.structured_content["session_id"]
    assert (await descriptions(ann, session))["customers"] == "Second."
    assert (await ann.session(session))["status"] == "idle"


@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="accept", content={"decision": "deny", "reason": "It says nothing new."}),
        ElicitResult(action="decline"),
    ],
    ids=["denied", "declined"],
)
async def test_what_the_user_denies_is_not_done_and_the_model_knows(
    house: House, ann: Client, answer: ElicitResult
) -> None:
    house.model.say(PLAN_TO_ACT, describe("Denied."), finish("Not done."))
    async with mcp_client(house.server.address, house.ann, user=User(answer)) as client:
        assert "Not done." in text_of(await client.call_tool(TOOL, QUESTION))
    assert "The user has denied this call" in last_prompt(house.model)
    if answer.content:
        assert "It says nothing new." in last_prompt(house.model)
    assert (await descriptions(ann, await the_session(ann)))["customers"] != "Denied."


async def test_the_user_of_a_client_edits_the_simple_arguments_of_a_call(house: House, ann: Client) -> None:
    house.model.say(PLAN_TO_ACT, describe("Two\nlines."), describe(), finish("Done."))
    mine: dict[str, Any] = {"decision": "approve", "argument_table": "orders"}
    async with mcp_client(house.server.address, house.ann, user=User(APPROVED)) as client:
        asked = await first_request(client)
        assert [*fields_of(asked)] == ["decision", "reason", "argument_table"]
        second = await again(client, asked, ElicitResult(action="accept", content=mine))
        assert isinstance(second, Asked)
        assert fields_of(second)["argument_text"] == {"type": "string", "title": "text", "default": TEXT}
        wrong = {**mine, "argument_text": ""}
        refused = await again(client, second, ElicitResult(action="accept", content=wrong))
        assert isinstance(refused, Asked)
        assert form_of(refused).message.startswith("The arguments of describe_table_as are wrong: text:")
        same = {"decision": "approve", "argument_table": "customers", "argument_text": None}
        assert "Done." in end_of(await again(client, refused, ElicitResult(action="accept", content=same)))
    session = await the_session(ann)
    described = await descriptions(ann, session)
    assert (described["orders"], described["customers"]) == ("Two\nlines.", TEXT)
    cards = (await ann.http.get(f"/sessions/{session}/confirmations")).json()["items"]
    edits = [each["edited_arguments"] for each in cards]
    assert [None if each is None else each["table"] for each in edits] == ["orders", None]


def form_of(asked: Asked) -> ElicitRequestFormParams:
    """The one form of a request."""
    (request,) = (asked.input_requests or {}).values()
    assert isinstance(request.params, ElicitRequestFormParams)
    return request.params


def fields_of(asked: Asked) -> dict[str, Any]:
    properties: dict[str, Any] = form_of(asked).requested_schema["properties"]
    return properties


async def test_of_two_calls_the_open_one_is_asked_again_and_an_answer_counts_once(
    house: House, ann: Client
) -> None:
    first, last = (("describe_table_as", {**DESCRIBE, "text": text}) for text in ("First.", "Last."))
    house.model.say(PLAN_TO_ACT, calls(first, last), finish("Both are described."))
    async with mcp_client(house.server.address, house.ann, user=User(APPROVED)) as client:
        asked = await first_request(client)
        one, other = asked.input_requests or {}
        left = await again(client, asked, input_responses={one: APPROVED})
        assert isinstance(left, Asked)
        assert [*(left.input_requests or {})] == [other]
        unanswered = await again(client, left, input_responses=None)
        assert isinstance(unanswered, Asked)
        said = end_of(await again(client, unanswered))
        assert "Both are described." in said
        assert end_of(await again(client, unanswered)) == said
        against = end_of(await again(client, left, ElicitResult(action="decline")))
    assert "already" in against
    assert (await descriptions(ann, await the_session(ann)))["customers"] == "Last."


async def test_an_answer_that_decides_nothing_leaves_the_call_waiting(house: House, ann: Client) -> None:
    house.model.say(PLAN_TO_ACT, describe())
    async with mcp_client(house.server.address, house.ann, user=User(APPROVED)) as client:
        asked = await first_request(client)
        session = await the_session(ann)
        for answer in (
            ElicitResult(action="cancel"),
            ElicitResult(action="accept"),
            ElicitResult(action="accept", content={"decision": "perhaps"}),
            ElicitResult(action="accept", content={"decision": "approve", "reason": "x" * 1_001}),
            ElicitResult(action="accept", content={"decision": "approve", "argument_text": "\0"}),
            ElicitResult(action="accept", content={"decision": "approve", "argument_text": ["x"]}),
        ):
            refused = await again(client, asked, answer)
            assert isinstance(refused, CallToolResult)
            assert refused.is_error
            assert f"Decide on it in KAI, and ask again. Session: {session}" in text_of(refused)
        await card_of(ann, session)
        await ann.http.patch(f"/sessions/{session}", json={"status": "closed"})
        assert "This call waits no more" in end_of(await again(client, asked))


async def test_only_the_owner_with_the_scope_and_the_same_request_can_answer(
    house: House, ann: Client
) -> None:
    house.model.say(PLAN_TO_ACT, describe("Approved."), finish("Done."))
    address = house.server.address
    async with mcp_client(address, house.ann, user=User(APPROVED)) as client:
        asked = await first_request(client)
        state = asked.request_state or ""
        for changed in (
            {"request_state": state[:-1] + ("A" if state[-1] != "A" else "B")},
            {"request_state": "invented"},
            {"arguments": {"question": "Describe the orders."}},
        ):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await again(client, asked, **changed)
    async with mcp_client(address, house.bob, user=User(APPROVED)) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await again(client, asked)
    async with mcp_client(address, house.asker, user=User(APPROVED)) as client:
        assert "needs the scope approve" in end_of(await again(client, asked))
    await card_of(ann, await the_session(ann))


async def test_an_answer_reaches_a_process_that_has_not_asked(house: House) -> None:
    house.model.forget()
    house.model.say(PLAN_TO_ACT, describe("Approved."), finish("Done."))
    async with mcp_client(house.server.address, house.ann, user=User(APPROVED)) as client:
        asked = await first_request(client)
    house.server.stop()
    house.server.start()
    async with mcp_client(house.server.address, house.ann, user=User(APPROVED)) as client:
        assert "Done." in end_of(await again(client, asked))


@pytest.mark.parametrize("who", ["no forms", "handshake", "no scope"])
async def test_a_client_that_cannot_ask_its_user_learns_where_to_approve(
    house: House, ann: Client, who: str
) -> None:
    house.model.say(PLAN_TO_ACT, describe("Approved."), finish("Done."))
    key = house.asker if who == "no scope" else house.ann
    user = None if who == "no forms" else User(APPROVED)
    mode = "legacy" if who == "handshake" else "auto"
    async with mcp_client(house.server.address, key, mode, user=user) as client:
        result = await client.call_tool(TOOL, QUESTION)
    session = await the_session(ann)
    assert result.is_error
    assert f"Decide on it in KAI, and ask again. Session: {session}" in text_of(result)
    assert (await decide(ann, session, await card_of(ann, session))).status_code == 200


async def test_the_bridge_passes_requests_and_answers_on(house: House, ann: Client) -> None:
    house.model.say(PLAN_TO_ACT, describe("Bridged."), finish("Done."), PLAN_TO_ACT, describe("Refused."))
    bridge = kai_mcp("--url", house.server.address, KAI_API_KEY=house.ann)
    async with McpClient(bridge, elicitation_callback=User(APPROVED)) as client:
        assert "Done." in text_of(await client.call_tool(TOOL, QUESTION))
    assert (await descriptions(ann, await the_session(ann)))["customers"] == "Bridged."
    async with McpClient(bridge) as client:
        assert "Decide on it in KAI" in text_of(await client.call_tool(TOOL, QUESTION))
    assert len(await cards_of(ann, await the_session(ann))) == 1
