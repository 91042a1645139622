"""Bodies of the store of the LangGraph API: items that clients keep."""

import json
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from app.core.clock import rfc3339
from app.http.routes import Body, Text
from app.modules.items.service import MOST_FOUND, Item, Namespace

MAX_VALUE_BYTES = 64 * 1024
MAX_LABELS = 8


def _without_dot(label: str) -> str:
    if "." in label:
        raise ValueError("a label has no dot")
    return label


def _null(cure: str) -> AfterValidator:
    def check(value: JsonValue) -> JsonValue:
        if value is not None:
            raise ValueError(f"KAI does not offer this. {cure}")
        return value

    return AfterValidator(check)


def _not_refreshed(refresh: bool | None) -> bool | None:
    if refresh:
        raise ValueError("KAI does not offer this. Items stay until they are deleted.")
    return refresh


def _small(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError as error:
        raise ValueError("the value contains half a surrogate pair") from error
    if size > MAX_VALUE_BYTES:
        raise ValueError(f"the value takes {size} bytes; {MAX_VALUE_BYTES} are allowed")
    return value


def _scalars(pairs: dict[str, JsonValue]) -> dict[str, JsonValue]:
    others = [name[:100] for name, value in pairs.items() if isinstance(value, list | dict)]
    if others:
        raise ValueError(
            f"KAI compares {', '.join(map(repr, others))} by equality only, with a text, a number, true, "
            "false or null"
        )
    return pairs


def _no_null(value: object) -> object:
    """Clients send null for what they leave out."""
    return [] if value is None else value


def _no_null_pairs(value: object) -> object:
    return {} if value is None else value


def _labels_in(query: object) -> object:
    """Labels of a query, joined by dots."""
    if isinstance(query, list) and all(isinstance(each, str) for each in query):
        return ".".join(query).split(".")
    return query


Label = Annotated[Text, Field(min_length=1, max_length=100), AfterValidator(_without_dot)]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
Place = Annotated[list[Label], Field(min_length=1, max_length=MAX_LABELS)]
QueriedPlace = Annotated[Place, BeforeValidator(_labels_in)]
Key = Annotated[Text, Field(min_length=1, max_length=500)]
Value = Annotated[dict[str, JsonValue], AfterValidator(_small)]
Pairs = Annotated[
    dict[str, JsonValue],
    Field(max_length=20),
    BeforeValidator(_no_null_pairs),
    AfterValidator(_scalars),
    AfterValidator(_small),
]
Pattern = Annotated[Labels, BeforeValidator(_no_null)]
NoRefresh = Annotated[bool | None, AfterValidator(_not_refreshed)]


class ItemName(Body):
    """Names an item."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"namespace": ["team", "sales"], "key": "home"}]}
    )

    namespace: Place
    """Up to 8 labels without dots. The first one is not `kai`."""
    key: Key
    """Key of the item in its namespace."""


class NewItem(ItemName):
    """An item to keep."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"namespace": ["team", "sales"], "key": "home", "value": {"page": "revenue"}}]
        }
    )

    value: Value
    """Any JSON object, at most 64 KiB."""
    index: Annotated[JsonValue, _null("All texts and numbers of a value are searched by words.")] = None
    """Null."""
    ttl: Annotated[JsonValue, _null("Items stay until they are deleted.")] = None
    """Null."""


class ItemSearch(Body):
    """Selects items."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"namespace_prefix": ["team"], "filter": {"page": "revenue"}}]}
    )

    namespace_prefix: Pattern = Field(default_factory=list)
    """The first labels of the namespaces. Empty: all namespaces."""
    filter: Pairs = Field(default_factory=dict)
    """Fields of the value, all of which must be equal."""
    query: Annotated[Text, Field(max_length=1_000)] | None = None
    """Words that the key and the value have, all of them; the last one may be the beginning of a word."""
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """The most items of the answer."""
    offset: Annotated[int, Field(ge=0, le=MOST_FOUND)] = 0
    """The number of items to skip. With `limit`, at most 1,000."""
    refresh_ttl: NoRefresh = None
    """Not true."""

    @model_validator(mode="after")
    def _is_in_reach(self) -> Self:
        if self.offset + self.limit > MOST_FOUND:
            raise ValueError(
                f"a search reaches {MOST_FOUND} items; select fewer by a longer prefix, a filter or words"
            )
        return self


class NamespaceSearch(Body):
    """Selects namespaces."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"prefix": ["team"], "max_depth": 2}]})

    prefix: Pattern = Field(default_factory=list)
    """The first labels; `*` is any label."""
    suffix: Pattern = Field(default_factory=list)
    """The last labels; `*` is any label."""
    max_depth: Annotated[int, Field(ge=1)] | None = None
    """The most labels of a namespace; longer ones are cut, and named once."""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    """The most namespaces of the answer."""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    """The number of namespaces to skip."""


def item_of(item: Item) -> dict[str, JsonValue]:
    """Returns an item as clients read it."""
    return {
        "namespace": labels_of(item.namespace),
        "key": item.key,
        "value": item.value,
        "created_at": rfc3339(item.created_at),
        "updated_at": rfc3339(item.updated_at),
    }


def labels_of(namespace: Namespace) -> list[JsonValue]:
    return [*namespace]
