"""A model that fails once the rows are there: the answer stays and says what is missing, by any protocol."""

import json
from typing import Any
from uuid import uuid4

import openai
import pytest
from langgraph_sdk import get_client

from tests.e2e.test_agui_clients import body_of, run
from tests.e2e.test_turn import sql
from tests.support.langchain import text_of
from tests.support.mcp_client import mcp_client, said_by
from tests.support.scripted_model import Scripted, ScriptedModel
from tests.support.server import Client, Server, chunks

QUESTION = "How many customers per country?"
PER_COUNTRY = "SELECT country, count(*) AS customers FROM customers GROUP BY country ORDER BY customers DESC"
MISSING = "**The model's choice is missing:**"
FAILURES = pytest.mark.parametrize(
    "failure", [Scripted(status=401), Scripted('{"facts": ["f2"', ending="cut")], ids=["refused", "cut"]
)


@FAILURES
async def test_message_and_report_keep_what_was_fetched(
    kai: Client, model: ScriptedModel, shop: str, failure: Scripted
) -> None:
    session = await kai.open_session(await kai.connect(shop))
    model.say(sql(PER_COUNTRY), failure)
    events = await kai.ask(session, QUESTION)
    assert events[-1].data["status"] == "complete"
    (analysis,) = chunks(events, "analysis")
    assert chunks(events, "chart")
    message = (await kai.session(session))["messages"]["items"][-1]
    assert (message["status"], message["sql"], message["row_count"]) == ("complete", PER_COUNTRY, 2)
    assert message["analysis"] == analysis
    assert message["chart"]
    assert "Brazil" in analysis.partition(MISSING)[0]
    assert MISSING in analysis
    report = await kai.http.post("/reports", json={"session_id": session, "format": "markdown"})
    assert "The model's choice is missing" in report.text.replace("\\", "").replace("&#39;", "'")


@FAILURES
async def test_every_protocol_completes_and_says_what_is_missing(
    kai: Client, shared_server: Server, model: ScriptedModel, shop: str, failure: Scripted
) -> None:
    word = uuid4().hex
    made = await kai.http.post("/database-connections", json={"url": shop, "name": f"Shop {word}"})
    connection, name = made.json()["id"], f"kai/shop-{word}"
    answers: dict[str, str] = {}

    model.say(sql(PER_COUNTRY), failure)
    events = await run(kai, shared_server, connection, body_of(str(uuid4()), QUESTION))
    assert events[-1]["outcome"] == {"type": "success"}
    answers["ag-ui"] = "".join(each["delta"] for each in events if each["type"] == "TEXT_MESSAGE_CONTENT")

    model.say(sql(PER_COUNTRY), failure)
    asked: Any = {"messages": [{"role": "user", "content": QUESTION}]}
    async with get_client(url=f"{shared_server.address}/langgraph", api_key=None) as graph:
        values: Any = await graph.runs.wait(None, connection, input=asked)
    answers["langgraph"] = text_of(values["messages"][-1])

    address = f"{shared_server.address}/openai/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key="sk-of-elsewhere", timeout=60) as client:
        model.say(sql(PER_COUNTRY), failure)
        whole = await client.chat.completions.create(
            model=name, messages=[{"role": "user", "content": QUESTION}]
        )
        answers["openai"] = whole.choices[0].message.content or ""
        model.say(sql(PER_COUNTRY), failure)
        stream = await client.chat.completions.create(
            model=name, messages=[{"role": "user", "content": QUESTION}], stream=True
        )
        answers["openai stream"] = "".join([each.choices[0].delta.content or "" async for each in stream])

    model.say(sql(PER_COUNTRY), failure)
    async with mcp_client(shared_server.address) as tools:
        answers["mcp"] = json.dumps(await said_by(tools, "ask", question=QUESTION, database=connection))

    assert [way for way, text in answers.items() if MISSING not in text or "Brazil" not in text] == []
