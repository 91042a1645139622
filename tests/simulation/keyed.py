"""Requests with an `Idempotency-Key`: KAI's own middleware, and its routes of boards behind it."""

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import httpx
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from app.core.auth.caller import SCOPES_OF_ROLE, Caller
from app.core.kept_responses import KeptResponses
from app.core.storage.port import Storage
from app.http.entity_tags import EntityTags
from app.http.idempotency import HEADER, REPLAYED, Idempotency
from app.http.problems import answer_problems
from app.http.routes import API_PREFIX
from app.modules.boards.refreshing import Refreshing
from app.modules.boards.repository import BoardRepository
from app.modules.boards.router import router
from app.modules.boards.service import Boards
from app.modules.database_connection.service import DatabaseConnections
from app.modules.session.service import SessionService
from tests.simulation.deletion import BOX
from tests.simulation.store import StoreData
from tests.simulation.world import World

_OWNER = "bea"
_CALLER = Caller(
    owner=_OWNER, role="user", scopes=SCOPES_OF_ROLE["user"], signed_in_by="local", credential="bea"
)
_PATH = f"{API_PREFIX}/boards"


@dataclass(eq=False)
class KeyedPost:
    """A board that a client creates, asking until it is answered. `at_once`: clients that send it."""

    key: str
    title: str
    after: float
    at_once: int
    patience_seconds: float
    """Time after which a client that has no answer sends it again."""
    answers: list[tuple[int, bytes]] = field(default_factory=list)


class KeyedApi:
    """The routes of boards in a process, for a caller that is signed in."""

    def __init__(self, storage: Storage) -> None:
        boards = Boards(
            BoardRepository(storage),
            cast("Refreshing", None),
            cast("SessionService", None),
            connections=cast("DatabaseConnections", None),
        )
        self._app = FastAPI(openapi_url=None)
        self._app.state.services = SimpleNamespace(boards=boards)
        self._app.include_router(router, prefix=API_PREFIX)
        answer_problems(self._app)
        self._app.add_middleware(EntityTags)
        self._app.add_middleware(Idempotency, kept=KeptResponses(storage, BOX))

    async def post(self, keyed: KeyedPost) -> httpx.Response:
        transport = httpx.ASGITransport(self._as_caller)
        async with httpx.AsyncClient(transport=transport, base_url="http://kai") as client:
            return await client.post(_PATH, json={"title": keyed.title}, headers={HEADER: keyed.key})

    async def _as_caller(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "state": {"caller": _CALLER}}, receive, send)


def is_final(world: World, keyed: KeyedPost, response: httpx.Response) -> bool:
    """True for the answer that the client waits for. Others say that it is to send the request again."""
    if response.status_code == 201:
        keyed.answers.append((response.status_code, response.content))
        return True
    kind = str(response.json().get("type")).removeprefix("urn:kai:")
    if kind not in ("idempotency-key-in-use", "storage-unavailable"):
        world.violate(f"the keyed request for {keyed.title!r} is answered {response.status_code} {kind}")
    return False


def check_replayed(world: World, keyed: KeyedPost, response: httpx.Response) -> None:
    """A request that was answered is not made again, unless its answer could not be kept."""
    if not world.struck and response.headers.get(REPLAYED) != "true":
        world.violate(f"the keyed request for {keyed.title!r} was answered, and is made again")


def check_keyed(world: World, posts: list[KeyedPost], store: StoreData) -> None:
    """Each request has created one board, which all its answers show, and its first answer is kept."""
    made = Counter(str(each["title"]) for each in store.documents("boards") if each["owner"] == _OWNER)
    for each in posts:
        if made[each.title] != 1:
            world.violate(f"the keyed request for {each.title!r} has created {made[each.title]} boards")
        if len(set(each.answers)) != 1:
            world.violate(f"the keyed request for {each.title!r} has {len(set(each.answers))} answers")
