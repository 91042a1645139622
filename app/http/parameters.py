"""Parameters that several routes have. Commands that serve nothing do without this module and FastAPI."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any, Literal, Self, TypeVar

from fastapi import Header, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AwareDatetime, Field, JsonValue, model_validator

from app.core.clock import epoch_ms
from app.core.pairs import pair_key
from app.core.storage.listing import Listed, ListRequest
from app.core.storage.port import Condition, ContainsAny, Range
from app.http.problems import CursorRefused
from app.http.routes import Body, Item, PageOf, Text

MOST_METADATA_FILTERS = 8
_METADATA = re.compile(r"metadata\[(.*)\]", re.DOTALL)
_PAGING = {"limit", "cursor", "total"}
_DIGEST_BYTES = 6

Matched = TypeVar("Matched", bound="ListQuery")

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=100,
        description="Id of the last event received. Left out: the stream starts at the beginning.",
    ),
]
CreationSort = Annotated[
    Literal["created_at", "-created_at"], Query(description="Order of the list; `-` is descending.")
]
ChangeSort = Annotated[
    Literal["created_at", "-created_at", "updated_at", "-updated_at"],
    Query(description="Order of the list; `-` is descending."),
]


class PageQuery(Body):
    """Selects a page of a list. A cursor is taken with the parameters of the page that gave it."""

    # FastAPI takes the description of a parameter from the field.
    limit: Annotated[int, Query(ge=1, le=100, description="The most items of a page.")] = 20
    cursor: Annotated[
        Text | None,
        Query(
            max_length=1_000,
            description="`next_cursor` of the previous page. Left out for the first page.",
        ),
    ] = None

    def seal(self, cursor: str | None) -> str | None:
        """Returns the cursor of the next page as clients get it: with a digest of the other parameters."""
        return None if cursor is None else cursor + self._digest()

    def page_of(self, items: Sequence[Item], found: Listed[Any]) -> PageOf[Item]:
        """Returns the body for a page: what was found, as `items`."""
        return PageOf(items=items, next_cursor=self.seal(found.next_cursor), total=found.total)

    @model_validator(mode="after")
    def _open_cursor(self) -> Self:
        if self.cursor is not None:
            digest = self._digest()
            if not self.cursor.endswith(digest) or "." in self.cursor.removesuffix(digest):
                raise CursorRefused
            self.cursor = self.cursor.removesuffix(digest)
        return self

    def _digest(self) -> str:
        """Digest of the order and the filters. Empty for those of a list without parameters."""
        chosen = self.model_dump(mode="json", exclude=_PAGING, exclude_defaults=True)
        text = json.dumps(chosen, sort_keys=True).encode()
        return f".{blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()}" if chosen else ""


PageParameters = Annotated[PageQuery, Query()]


async def refuse_repeats(request: Request) -> None:
    """Dependency of every route of `/api/v1`: each parameter has one value, and none is chosen in silence."""
    numbers = Counter(name for name, _ in request.query_params.multi_items())
    repeated = [name for name, number in numbers.items() if number > 1]
    if repeated:
        message = "it is sent twice, and a parameter has one value"
        raise RequestValidationError(
            [{"type": "repeated", "loc": ("query", name), "msg": message} for name in repeated]
        )


class ListQuery(PageQuery):
    """Selects records by the time of their creation, and a page of them in an order."""

    sort: str
    """Name of a time; `-` before it is descending. Each list has a closed list of them."""
    created_after: Annotated[
        AwareDatetime | None,
        Query(description="Only what was created after this time, such as `2026-01-31T08:00:00Z`."),
    ] = None
    created_before: Annotated[
        AwareDatetime | None, Query(description="Only what was created before this time.")
    ] = None
    total: Annotated[bool, Query(description="`true` counts the items of all pages, as `total`.")] = False

    def wanted(self) -> ListRequest:
        """Returns the page, its order, and the conditions of the parameters that every such list has."""
        return ListRequest(
            limit=self.limit,
            cursor=self.cursor,
            order_by=self.sort.removeprefix("-"),
            descending=self.sort.startswith("-"),
            where=self.conditions(),
            is_counted=self.total,
        )

    def conditions(self) -> Sequence[Condition]:
        return select_between("created_at", self.created_after, self.created_before)


class CreatedQuery(ListQuery):
    """Selects records that do not change."""

    sort: CreationSort = "-created_at"


class ChangedQuery(ListQuery):
    """Selects records by the times of their creation and change, and a page of them in an order."""

    sort: ChangeSort = "-created_at"
    updated_after: Annotated[
        AwareDatetime | None, Query(description="Only what was changed after this time.")
    ] = None
    updated_before: Annotated[
        AwareDatetime | None, Query(description="Only what was changed before this time.")
    ] = None

    def conditions(self) -> Sequence[Condition]:
        changed = select_between("updated_at", self.updated_after, self.updated_before)
        return [*super().conditions(), *changed]


def check_order_of_matches(query: Matched) -> Matched:
    """Raises `ValueError` if a list by words, which has the best matches first, is to be sorted."""
    if getattr(query, "q", None) is not None and "sort" in query.model_fields_set:
        raise ValueError("`q` lists the best matches first: leave `sort` out, or `q`")
    return query


class MetadataQuery(Body):
    """Selects records by pairs of their metadata: `metadata[key]=value`."""

    metadata: Annotated[
        dict[str, str],
        Query(
            description="Only what has all of these pairs in its metadata, at most "
            f"{MOST_METADATA_FILTERS}: `metadata[order]=17`. A number, `true`, `false` and `null` find the "
            "text, too."
        ),
    ] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read_pairs(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        matches = {name: _METADATA.fullmatch(name) for name in given}
        rest = {name: given[name] for name, found in matches.items() if found is None}
        pairs = {found[1]: given[name] for name, found in matches.items() if found is not None}
        if "metadata" in rest:
            raise ValueError("write a pair of metadata as `metadata[key]=value`")
        if len(pairs) > MOST_METADATA_FILTERS:
            raise ValueError(
                f"at most {MOST_METADATA_FILTERS} pairs of metadata select a list, and these are "
                f"{len(pairs)}: send fewer, and compare the others in what is listed"
            )
        return {**rest, "metadata": pairs}

    def metadata_conditions(self) -> list[Condition]:
        """Returns a condition for each pair, on the keys that `pair_keys` makes of stored metadata."""
        return [
            ContainsAny("metadata_keys", [pair_key(name, each) for each in _values_of(text)])
            for name, text in self.metadata.items()
        ]


def _values_of(text: str) -> list[JsonValue]:
    """Returns the values that a parameter may stand for: the text, and the JSON scalar that it writes."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return [text] if isinstance(value, list | dict) else [text, value]


def select_between(field: str, after: datetime | None, before: datetime | None) -> list[Condition]:
    """Returns the condition that a time lies between these two, neither included."""
    if after is None and before is None:
        return []
    at_least = None if after is None else epoch_ms(after) + 1
    return [Range(field, at_least, None if before is None else epoch_ms(before))]
