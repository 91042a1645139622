"""The language of the page: the one that its cookie names, else the one that the browser asks for first."""

import re
from typing import Literal, get_args

from starlette.requests import Request

Language = Literal["en", "de"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
"""The page is built in each of these. The first one is for readers who ask for none of them."""

COOKIE = "kai_language"
"""Set by the page's settings."""
_WISH = re.compile(r"([a-z]{1,8}|\*)(?:-[a-z0-9-]*)?(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?", re.ASCII)


def language_of(request: Request) -> Language:
    named = request.cookies.get(COOKIE)
    for language in LANGUAGES:
        if language == named:
            return language
    return most_wished(",".join(request.headers.getlist("accept-language")))


def most_wished(accept_language: str) -> Language:
    """Returns the language of the highest quality, the first of several. Malformed parts do not count.

    A region does not matter: `de-AT` asks for German. `*` asks for all languages that are not named.
    """
    wishes: dict[str, tuple[float, int]] = {}
    for place, part in enumerate(accept_language.lower().split(",")):
        if (wish := _WISH.fullmatch(part.strip())) is not None:
            name, quality = wish.groups()
            wishes[name] = max(wishes.get(name, (0.0, 0)), (float(quality or 1), -place))
    others = wishes.get("*", (0.0, 0))
    best = max(LANGUAGES, key=lambda each: wishes.get(each, others))
    return best if wishes.get(best, others)[0] > 0 else LANGUAGES[0]
