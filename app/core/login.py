"""The door: nothing but the page and the signs of life is answered to who has not said who he is."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.auth.identity import Identity
from app.core.errors import Problem, Unauthenticated
from app.core.http import problem_answer, storage_away
from app.core.logs.ids import note
from app.core.storage.port import StorageUnavailable


class Login:
    """Pure ASGI: finds out who asks before a body is read, and leaves him as `request.state.caller`.

    Whatever is not `open_to_all` is closed, so that a route nobody thought of is closed, too.
    """

    def __init__(self, app: ASGIApp, identity: Identity, open_to_all: Callable[[str], bool]) -> None:
        self._app = app
        self._identity = identity
        self._open_to_all = open_to_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._open_to_all(scope["path"]):
            try:
                caller = await self._identity.caller(_credential(Headers(scope=scope)))
            except Problem as problem:
                await problem_answer(problem)(scope, receive, send)
                return
            except StorageUnavailable as error:
                await (await storage_away(Request(scope), error))(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
            note(owner=caller.owner)
        await self._app(scope, receive, send)


def _credential(headers: Headers) -> str | None:
    """What a request brings to say who it is from, or None. Raises `Unauthenticated` when that is unclear."""
    brought = headers.getlist("x-api-key")
    for each in headers.getlist("authorization"):
        scheme, _, rest = each.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("Authorization has to be of the form `Bearer <API key or token>`.")
        brought.append(rest)
    if len(brought) > 1:
        raise Unauthenticated("The request brings several credentials. Send one.")
    return brought[0].strip() if brought else None
