"""How long a request waits for its answer: `Prefer: wait=N` of RFC 7240."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.request import parse_http_list

from fastapi import Depends, Header, Request

from app.core.errors import Malformed

DEFAULT_SECONDS = 55
"""Common proxies give up after 60."""
MOST_SECONDS = 300


@dataclass(frozen=True)
class Wait:
    """How long to wait for an answer, and the preference that says so. None if the caller has none."""

    seconds: int
    preference: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.preference is None else {"Preference-Applied": self.preference}


def read_wait(prefer: Sequence[str]) -> Wait:
    """Returns the wait that `Prefer` headers name. `respond-async` alone is 0 seconds. Other preferences are
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
        return Wait(0, "respond-async") if is_async else Wait(DEFAULT_SECONDS)
    if len(waits) > 1:
        raise Malformed("`Prefer` names `wait` twice. Send it once, such as `Prefer: wait=55`.")
    (given,) = waits
    is_number = given.isascii() and given.isdigit() and len(given) <= len(str(MOST_SECONDS))
    if not is_number or int(given) > MOST_SECONDS:
        raise Malformed(
            f"`wait` of `Prefer` is a whole number of seconds from 0 to {MOST_SECONDS}, and not "
            f"{given[:40]!r}. Send a smaller one, such as `Prefer: wait=55`, and read the answer later at "
            "the `Location` of a 202."
        )
    return Wait(int(given), f"wait={int(given)}")


async def _wait(
    request: Request,
    _: Annotated[
        str | None,
        Header(
            alias="Prefer",
            description="`wait=N`: wait at most N seconds for the answer, 0 to 300, by default 55. "
            "`respond-async`: do not wait.",
        ),
    ] = None,
) -> Wait:
    return read_wait(request.headers.getlist("prefer"))


WantedWait = Annotated[Wait, Depends(_wait)]
