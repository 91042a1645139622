"""What the same work costs without KAI: the limits that its own time is compared with."""

import json
import sqlite3
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import aiohttp
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from prometheus_client import CollectorRegistry

from app.core.llm.calls import ModelCalls
from app.core.llm.model import LanguageModel, PromptMessage
from tests.bench.own_time.model import CHUNKS
from tests.bench.own_time.report import Figure, figure
from tests.support.model_settings import SCRIPTED

_REPLIES = 20
_PROMPT = [PromptMessage("system", "You are terse. " * 200), PromptMessage("user", "How many customers?")]


class _State(TypedDict):
    count: int


def build_database(folder: Path) -> str:
    path = folder / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO customers (name) VALUES (?)", [("Ada",)] * 100)
        connection.commit()
    return f"sqlite:///{path}"


async def graph_in_memory(turns: int) -> float:
    """Returns milliseconds of processor time of a turn of five nodes, checkpoints in memory."""
    building = StateGraph(_State)
    names = [f"node {number}" for number in range(5)]
    for name in names:
        building.add_node(name, _next)
    for one, other in zip([START, *names], [*names, END], strict=True):
        building.add_edge(one, other)
    graph = building.compile(checkpointer=InMemorySaver())
    began = time.process_time()
    for turn in range(turns):
        async for _ in graph.astream({"count": 0}, {"configurable": {"thread_id": str(turn)}}):
            pass
    return (time.process_time() - began) * 1_000 / turns


async def _next(state: _State) -> _State:
    return {"count": state["count"] + 1}


async def model_stream(base_url: str, rounds: int) -> list[Figure]:
    """Figures of reading a reply in this process, beside the same bytes read by aiohttp as plain JSON."""
    settings = replace(SCRIPTED, base_url=base_url)
    model = LanguageModel(settings, ModelCalls(CollectorRegistry()))
    async with aiohttp.ClientSession() as session:
        raw = [await _cpu(lambda: _raw_reply(session, base_url)) for _ in range(rounds + 1)][1:]
    own = [await _cpu(lambda: _reply(model)) for _ in range(rounds + 1)][1:]
    await model.close()
    floor = statistics.median(raw)
    name = f"a reply of {CHUNKS} chunks, read by KAI, processor"
    return [
        figure(f"a reply of {CHUNKS} chunks, read as plain JSON by aiohttp, processor", raw, "ms"),
        figure(name, own, "ms", limit="plain JSON", floor=floor),
        figure("of that a chunk", [each / CHUNKS for each in own], "ms", reach="≤ 0.05"),
    ]


async def _reply(model: LanguageModel) -> None:
    await model.reply(_PROMPT, lambda _: None)


async def _raw_reply(session: aiohttp.ClientSession, base_url: str) -> None:
    body = {
        "model": "scripted",
        "stream": True,
        "messages": [{"role": each.role, "content": each.content} for each in _PROMPT],
    }
    url = f"{base_url}/chat/completions"
    async with session.post(url, json=body) as response, aclosing(_lines(response)) as lines:
        async for line in lines:
            if line.startswith(b"data: {"):
                json.loads(line[6:])


async def _lines(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
    rest = b""
    async for piece in response.content.iter_any():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line


async def _cpu(work: Callable[[], Awaitable[None]]) -> float:
    """Returns milliseconds of processor time of one call, the mean of several."""
    began = time.process_time()
    for _ in range(_REPLIES):
        await work()
    return (time.process_time() - began) * 1_000 / _REPLIES
