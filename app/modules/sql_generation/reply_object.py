"""A reply as one JSON object: its schema, and how it is read, also while it streams."""

import re
from dataclasses import dataclass
from typing import TypeGuard, get_args

from pydantic import JsonValue
from pydantic_core import from_json

from app.core.llm.model import ReplySchema
from graph.state import Route

_ROUTES: tuple[Route, ...] = tuple(route for route in get_args(Route) if route != "investigate")
"""An investigation is offered in text only."""

REPLY_OBJECT = ReplySchema(
    "write_sql",
    "Answers the analyst's question.",
    {
        "route": {"type": "string", "enum": list(_ROUTES)},
        "question": {"type": "string"},
        "explanation": {"type": "string"},
        "sql": {"type": "string"},
        "text": {"type": "string"},
    },
)
_BEGINNING = re.compile(rf'\{{\s*"(?:{"|".join(REPLY_OBJECT.properties)})"\s*:')
_SQL_BEGINS = re.compile(r'"sql"\s*:\s*"')
_SQL_ENDS = re.compile(r'"\s*(?:,\s*"text"\s*:|\}[\s`]*$)')
_ESCAPED = re.compile(r'\\(["\\/n])')


@dataclass(frozen=True, kw_only=True)
class ReplyObject:
    """Fields of a model's reply. A field that the model left out is empty."""

    route: Route
    question: str
    explanation: str
    sql: str
    text: str


def read_object(text: str) -> ReplyObject | None:
    """The last object of a reply that has a route, with or without other text around it."""
    for found in REPLY_OBJECT.read_objects(text):
        if _is_route(route := _text_of(found, "route").lower()):
            return ReplyObject(
                route=route,
                question=_text_of(found, "question"),
                explanation=_text_of(found, "explanation"),
                sql=_text_of(found, "sql"),
                text=_text_of(found, "text"),
            )
    return None


def broken_sql(text: str) -> str | None:
    """The whole statement of an object that is no JSON, as with quotes in it that are not escaped."""
    begins = list(_SQL_BEGINS.finditer(text))
    ends = _SQL_ENDS.search(text, begins[-1].end()) if begins else None
    if ends is None:
        return None
    written = text[begins[-1].end() : ends.start()]
    return _ESCAPED.sub(lambda sign: "\n" if sign[1] == "n" else sign[1], written)


def partial_sql(text: str) -> str | None:
    """The statement in the first object of a reply as far as it is written; None while no object begins."""
    beginning = _BEGINNING.search(text)
    if beginning is None:
        return None
    try:
        found: JsonValue = from_json(text[beginning.start() :], allow_partial="trailing-strings")
    except ValueError:  # there is text after the object, or it is none
        return ""
    sql = found.get("sql") if isinstance(found, dict) else None
    return sql if isinstance(sql, str) else ""


def _is_route(name: str) -> TypeGuard[Route]:
    return name in _ROUTES


def _text_of(found: dict[str, JsonValue], key: str) -> str:
    """Half a surrogate pair, which JSON can spell and UTF-8 cannot, becomes a question mark."""
    said = found.get(key)
    return said.strip().encode(errors="replace").decode() if isinstance(said, str) else ""
