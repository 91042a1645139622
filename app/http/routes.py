"""Shared parts of routes and their bodies: storable text, times, and pages of a list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from app.core.clock import as_datetime
from graph.described import Described

API_PREFIX = "/api/v1"


def is_storable(text: str) -> bool:
    """Returns False for text that a store or a database cannot hold."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def storable(text: str) -> str:
    """Returns the text. Raises `ValueError` for text that a store or a database cannot hold."""
    if not is_storable(text):
        raise ValueError("the text contains a character that cannot be stored (NUL or half a surrogate pair)")
    return text


def not_null(value: object) -> object:
    """Returns the value of a field that may be left out. Raises `ValueError` for null."""
    if value is None:
        raise ValueError("this field cannot be null; leave it out to keep its value")
    return value


Text = Annotated[str, AfterValidator(storable)]
"""Text that every store and database can hold."""
Time = Annotated[datetime, BeforeValidator(as_datetime)]
"""Epoch milliseconds in the store, RFC 3339 in UTC on the wire."""


class Body(Described):
    """Base of request bodies. An unknown field is an error, and a field's docstring is its description."""

    model_config = ConfigDict(extra="forbid")


class ResponseBody(Described):
    """Base of response bodies. A field's docstring is its description in OpenAPI."""

    model_config = ConfigDict(from_attributes=True, defer_build=True)


class VersionedBody(ResponseBody):
    """Base of bodies of records that PATCH changes."""

    # The first field: `app.http.entity_tags` reads it at the beginning of the text.
    version: int
    """Number of edits. `If-Match` with it, or with the `ETag`, changes the record only as it was read."""


Item = TypeVar("Item")


class PageOf(ResponseBody, Generic[Item]):
    """A page of a list."""

    items: Annotated[Sequence[Item], Field(description="Items of the page.")]
    next_cursor: Annotated[str | None, Field(description="Cursor of the next page. Null on the last page.")]
    total: Annotated[int | None, Field(description="Items of all pages. Null unless `total=true`.")] = None
