"""Dependencies of routes: the authenticated caller, the owner, and the scope that a route needs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from app.core.auth.caller import Caller, ScopeMissing
from app.core.auth.caller import Scope as AuthScope

_BEARER = HTTPBearer(auto_error=False, description="An API key, or a token of the configured issuer")
_API_KEY = APIKeyHeader(name="X-API-Key", auto_error=False, description="An API key")


async def current_caller(request: Request) -> Caller:
    """The authenticated caller.

    Dependencies are coroutine functions: FastAPI calls others in a thread each.
    """
    return caller_of(request)


def caller_of(request: Request) -> Caller:
    """The caller of an authenticated request."""
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(current_caller)]


def owner_of(request: Request) -> str:
    """The owner of an authenticated request."""
    return caller_of(request).owner


async def current_owner(request: Request) -> str:
    return owner_of(request)


Owner = Annotated[str, Depends(current_owner)]


@dataclass(frozen=True)
class Requires:
    """Dependency of a route: the scope that its caller needs, or None if any caller may use it."""

    scope: AuthScope | None

    async def __call__(
        self,
        request: Request,
        _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
        _key: Annotated[str | None, Security(_API_KEY)],
    ) -> None:
        """Raises `ScopeMissing`. The credentials are parameters only so that OpenAPI describes them."""
        caller = caller_of(request)
        if self.scope is not None and not caller.may(self.scope):
            raise ScopeMissing(caller, self.scope)


READ = Depends(Requires("read"))
ASK = Depends(Requires("ask"))
APPROVE = Depends(Requires("approve"))
MANAGE = Depends(Requires("manage"))
ADMIN = Depends(Requires("admin"))
ANYBODY = Depends(Requires(None))
