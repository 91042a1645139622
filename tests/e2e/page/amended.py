"""Answers of the real server, with other references or options than it found itself."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from playwright.sync_api import Page, Route

Part: TypeAlias = Sequence[Mapping[str, object]]

_EVENT = re.compile(r"id: (\d+)\r?\nevent: chunk\r?\ndata: (\{.*\})\r?\n\r?\n")


def amend(page: Page, references: Part = (), options: Part = ()) -> None:
    """From now on the page gets these references and options with every answer, live and from the history."""

    def stream(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(
            response=answer, body=_EVENT.sub(lambda found: chunk(found, references, options), answer.text())
        )

    def history(route: Route) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        answer = route.fetch()
        session = answer.json()
        for message in session["messages"]["items"]:
            message |= {"references": list(references), "options": list(options)}
        route.fulfill(response=answer, json=session)

    page.route(re.compile(r"/stream$"), stream)
    page.route(re.compile(r"/api/v1/sessions/[^/?]+(\?|$)"), history)


def chunk(found: re.Match[str], references: Part, options: Part) -> str:
    said = json.loads(found[2])
    match said["type"]:
        case "analysis":
            # Between the numbers of the server's own events.
            content = json.dumps({"event": "chunk", "type": "references", "content": list(references)})
            return f"{found[0]}id: {found[1]}.5\nevent: chunk\ndata: {content}\n\n"
        case "references":
            return ""
        case "clarification":
            return found[0].replace(found[2], json.dumps(said | {"options": list(options)}))
        case _:
            return found[0]
