"""Assistants: the databases that a caller may ask, each with KAI's one graph."""

from collections.abc import Mapping, Sequence
from functools import cache

from pydantic import JsonValue

from app.core.clock import rfc3339
from app.modules.protocols.langgraph.schemas import AssistantSearch
from app.modules.protocols.options import WithOptions
from app.modules.protocols.threads import AGENT, Assistant, agent_id
from graph.session import drawn_graph

GRAPH_ID = "kai"
_METADATA: Mapping[str, JsonValue] = {"created_by": "system"}
"""Of every assistant."""


def assistant_of(assistant: Assistant) -> dict[str, JsonValue]:
    connection = assistant.connection
    created_at = rfc3339(connection.created_at)
    is_agent = assistant.mode == "agent"
    return {
        "assistant_id": agent_id(connection.id) if is_agent else connection.id,
        "graph_id": GRAPH_ID,
        "name": f"{connection.name}{AGENT}" if is_agent else connection.name,
        "description": connection.description or None,
        "version": 1,
        "config": {},
        "context": {},
        "metadata": {**_METADATA},
        "created_at": created_at,
        "updated_at": created_at,
    }


def have_metadata(metadata: Mapping[str, JsonValue]) -> bool:
    """Returns true if assistants have these values in their metadata."""
    return metadata.items() <= _METADATA.items()


def matching(assistants: Sequence[Assistant], wanted: AssistantSearch) -> list[dict[str, JsonValue]]:
    """Returns all assistants that match, in order."""
    if wanted.graph_id not in (None, GRAPH_ID) or not have_metadata(wanted.metadata):
        return []
    name = (wanted.name or "").casefold()
    found = [each for each in map(assistant_of, assistants) if name in str(each["name"]).casefold()]
    by = wanted.sort_by or "created_at"
    return sorted(found, key=lambda each: str(each[by]), reverse=wanted.sort_order == "desc")


def selected(thing: Mapping[str, JsonValue], fields: Sequence[str] | None) -> dict[str, JsonValue]:
    """Returns the selected fields of a thing; all if none are selected."""
    return {key: value for key, value in thing.items() if not fields or key in fields}


def page_headers(total: int, end: int) -> dict[str, str]:
    """Returns what clients read of a page besides its items: how many there are in all, and if any come after
    this page, the offset of the next one. `end` is the offset behind the page.
    """
    following = {"X-Pagination-Next": str(end)} if end < total else {}
    return {"X-Pagination-Total": str(total), **following}


@cache
def graph() -> dict[str, list[dict[str, JsonValue]]]:
    """The shape of KAI's graph, as LangGraph draws it."""
    return drawn_graph()


_MESSAGES: dict[str, JsonValue] = {
    "title": "Messages",
    "type": "array",
    "description": "Messages as LangChain writes them. The last one is the user's question.",
    "items": {"type": "object"},
}
_INPUT: dict[str, JsonValue] = {
    "title": "Question",
    "type": "object",
    "properties": {"messages": _MESSAGES},
    "required": ["messages"],
}
_STATE: dict[str, JsonValue] = {
    "title": "Answer",
    "type": "object",
    "properties": {
        "messages": _MESSAGES,
        "sql": {"type": ["string", "null"], "description": "The statement of the latest answer."},
        "results": {"type": ["object", "null"], "description": "The head of its rows."},
        "analysis": {"type": ["string", "null"], "description": "Its text, in Markdown."},
        "chart": {"type": ["object", "null"], "description": "Its chart, as Vega-Lite."},
        "suggestions": {"type": "array", "items": {"type": "string"}},
        "headline": {"type": ["string", "null"], "description": "Its first statement, in a few words."},
        "references": {
            "type": "array",
            "items": {"type": "object"},
            "description": "What its statements were computed from.",
        },
        "left_out": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Why parts of the model's choice were left out.",
        },
        "findings": {
            "type": "array",
            "items": {"type": "object"},
            "description": "What an investigation found.",
        },
        "code": {"type": "array", "items": {"type": "object"}, "description": "Code for the user."},
        "link": {"type": "array", "items": {"type": "object"}, "description": "Things that it names."},
        "action": {"type": "array", "items": {"type": "object"}, "description": "What to do next."},
        "structured_response": {
            "type": ["object", "null"],
            "description": "The answer in one object: text, sql, columns, its first rows, and ids.",
        },
    },
}
_NOTHING: dict[str, JsonValue] = {"title": "Nothing", "type": "object", "properties": {}}


def schemas() -> dict[str, JsonValue]:
    """The JSON schemas of what is asked and answered."""
    return {
        "graph_id": GRAPH_ID,
        "input_schema": _INPUT,
        "output_schema": _STATE,
        "state_schema": _STATE,
        "config_schema": _NOTHING,
        "context_schema": WithOptions.model_json_schema(),
    }
