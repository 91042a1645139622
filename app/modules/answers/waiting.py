"""How long a request waits for its answer: `Prefer: wait=N` of RFC 7240."""

from collections.abc import Sequence
from typing import Annotated
from urllib.request import parse_http_list

from fastapi import Depends, Header, Request

from app.core.errors import Malformed

DEFAULT_SECONDS = 55
"""Common proxies give up after 60."""
MOST_SECONDS = 300


def wait_seconds(prefer: Sequence[str]) -> int:
    """Returns the seconds that `Prefer` headers name. `respond-async` alone is 0. Other preferences are
    ignored.

    Raises `Malformed` for a `wait` that is no whole number from 0 to 300, and for two of them.
    """
    waits: list[str] = []
    is_async = False
    for preference in [each for header in prefer for each in parse_http_list(header)]:
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() == "wait":
            waits.append(value.strip().strip('"'))
        is_async = is_async or name.strip().lower() == "respond-async"
    if not waits:
        return 0 if is_async else DEFAULT_SECONDS
    if len(waits) > 1:
        raise Malformed("`Prefer` names `wait` twice. Send it once, such as `Prefer: wait=55`.")
    (given,) = waits
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(MOST_SECONDS))):
        raise Malformed(_not_usable(given))
    if int(given) > MOST_SECONDS:
        raise Malformed(_not_usable(given))
    return int(given)


def _not_usable(given: str) -> str:
    return (
        f"`wait` of `Prefer` is a whole number of seconds from 0 to {MOST_SECONDS}, and not {given[:40]!r}. "
        "Send a smaller one, such as `Prefer: wait=55`, and read the answer later at the `Location` of a 202."
    )


async def _seconds(
    request: Request,
    _: Annotated[
        str | None,
        Header(
            alias="Prefer",
            description="`wait=N`: wait at most N seconds for the answer, 0 to 300, by default 55. "
            "`respond-async`: do not wait.",
        ),
    ] = None,
) -> int:
    return wait_seconds(request.headers.getlist("prefer"))


WaitSeconds = Annotated[int, Depends(_seconds)]
