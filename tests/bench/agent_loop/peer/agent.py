"""LangChain's `create_agent` with its approval middleware, as a program: for each line `STEPS TURN` it
answers with the processor time of the turn in seconds.

`python agent.py DATABASE MODEL_URL TOOLS CHECKPOINTS`. `TOOLS` is a file with the tools that KAI offers, of
which `run_sql` runs statements as they are. All that would write asks for approval; the script calls nothing
of it.
"""

import asyncio
import json
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import SecretStr

Offered = list[dict[str, Any]]
"""Tools: name, description, parameters, and the category."""


async def main(database: str, model_url: str, offered: Offered, checkpoints: str) -> None:
    def called(sql: str = "", **_: object) -> str:
        with closing(sqlite3.connect(database)) as connection:
            return json.dumps(connection.execute(sql).fetchall())

    made = [
        StructuredTool.from_function(
            called,
            name=each["name"],
            description=each["description"],
            args_schema=each["parameters"],
            infer_schema=False,
        )
        for each in offered
    ]
    model = ChatOpenAI(model="large", base_url=model_url, api_key=SecretStr("none"), streaming=True)
    approval = HumanInTheLoopMiddleware(
        interrupt_on={each["name"]: each["category"] != "read" for each in offered}
    )
    async with AsyncSqliteSaver.from_conn_string(checkpoints) as saver:
        agent = create_agent(model, made, middleware=[approval], checkpointer=saver)
        while line := await asyncio.to_thread(sys.stdin.readline):
            steps, turn = line.split()
            question = f"PEER Look in {steps} steps, turn {turn}"
            config: RunnableConfig = {"configurable": {"thread_id": turn}, "recursion_limit": 200}
            began = time.process_time()
            async for _ in agent.astream({"messages": [{"role": "user", "content": question}]}, config):
                pass
            used = time.process_time() - began
            state = await agent.aget_state(config)
            if len(state.values["messages"]) != 2 + (int(steps) - 1) * 3:
                raise RuntimeError(f"the turn has {len(state.values['messages'])} messages")
            print(used, flush=True)


if __name__ == "__main__":
    DATABASE, MODEL_URL, TOOLS, CHECKPOINTS = sys.argv[1:]
    asyncio.run(main(DATABASE, MODEL_URL, json.loads(Path(TOOLS).read_text()), CHECKPOINTS))
