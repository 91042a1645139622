"""The OpenAPI documents of KAI."""

from functools import cache
from typing import Any

from app.http.description.apis import API_V1, OTHER_APIS
from app.http.description.documents import document
from app.main import describe_api


@cache
def documents() -> dict[str, dict[str, Any]]:
    """The documents of all APIs by their prefix. Change none."""
    app = describe_api()
    return {api.prefix: document(app, api) for api in (API_V1, *OTHER_APIS.values())}


def parameters_of(described: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of an operation, shared ones too."""
    shared = described["components"].get("parameters", {})
    return [
        shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for each in operation.get("parameters", [])
    ]
