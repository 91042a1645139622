"""The caller of the message that is being answered."""

from collections.abc import Callable
from contextvars import ContextVar

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from starlette.requests import Request

from app.core.auth.caller import Caller

_caller: ContextVar[Caller] = ContextVar("kai_mcp_caller")


class CallerOfMessages:
    """Middleware of the MCP server: notes the caller that KAI's authentication has found, or over stdio the
    local one.
    """

    def __init__(self, local: Caller | None) -> None:
        self._local = local

    async def __call__(
        self, ctx: ServerRequestContext[object, Request], call_next: CallNext
    ) -> HandlerResult:
        token = _caller.set(_caller_of(ctx, self._local))
        try:
            return await call_next(ctx)
        finally:
            _caller.reset(token)


def owner_of_messages(local: Caller | None) -> Callable[[ServerRequestContext[object, Request]], str]:
    """Returns what names the owner of a message, to whom the state is bound that a client keeps."""
    return lambda ctx: _caller_of(ctx, local).owner


def _caller_of(ctx: ServerRequestContext[object, Request], local: Caller | None) -> Caller:
    caller = local if ctx.request is None else ctx.request.state.caller
    if not isinstance(caller, Caller):
        raise TypeError("a message without a caller reached the MCP server")
    return caller


def current_caller() -> Caller:
    """Returns the caller of the message that is being answered."""
    return _caller.get()
