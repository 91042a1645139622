"""Direct way of a stream's events, past the middlewares that only look at a response's head.

Starlette, FastAPI and each middleware wrap `send`, so that an event would be handed on by every one of them.
A middleware that needs each message wraps this way, too.
"""

from starlette.types import Message, Scope, Send

_DIRECT = "kai.direct_send"


def offer_direct_send(scope: Scope, send: Send) -> None:
    """Streams of this request send what follows their head by `send`."""
    scope[_DIRECT] = send


def direct_send(scope: Scope, send: Send) -> Send:
    """Returns the direct way, or `send` if no middleware offers one."""
    direct: Send = scope.get(_DIRECT, send)
    return direct


def direct_after_head(scope: Scope, send: Send) -> Send:
    """Returns a `send` for a stream: its head goes through all middlewares, the rest directly."""
    direct = direct_send(scope, send)

    async def sending(message: Message) -> None:
        nonlocal send
        if message["type"] == "http.response.start":
            await send(message)
            send = direct  # what the middlewares have wrapped takes memory
        else:
            await direct(message)

    return sending
