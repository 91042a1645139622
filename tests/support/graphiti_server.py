"""Graphiti itself, behind the routes and bodies of its own REST service, in a process of its own.

That service (`server/graph_service` in Graphiti's repository, Apache-2.0) is on no package index, so its
routes are written here again. The library, the graph and all that they do are Graphiti's own.
"""

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from socket import socket
from typing import Annotated, Any, Literal

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import JSONResponse
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.openai_reranker_client import OpenAIRerankerClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.errors import GroupsEdgesNotFoundError, NodeNotFoundError
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from pydantic import BaseModel, Field, JsonValue

from tests.support.graphiti_service import EMBEDDING, READY


class _Message(BaseModel):
    content: str
    uuid: str | None = None
    name: str = ""
    role_type: Literal["user", "assistant", "system"]
    role: str | None
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC))
    source_description: str = ""


class _Messages(BaseModel):
    group_id: str
    messages: list[_Message]


class _Query(BaseModel):
    group_ids: list[str] | None = None
    query: str
    max_facts: int = 10


class _Worker:
    """Dies of the first job that fails, as the service's does."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    async def work(self) -> None:
        while True:
            job = await self.queue.get()
            await job()


def _application(graph_port: int, model_url: str) -> FastAPI:
    worker = _Worker()

    def opened() -> Graphiti:
        config = LLMConfig(api_key="scripted", model="scripted", small_model="scripted", base_url=model_url)
        embedding = OpenAIEmbedderConfig(
            api_key="scripted", base_url=model_url, embedding_model=EMBEDDING, embedding_dim=64
        )
        return Graphiti(
            graph_driver=FalkorDriver(host="127.0.0.1", port=graph_port, database="default_db"),
            llm_client=OpenAIGenericClient(config),
            embedder=OpenAIEmbedder(embedding),
            cross_encoder=OpenAIRerankerClient(config),
        )

    async def graphiti() -> AsyncGenerator[Graphiti]:
        client = opened()
        try:
            yield client
        finally:
            await client.close()  # type: ignore[no-untyped-call]

    graphiti_of_request = Depends(graphiti)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        client = opened()
        await client.build_indices_and_constraints()
        await client.close()  # type: ignore[no-untyped-call]
        working = asyncio.create_task(worker.work())
        yield
        working.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.get("/healthcheck")
    async def healthcheck() -> JSONResponse:
        return JSONResponse({"status": "healthy"})

    @app.post("/messages", status_code=202)
    async def add_messages(
        body: _Messages, client: Annotated[Graphiti, graphiti_of_request]
    ) -> dict[str, JsonValue]:
        for each in body.messages:
            await worker.queue.put(
                partial(
                    client.add_episode,
                    uuid=each.uuid,
                    group_id=body.group_id,
                    name=each.name,
                    episode_body=f"{each.role or ''}({each.role_type}): {each.content}",
                    reference_time=each.timestamp,
                    source=EpisodeType.message,
                    source_description=each.source_description,
                )
            )
        return {"message": "Messages added to processing queue", "success": True}

    @app.post("/search")
    async def search(query: _Query, client: Annotated[Graphiti, graphiti_of_request]) -> dict[str, Any]:
        edges = await client.search(group_ids=query.group_ids, query=query.query, num_results=query.max_facts)
        names = (
            "uuid",
            "name",
            "fact",
            "valid_at",
            "invalid_at",
            "created_at",
            "expired_at",
            "source_node_uuid",
            "target_node_uuid",
        )
        facts = [
            {**{name: getattr(edge, name) for name in names}, "episodes": edge.episodes or []}
            for edge in edges
        ]
        return {"facts": facts}

    @app.get("/episodes/{group_id}")
    async def episodes(
        group_id: str, last_n: int, client: Annotated[Graphiti, graphiti_of_request]
    ) -> list[EpisodicNode]:
        return await client.retrieve_episodes(
            group_ids=[group_id], last_n=last_n, reference_time=datetime.now(UTC)
        )

    @app.delete("/group/{group_id}")
    async def delete_group(
        group_id: str, client: Annotated[Graphiti, graphiti_of_request]
    ) -> dict[str, JsonValue]:
        edges: list[EntityEdge] = []
        with suppress(GroupsEdgesNotFoundError):
            edges = await EntityEdge.get_by_group_ids(client.driver, [group_id])
        nodes = await EntityNode.get_by_group_ids(client.driver, [group_id])
        kept = await EpisodicNode.get_by_group_ids(client.driver, [group_id])
        for each in (*edges, *nodes, *kept):
            await each.delete(client.driver)
        return {"message": "Group deleted", "success": True}

    @app.delete("/episode/{uuid}")
    async def delete_episode(
        uuid: str, client: Annotated[Graphiti, graphiti_of_request]
    ) -> dict[str, JsonValue]:
        try:
            episode = await EpisodicNode.get_by_uuid(client.driver, uuid)
            await episode.delete(client.driver)
        except NodeNotFoundError as error:
            raise HTTPException(404, error.message) from error
        return {"message": "Episode deleted", "success": True}

    return app


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--graph-port", type=int, required=True)
    parser.add_argument("--model-url", required=True)
    given = parser.parse_args()
    application = _application(given.graph_port, given.model_url)
    _Server(uvicorn.Config(application, port=given.port, log_level="warning")).run()


if __name__ == "__main__":
    main()
