"""Refuses requests whose Host is not KAI's, which pages of other sites could send (DNS rebinding)."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import Malformed
from app.http.problems import problem_answer


class AllowedHosts:
    """ASGI middleware: Starlette's check of the Host field, answered with a problem object."""

    def __init__(self, app: ASGIApp, allowed_hosts: Sequence[str]) -> None:
        self._app = app
        self._check = TrustedHostMiddleware(_reached, allowed_hosts, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or await self._is_allowed(scope, receive):
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        refusal = Malformed(f"KAI is not served under the name {host!r}. KAI_ALLOWED_HOSTS can allow it.")
        await problem_answer(refusal)(scope, receive, send)

    async def _is_allowed(self, scope: Scope, receive: Receive) -> bool:
        outcome = _Outcome()
        await self._check(scope, receive, outcome)
        return outcome.is_allowed


class _Outcome:
    """Of one check. Starlette's plain text of a refusal is dropped."""

    is_allowed = False

    async def __call__(self, _message: Message) -> None:
        pass


async def _reached(_scope: Scope, _receive: Receive, outcome: Send) -> None:
    """What an allowed request comes to."""
    if isinstance(outcome, _Outcome):
        outcome.is_allowed = True
