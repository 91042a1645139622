"""What of a request lasts as long as its response: the stream, and what ends with it.

A stream that is sent from within its route would keep the frames and parameters of the route, of FastAPI and
of every middleware as long as it is open. So the outermost middleware that looks at a whole response sends
the stream itself, once all within it have returned.
"""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack

from starlette.types import ASGIApp, Receive, Scope, Send

_LASTING = "kai.lasting"

Stream = Callable[[], Awaitable[None]]
"""Sends a whole response."""


class _Lasting:
    def __init__(self) -> None:
        self.stream: Stream | None = None
        self.ends = ExitStack()


async def call_then_stream(app: ASGIApp, scope: Scope, receive: Receive, *, send: Send) -> None:
    """Call an application, and send the stream that it has left."""
    lasting = _Lasting()
    scope[_LASTING] = lasting
    with lasting.ends:
        await app(scope, receive, send)
        stream, lasting.stream = lasting.stream, None  # it refers to the scope, which refers to this
        if stream is not None:
            await stream()


async def stream_later(scope: Scope, stream: Stream) -> None:
    """Leave a stream to the outermost middleware, or send it now if there is none."""
    lasting: _Lasting | None = scope.get(_LASTING)
    if lasting is None:
        await stream()
    else:
        lasting.stream = stream


def call_at_end(scope: Scope, call: Callable[[], None]) -> None:
    """Call this once the response has ended, its stream included, or has failed."""
    lasting: _Lasting = scope[_LASTING]
    lasting.ends.callback(call)
