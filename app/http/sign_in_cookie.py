"""The cookie of a browser that stays signed in, which counts only for requests of KAI's own page."""

from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from app.http.routes import API_PREFIX

COOKIE = "kai_sign_in"
PAGE_HEADER = "x-kai-page"
"""A page of another origin cannot send it: that takes a preflight, which allows it to none."""
_READS = {"GET", "HEAD"}


def browser_key(scope: Scope) -> str | None:
    """Returns the browser's key of a request of the page to the API. None for any other request."""
    if not scope["path"].startswith(f"{API_PREFIX}/") or not is_of_own_page(scope):
        return None
    for line in Headers(scope=scope).getlist("cookie"):
        try:
            found = SimpleCookie(line).get(COOKIE)
        except CookieError:
            continue
        if found is not None:
            return found.value
    return None


def is_of_own_page(scope: Scope) -> bool:
    """True if KAI's page has sent the request: it has the page's header, and no other origin is named.

    A write must say where it comes from. `Sec-Fetch-Site` is the browser's own word; browsers send it over
    TLS and to loopback. Elsewhere the host of `Origin` is compared with the one that was asked.
    """
    headers = Headers(scope=scope)
    if PAGE_HEADER not in headers:
        return False
    if (site := headers.get("sec-fetch-site")) is not None:
        return site == "same-origin"
    if (origin := headers.get("origin")) is not None:
        return urlsplit(origin).netloc == headers.get("host")
    return scope["method"] in _READS


def set_cookie(response: Response, key: str, *, seconds: int, origin: str | None) -> None:
    """Give the browser its key. `origin` is that of the page, which says whether TLS leads to KAI."""
    response.set_cookie(
        COOKIE,
        key,
        max_age=seconds,
        path=f"{API_PREFIX}/",
        secure=origin is not None and origin.startswith("https://"),
        httponly=True,
        samesite="strict",
    )


def delete_cookie(response: Response) -> None:
    response.delete_cookie(COOKIE, path=f"{API_PREFIX}/", httponly=True, samesite="strict")
