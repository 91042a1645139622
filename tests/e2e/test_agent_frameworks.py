"""KAI as one agent of a supervisor, of a swarm, and of Deep Agents, run by their own packages."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm
from pydantic import SecretStr

from tests.e2e.test_turn import PER_COUNTRY, sql
from tests.support.choices import BRAZIL, FIRST
from tests.support.scripted_model import Scripted, ScriptedModel, scripted_model
from tests.support.server import Client, Server

QUESTION = "How many customers per country?"
FOLLOW_UP = "And only in Norway?"
IN_NORWAY = "SELECT count(*) AS customers FROM customers WHERE country = 'Norway'"


@pytest.fixture
def boss() -> Iterator[ScriptedModel]:
    """The model of the parent."""
    with scripted_model() as made:
        yield made


@pytest.fixture
async def chat(boss: ScriptedModel) -> AsyncIterator[ChatOpenAI]:
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_keepalive_connections=0)) as http:
        yield ChatOpenAI(
            model="boss",
            base_url=boss.base_url,
            api_key=SecretStr("sk-none"),
            streaming=True,
            max_retries=0,
            http_async_client=http,
        )


@pytest.fixture
async def shop(kai: Client, shop: str, shared_server: Server) -> AsyncIterator[RemoteGraph]:
    url = f"{shared_server.address}/langgraph"
    connection = await kai.connect(shop)
    async with get_client(url=url, api_key=None) as client:
        with get_sync_client(url=url, api_key=None) as sync_client:
            yield RemoteGraph(connection, client=client, sync_client=sync_client, name="shop")


def config() -> Any:
    return {"configurable": {"thread_id": str(uuid4()), "user_id": "7"}}


async def ask_twice(parent: Any, boss: ScriptedModel, model: ScriptedModel, hand_over: Scripted) -> list[Any]:
    """Returns the parent's messages after a question and a follow-up in one thread."""
    thread = config()
    model.say(sql(PER_COUNTRY), FIRST, sql(IN_NORWAY), FIRST)
    values: dict[str, Any] = {}
    for question in (QUESTION, FOLLOW_UP):
        boss.say(hand_over, "Here it is.")
        values = await parent.ainvoke({"messages": [HumanMessage(question)]}, thread)
    return list(values["messages"])


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
async def test_a_supervisor_hands_questions_over_and_gets_their_answers(
    shop: Any, chat: ChatOpenAI, boss: ScriptedModel, model: ScriptedModel
) -> None:
    parent = create_supervisor([shop], model=chat).compile(checkpointer=InMemorySaver())
    messages = await ask_twice(parent, boss, model, Scripted("{}", tool="transfer_to_shop"))
    texts = [each.text for each in messages]
    assert (texts.count(QUESTION), texts.count(FOLLOW_UP)) == (1, 1)
    assert BRAZIL in texts
    assert BRAZIL in boss.requests[1].text


async def test_an_agent_of_a_swarm_hands_over_and_the_next_question_goes_to_kai_at_once(
    shop: Any, chat: ChatOpenAI, boss: ScriptedModel, model: ScriptedModel
) -> None:
    to_shop = create_handoff_tool(agent_name="shop", description="Asks the shop's database.")
    front = create_agent(chat, tools=[to_shop], name="front")
    parent = create_swarm([front, shop], default_active_agent="front").compile(checkpointer=InMemorySaver())
    messages = await ask_twice(parent, boss, model, Scripted("{}", tool="transfer_to_shop"))
    texts = [each.text for each in messages]
    assert (texts.count(QUESTION), texts.count(FOLLOW_UP)) == (1, 1)
    assert BRAZIL in texts


async def test_deep_agents_get_the_answer_with_statement_and_rows(
    shop: Any, chat: ChatOpenAI, boss: ScriptedModel, model: ScriptedModel
) -> None:
    worker: Any = {"name": "shop", "description": "Asks the shop's database.", "runnable": shop}
    parent = create_deep_agent(chat, subagents=[worker], checkpointer=InMemorySaver())
    task = Scripted(json.dumps({"description": QUESTION, "subagent_type": "shop"}), tool="task")
    messages = await ask_twice(parent, boss, model, task)
    results = [json.loads(each.text) for each in messages if isinstance(each, ToolMessage)]
    assert results[0]["text"] == BRAZIL
    assert (results[0]["sql"], results[0]["rows"]) == (PER_COUNTRY, [["Brazil", 2], ["Norway", 1]])
