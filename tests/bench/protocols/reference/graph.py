"""The graphs that the reference server serves: five steps of a turn, and the same steps with nothing in them.

`answers` does what a turn of KAI must do at least: it reads the schema, has a statement written, runs it and
has its rows explained. `langgraph.json` names both graphs.
"""

import os
import sqlite3
from contextlib import closing
from typing import Protocol

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

_DATABASE = os.environ.get("REFERENCE_DATABASE", "")
_MODEL = ChatOpenAI(
    base_url=os.environ.get("REFERENCE_MODEL", "http://127.0.0.1:9/v1"),
    api_key="none",
    model="scripted",
    streaming=True,
    max_retries=0,
)


class State(MessagesState):
    context: str
    sql: str
    rows: list[list[int | str | None]]


class _Step(Protocol):
    async def __call__(self, state: State) -> dict[str, object]: ...


def load_context(state: State) -> dict[str, object]:
    with closing(sqlite3.connect(_DATABASE)) as connection:
        found = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
    return {"context": "\n".join(sql for (sql,) in found)}


async def write_sql(state: State) -> dict[str, object]:
    prompt = f"You are an SQL writer.\n{state['context']}"
    reply = await _MODEL.ainvoke([{"role": "system", "content": prompt}, *state["messages"]])
    statement = str(reply.content).partition("```sql\n")[2].partition("\n```")[0]
    return {"sql": statement, "messages": [reply]}


def run_sql(state: State) -> dict[str, object]:
    with closing(sqlite3.connect(_DATABASE)) as connection:
        return {"rows": [list(row) for row in connection.execute(state["sql"])]}


async def analyse(state: State) -> dict[str, object]:
    prompt = f"Explain these rows: {state['rows']}"
    return {"messages": [await _MODEL.ainvoke([{"role": "system", "content": prompt}, *state["messages"]])]}


async def finish(state: State) -> dict[str, object]:
    return {"context": ""}


async def nothing(state: State) -> dict[str, object]:
    return {"context": ""}


def _line(**steps: object) -> "CompiledStateGraph[State, None, State, State]":
    building = StateGraph(State)
    for name, step in steps.items():
        building.add_node(name, step)  # type: ignore[call-overload]
    for one, other in zip([START, *steps], [*steps, END], strict=True):
        building.add_edge(one, other)
    return building.compile()


answers = _line(
    load_context=load_context, write_sql=write_sql, run_sql=run_sql, analyse=analyse, finish=finish
)
empty = _line(load_context=nothing, write_sql=nothing, run_sql=nothing, analyse=nothing, finish=nothing)
