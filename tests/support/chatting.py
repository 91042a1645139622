"""What a client of the chat routes does, and what it waits for."""

from typing import Any

import httpx
from httpx_sse import aconnect_sse

from tests.support.server import STREAM_SECONDS, Event, Server
from tests.support.waiting import until

USER = "local"


class ChatClient:
    """Over one HTTP client whose base is `/api`."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def start(self, connection_id: str) -> str:
        """A new session; its id."""
        answer = await self.http.post("/session/start", json={"dbConnectionId": connection_id})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["sessionId"])

    async def queue(self, session_id: str, question: str, chat_message_id: str) -> dict[str, Any]:
        body = {"question": question, "sessionId": session_id, "chatMessageId": chat_message_id}
        answer = await self.http.post("/chat", json=body)
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    async def follow(self, session_id: str, chat_message_id: str, after: int | None = None) -> list[Event]:
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        url = f"/stream/{session_id}/{chat_message_id}"
        async with aconnect_sse(self.http, "GET", url, headers=headers) as source:
            assert source.response.status_code == 200
            return [Event.of(frame) async for frame in source.aiter_sse() if frame.data]

    async def conversation(self, session_id: str) -> dict[str, Any]:
        return await self._get(f"/history/conversations/{session_id}")

    async def memories(self) -> list[dict[str, Any]]:
        return list((await self._get(f"/memory/users/{USER}/memories?limit=100"))["memories"])

    async def memory_of(self, session_id: str, words: str = "") -> dict[str, Any]:
        """Of a session, as soon as it is there with these words in it."""
        found: list[dict[str, Any]] = []

        async def remembered() -> bool:
            found[:] = [each for each in await self.memories() if each["sessionId"] == session_id]
            return bool(found) and words in found[0]["summary"]

        await until(remembered)
        return found[0]

    async def search(self, query: str, limit: int = 10) -> list[str]:
        """The ids of the sessions that are found."""
        url, body = f"/memory/users/{USER}/conversations/search", {"query": query, "limit": limit}
        answer = await self.http.post(url, json=body)
        assert answer.status_code == 200, answer.text
        return [each["sessionId"] for each in answer.json()["conversations"]]

    async def _get(self, url: str) -> dict[str, Any]:
        answer = await self.http.get(url)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def chat_http(server: Server) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"{server.address}/api", timeout=httpx.Timeout(STREAM_SECONDS))
