"""The APIs of KAI and where each is described."""

import asyncio
import json
from collections.abc import Mapping

from fastapi import FastAPI, Request, Response

from app.http.description.documents import Api, document
from app.http.routes import API_PREFIX

API_V1 = Api(
    prefix=API_PREFIX,
    title="KAI",
    summary="Ask questions of your SQL databases in plain language.",
    paths=rf"{API_PREFIX}/.+|/healthz|/readyz|/metrics",
    tags={
        "answers": "Questions and their answers in one request, runs and messages.",
        "sessions": "Conversations: questions in a row, streams, versions, charts and rows of answers.",
        "boards": "Answers that are kept as pins and refreshed without a model.",
        "schedules": "Boards and pins that are refreshed by the clock, and the notices of it.",
        "webhooks": "Receivers of ends of runs and of notices.",
        "comments": "Comments on answers and boards.",
        "links": "Read-only links to answers, sessions and boards.",
        "reports": "Answers and pins as one file.",
        "investigations": "Tools of investigations, and what this server can do.",
        "models": "Language models that are configured.",
        "mcp": "MCP servers whose tools KAI uses.",
        "rules": "Rules that hold for questions.",
        "generating": "SQL and documentation without a session.",
        "database connections": "Databases: registration, schema, scans, statements and files.",
        "context store": "Examples, glossary and instructions of a database.",
        "memory": "Facts, profiles and the graph memory.",
        "usage": "What the caller uses, and the limits of it.",
        "identity": "The caller, and API keys.",
        "forgetting": "Deletion of everything that KAI has of the caller.",
        "problems": "Kinds of problems: their causes and cures.",
        "health": "Liveness, readiness and metrics of the process.",
    },
)
OTHER_APIS: Mapping[str, Api] = {
    "chat": Api(
        prefix="/api",
        title="KAI: chat",
        summary="The contract of the scalable chat.",
        paths=r"/api/(?!v1/).+",
        tags={"chat": "Sessions, questions, streams and history as the scalable chat has them."},
    ),
    "langgraph": Api(
        prefix="/langgraph",
        title="KAI: LangGraph",
        summary="Each database as an assistant of the LangGraph server API.",
        paths=r"/langgraph/.+",
        tags={
            "assistants": "Databases.",
            "threads": "Conversations and their states.",
            "runs": "Questions.",
            "store": "Items of the caller.",
        },
    ),
    "agui": Api(
        prefix="/ag-ui",
        title="KAI: AG-UI",
        summary="Each database as an agent of AG-UI.",
        paths=r"/ag-ui/.+",
        tags={"ag-ui": "Runs of agents."},
    ),
    "openai": Api(
        prefix="/openai/v1",
        title="KAI: OpenAI",
        summary="Each database as a model of OpenAI's API.",
        paths=r"/openai/v1/.+",
        tags={"openai": "Models and chat completions."},
        answers_problems=False,
    ),
}
"""By the protocol that they speak."""


def serve_document(app: FastAPI, api: Api) -> None:
    """Answer the document of an API, which is made when it is first asked for."""
    made: list[bytes] = []
    making = asyncio.Lock()

    def make() -> bytes:
        return json.dumps(document(app, api), separators=(",", ":")).encode()

    async def answer(_: Request) -> Response:
        async with making:
            if not made:
                made.append(await asyncio.to_thread(make))
        return Response(made[0], media_type="application/json")

    app.add_route(f"{api.prefix}/openapi.json", answer, include_in_schema=False)
