"""KAI as an agent of AG-UI, run by the protocol's own client and held to its own validator."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from ag_ui_validate.pytest_plugin import assert_valid_agui

from tests.e2e.test_approval import PLAN_TO_ACT, cards_of, describe, descriptions
from tests.e2e.test_investigations import finish
from tests.e2e.test_turn import sql
from tests.support.choices import FIRST
from tests.support.node import run_script
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server
from tests.support.waiting import until

COUNT = "SELECT count(*) AS customers FROM customers"


def body_of(thread: str, question: str, **more: object) -> dict[str, object]:
    messages = [{"id": uuid4().hex, "role": "user", "content": question}]
    return {
        "threadId": thread,
        "runId": uuid4().hex,
        "messages": messages,
        "tools": [],
        "context": [],
        "state": {},
        "forwardedProps": {},
        **more,
    }


async def run(kai: Client, server: Server, assistant: str, body: dict[str, object]) -> list[Any]:
    """The events of a run, which the validator has nothing against."""
    answer = await kai.http.post(f"{server.address}/ag-ui/{assistant}", json=body)
    assert answer.status_code == 200, answer.text
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert_valid_agui(lines, max_warnings=0)
    return [json.loads(line) for line in lines]


async def test_a_run_is_valid_and_ids_are_those_of_the_history(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    model.say(sql(COUNT), FIRST)
    body = body_of("a thread of mine", "How many customers?")
    events = await run(kai, shared_server, await kai.connect(shop), body)
    assert (events[0]["threadId"], events[0]["runId"]) == (body["threadId"], body["runId"])
    assert events[-1]["outcome"] == {"type": "success"}
    (result,) = [each for each in events if each["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"])["rows"] == [[3]]
    session = await kai.session(events[-1]["result"]["session_id"])
    question, answer = session["messages"]["items"]
    said = "".join(each["delta"] for each in events if each["type"] == "TEXT_MESSAGE_CONTENT")
    assert (said, question["query"]) == (answer["analysis"], "How many customers?")
    assert events[-1]["result"]["message_id"] == answer["id"]


async def test_a_thread_is_a_session_by_its_id_or_by_any_text(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)

    async def session_of(thread: str) -> str:
        model.say(sql(COUNT), FIRST)
        events = await run(kai, shared_server, connection, body_of(thread, "How many customers?"))
        return str(events[-1]["result"]["session_id"])

    assert await session_of(session) == session
    own = await session_of("thread-1")
    assert await session_of("thread-1") == own
    assert await session_of("thread-2") != own


async def test_the_same_run_id_follows_the_same_run(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    model.say(sql(COUNT), FIRST)
    body = body_of(uuid4().hex, "How many customers?")
    assert await run(kai, shared_server, connection, body) == await run(kai, shared_server, connection, body)


async def test_a_failed_run_ends_with_its_problem(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    model.rule(lambda _: True, Scripted(status=401))
    events = await run(kai, shared_server, await kai.connect(shop), body_of(uuid4().hex, "How many?"))
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "urn:kai:model-rejected")


@pytest.mark.parametrize(("ending", "props"), [("@agent", {}), ("", {"kai": {"mode": "agent"}})])
async def test_one_question_is_asked_in_agent_mode(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str, ending: str, props: dict[str, object]
) -> None:
    connection = await kai.connect(shop)
    session = await kai.open_session(connection)
    model.say(PLAN_TO_ACT, describe())
    body = body_of(session, "Describe the customers.", forwardedProps=props)
    events = await run(kai, shared_server, connection + ending, body)
    assert (events[1]["name"], events[1]["value"]) == ("kai.session", {"session_id": session})
    assert events[-1]["outcome"]["type"] == "interrupt"
    assert (await kai.session(session))["mode"] == "ask"


async def test_a_call_that_waits_is_an_interrupt_that_a_resume_answers(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    connection = await kai.connect(shop)
    made = await kai.http.post("/sessions", json={"db_connection_id": connection, "mode": "agent"})
    session = made.json()["id"]
    model.say(PLAN_TO_ACT, describe())
    events = await run(kai, shared_server, connection, body_of(session, "Describe the customers."))
    assert events[-1]["outcome"]["type"] == "interrupt"
    (interrupt,) = events[-1]["outcome"]["interrupts"]
    assert [each["confirmation_id"] for each in await cards_of(kai, session)] == [interrupt["id"]]
    url = f"{shared_server.address}/ag-ui/{connection}"
    answers = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"type": "approve"}}]
    for refused, status in (
        (body_of(session, "Something else?"), 409),
        (body_of(session, "", resume=[{**answers[0], "interruptId": uuid4().hex}]), 409),
        (body_of(session, "", resume=[{**answers[0], "payload": "yes"}]), 422),
        (
            body_of(session, "", resume=[{**answers[0], "payload": {"type": "approve", "call_hash": "x"}}]),
            422,
        ),
    ):
        answer = await kai.http.post(url, json=refused)
        assert answer.status_code == status, answer.text
    model.say(finish("The table is described."))
    resumed = await run(kai, shared_server, connection, body_of(session, "", messages=[], resume=answers))
    assert resumed[-1]["outcome"] == {"type": "success"}
    again = await run(kai, shared_server, connection, body_of(session, "", messages=[], resume=answers))
    assert again[-1]["result"] == resumed[-1]["result"]
    call = {"id": interrupt["toolCallId"], "type": "function", "function": {"name": "f", "arguments": "{}"}}
    shown = [{"id": "m", "role": "assistant", "toolCalls": [call]}]
    whole = await kai.http.post(url, json=body_of(session, "", messages=shown, resume=answers))
    assert f'"toolCallId":"{call["id"]}"' in whole.text
    denied = body_of(session, "", messages=[], resume=[{**answers[0], "payload": {"type": "reject"}}])
    assert (await kai.http.post(url, json=denied)).status_code == 409
    assert (await descriptions(kai, session))["customers"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"tools": [{"name": "f", "description": ""}]},
        {"state": {"a": 1}},
        {"messages": []},
        {"messages": [{"id": "m", "role": "user", "content": [{"type": "image", "source": {}}]}]},
        {"messages": [{"id": "m", "role": "user", "content": ""}]},
        {"forwardedProps": {"on_disconnect": "sleep"}},
        {"forwardedProps": {"kai": {"mode": "agents"}}},
        {"forwardedProps": {"kai": {"rules": ["unknown"]}}},
        {"prompt": "Be rude."},
    ],
)
async def test_what_kai_does_not_honour_is_refused(
    kai: Client, shared_server: Server, shop: str, wrong: dict[str, object]
) -> None:
    url = f"{shared_server.address}/ag-ui/{await kai.connect(shop)}"
    refused = await kai.http.post(url, json={**body_of("thread", "How many?"), **wrong})
    assert refused.status_code == 422, refused.text
    assert len(refused.json()["detail"]) > 20


async def test_an_unknown_database_and_a_thread_of_another_one_are_refused(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    other = await kai.connect(shop)
    for assistant, status in ((other, 409), (uuid4().hex, 404)):
        url = f"{shared_server.address}/ag-ui/{assistant}"
        assert (await kai.http.post(url, json=body_of(session, "How many?"))).status_code == status
    assert not model.requests


@pytest.mark.parametrize(("wish", "outcome"), [("cancel", "cancelled"), ("continue", "complete")])
async def test_a_run_ends_with_its_client_unless_it_may_continue(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str, wish: str, outcome: str
) -> None:
    url = f"{shared_server.address}/ag-ui/{await kai.connect(shop)}"
    session = await kai.open_session(url.rpartition("/")[2])
    model.say(Scripted(sql(COUNT), hold_after=0), FIRST)
    body = body_of(session, "How many customers?", forwardedProps={"on_disconnect": wish})
    async with kai.http.stream("POST", url, json=body) as stream:
        await anext(stream.aiter_lines())
        await model.until(lambda: model.on_hold == 1)
    if wish == "continue":
        model.release()

    async def ended() -> bool:
        items = (await kai.session(session))["messages"]["items"]
        return [each["status"] for each in items[1:]] == [outcome]

    await until(ended)


async def test_the_javascript_client_asks_twice_and_reads_failures(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    """`HttpAgent` verifies the order of all events by itself."""
    connection = await kai.connect(shop)
    model.say(sql(COUNT), FIRST, sql(COUNT), FIRST, Scripted(status=401))
    done: Any = await run_script("agui", KAI_AGENT=f"{shared_server.address}/ag-ui/{connection}")
    assert [each["role"] for each in done["messages"]] == [
        *("user", "assistant", "tool", "assistant"),
        *("user", "assistant", "tool", "assistant"),
    ]
    said = [each.get("content") for each in done["messages"] if each["role"] == "assistant"]
    assert said == [None, "**Customers: 3**.", None, "**Customers: 3**."]
    assert "refused" in done["failure"]
    assert "tools" in done["refusal"]


async def test_the_validator_has_nothing_against_the_live_agent(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str
) -> None:
    model.say(sql(COUNT), FIRST)
    url = f"{shared_server.address}/ag-ui/{await kai.connect(shop)}"
    program = Path(sys.executable).with_name("ag-ui-validate")
    done = await asyncio.create_subprocess_exec(
        *(program, url, "--fail-on", "warning", "--no-color"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        output, _ = await done.communicate()
    assert done.returncode == 0, output.decode()
