"""Answers of the real server, with other claims or options than it found itself."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from playwright.sync_api import Page, Route

Part: TypeAlias = Sequence[Mapping[str, object]]

_EVENT = re.compile(r"id: (\d+)\r?\nevent: chunk\r?\ndata: (\{.*\})\r?\n\r?\n")


def amend(page: Page, claims: Part = (), options: Part = ()) -> None:
    """From now on the page gets these claims and options with every answer, live and from the history."""

    def stream(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(
            response=answer, body=_EVENT.sub(lambda found: chunk(found, claims, options), answer.text())
        )

    def history(route: Route) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        answer = route.fetch()
        session = answer.json()
        for message in session["messages"]["items"]:
            message |= {"claims": list(claims), "options": list(options)}
        route.fulfill(response=answer, json=session)

    page.route(re.compile(r"/stream$"), stream)
    page.route(re.compile(r"/api/v1/sessions/[^/?]+(\?|$)"), history)


def chunk(found: re.Match[str], claims: Part, options: Part) -> str:
    said = json.loads(found[2])
    match said["type"]:
        case "analysis":
            # Between the numbers of the server's own events.
            content = json.dumps({"event": "chunk", "type": "claims", "content": list(claims)})
            return f"{found[0]}id: {found[1]}.5\nevent: chunk\ndata: {content}\n\n"
        case "claims":
            return ""
        case "clarification":
            return found[0].replace(found[2], json.dumps(said | {"options": list(options)}))
        case _:
            return found[0]


def claim(
    text: str, words: str, status: str, source: Mapping[str, object] | None = None
) -> dict[str, object]:
    """A claim at the first place of these words in the text."""
    start = text.index(words)
    return {
        "text": words,
        "span": [start, start + len(words)],
        "status": status,
        "from": None if source is None else dict(source),
    }
