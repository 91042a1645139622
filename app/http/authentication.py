"""Authentication middleware: every path except the page and health checks requires a valid credential."""

from collections.abc import Callable
from functools import partial

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.auth.caller import Caller, calling
from app.core.auth.identity import Identity
from app.core.errors import Problem, Unauthenticated
from app.core.logs.ids import note
from app.core.storage.port import StorageUnavailable
from app.http.problems import problem_answer, storage_unavailable
from app.http.sign_in_cookie import browser_key
from app.http.wrong_keys import WrongKeys, address_of


class Authentication:
    """ASGI middleware that authenticates the caller before a body is read, as `request.state.caller`.

    Every path that is not `open_to_all` is closed, new routes included.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        identity: Identity,
        wrong_keys: WrongKeys,
        open_to_all: Callable[[str], bool],
        challenge: Callable[[Scope], str],
    ) -> None:
        """`challenge` returns the `WWW-Authenticate` of a refusal."""
        self._app = app
        self._identity = identity
        self._wrong_keys = wrong_keys
        self._open_to_all = open_to_all
        self._challenge = challenge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._open_to_all(scope["path"]):
            try:
                caller = await self._caller(scope)
            except Problem as problem:
                answer = problem_answer(problem)
                if isinstance(problem, Unauthenticated):
                    answer.headers["WWW-Authenticate"] = self._challenge(scope)
                await answer(scope, receive, send)
                return
            except StorageUnavailable as error:
                await (await storage_unavailable(Request(scope), error))(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
            note(owner=caller.owner)
            with calling(caller):
                await self._app(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller:
        credential = self._credential(Headers(scope=scope))
        if credential is None:
            return await self._browser(scope) or await self._identity.caller(None)
        check = partial(self._identity.caller, credential)
        return await self._wrong_keys.checked(address_of(scope), credential, check)

    async def _browser(self, scope: Scope) -> Caller | None:
        """The caller that a cookie of the page authenticates. None without one that counts."""
        if (key := browser_key(scope)) is None:
            return None
        try:
            check = partial(self._identity.browser, key)
            return await self._wrong_keys.checked(address_of(scope), key, check)
        except Unauthenticated:
            return None

    def _credential(self, headers: Headers) -> str | None:
        """The credential of a request, or None. Raises `Unauthenticated` for a malformed one or several."""
        brought = [each.strip() for each in headers.getlist("x-api-key")]
        for each in headers.getlist("authorization"):
            scheme, _, rest = each.partition(" ")
            if scheme.lower() == "bearer":
                brought.append(rest.strip())
            elif not self._identity.ignores(each):
                raise Unauthenticated("Authorization must have the form `Bearer <API key or token>`.")
        counting = [each for each in brought if not self._identity.ignores(each)]
        if len(counting) > 1:
            raise Unauthenticated("The request has several credentials. Send one.")
        return counting[0] if counting else None
