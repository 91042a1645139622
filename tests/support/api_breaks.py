"""What of a described API breaks clients that were written against an earlier description.

`make description` keeps the present one when a version is released.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.http.description.apis import API_V1
from app.http.description.documents import route_document
from app.http.routes import API_PREFIX
from app.main import describe_api

Schema = dict[str, Any]
_METHODS = ("get", "put", "post", "delete", "patch")
_AT_MOST = ("maxLength", "maximum", "maxItems")
_AT_LEAST = ("minLength", "minimum", "minItems")


RELEASED = Path(__file__).parents[1] / "frozen" / "wire" / "api_v1.json.gz"


def present() -> Schema:
    """The description of `/api/v1` as it is."""
    found: Schema = json.loads(json.dumps(route_document(describe_api(), API_V1)))
    paths = {path: methods for path, methods in found["paths"].items() if path.startswith(f"{API_PREFIX}/")}
    return {"paths": paths, "components": {"schemas": found["components"]["schemas"]}}


def released() -> Schema:
    """The description of `/api/v1` as of the latest release."""
    found: Schema = json.loads(gzip.decompress(RELEASED.read_bytes()))
    return found


def breaks(before: Schema, after: Schema) -> list[str]:
    """Returns a line for each break: what was removed, is newly required, or takes or answers other types."""
    return list(_Comparison(before, after).breaks())


class _Comparison:
    def __init__(self, before: Schema, after: Schema) -> None:
        self._before = before
        self._after = after
        self._seen: set[tuple[str, str, bool]] = set()

    def breaks(self) -> Iterator[str]:
        for path, methods in self._before["paths"].items():
            for method in _METHODS:
                if method not in methods:
                    continue
                name, now = f"{method.upper()} {path}", self._after["paths"].get(path, {}).get(method)
                if now is None:
                    yield f"{name}: removed"
                else:
                    yield from self._operation(name, methods[method], now)

    def _operation(self, name: str, before: Schema, after: Schema) -> Iterator[str]:
        yield from self._parameters(name, before, after)
        old, new = _body(before), _body(after)
        if old is not None and new is not None:
            yield from self._schema(f"{name}: body", old, new, sent=True)
        elif new is not None and after["requestBody"].get("required"):
            yield f"{name}: needs a body"
        for status, answer in before["responses"].items():
            if not status.startswith("2"):
                continue
            now = after["responses"].get(status)
            if now is None:
                yield f"{name}: answers no {status}"
                continue
            for media_type, content in answer.get("content", {}).items():
                found = now.get("content", {}).get(media_type)
                if found is None:
                    yield f"{name}: {status} is no {media_type}"
                else:
                    place = f"{name}: {status}"
                    yield from self._schema(
                        place, content.get("schema", {}), found.get("schema", {}), sent=False
                    )

    def _parameters(self, name: str, before: Schema, after: Schema) -> Iterator[str]:
        old, new = _named_parameters(before), _named_parameters(after)
        for key, parameter in old.items():
            if key not in new:
                yield f"{name}: parameter {key[1]} removed"
            else:
                yield from self._schema(
                    f"{name}: parameter {key[1]}", parameter["schema"], new[key]["schema"], sent=True
                )
        for key, parameter in new.items():
            if parameter.get("required") and not old.get(key, {}).get("required"):
                yield f"{name}: needs parameter {key[1]}"

    def _schema(self, place: str, before: Schema, after: Schema, *, sent: bool) -> Iterator[str]:
        if "$ref" in before and "$ref" in after:
            key = (before["$ref"], after["$ref"], sent)
            if key in self._seen:
                return
            self._seen.add(key)
        before, after = _resolved(self._before, before), _resolved(self._after, after)
        old, new = _kinds(self._before, before), _kinds(self._after, after)
        # What is sent may become more, and what is answered less, but not the other way round.
        lost = (old - new if sent else new - old) if old and new else set()
        if lost or (sent and new and not old):
            yield f"{place}: {'no more' if sent else 'may be'} {', '.join(sorted(lost)) or 'anything'}"
        if sent:
            yield from _narrower(place, before, after)
        if "properties" in before and "properties" in after:
            yield from self._fields(place, before, after, sent=sent)
        if "items" in before and "items" in after:
            yield from self._schema(f"{place}[]", before["items"], after["items"], sent=sent)
        was, now = _alternatives(before), _alternatives(after)
        if len(was) == len(now) == 1 and (was != [before] or now != [after]):
            yield from self._schema(place, was[0], now[0], sent=sent)

    def _fields(self, place: str, before: Schema, after: Schema, *, sent: bool) -> Iterator[str]:
        for name, field in before["properties"].items():
            if name not in after["properties"]:
                yield f"{place}.{name}: removed"
            else:
                yield from self._schema(f"{place}.{name}", field, after["properties"][name], sent=sent)
        was, now = set(before.get("required", ())), set(after.get("required", ()))
        for name in sorted(now - was if sent else (was - now) & after["properties"].keys()):
            yield f"{place}.{name}: {'now required' if sent else 'may be missing'}"


def _named_parameters(operation: Schema) -> dict[tuple[str, str], Schema]:
    return {(each["in"], each["name"]): each for each in operation.get("parameters", ())}


def _body(operation: Schema) -> Schema | None:
    content = operation.get("requestBody", {}).get("content", {})
    return next((each.get("schema", {}) for each in content.values()), None)


def _resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _alternatives(schema: Schema) -> list[Schema]:
    """The schemas that a value may have, null left out."""
    found = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return [each for each in found if each.get("type") != "null"]


def _kinds(document: Schema, schema: Schema) -> set[str]:
    """The types of JSON that a value may have. Empty for any."""
    kinds: set[str] = set()
    for each in schema.get("anyOf") or schema.get("oneOf") or [schema]:
        found = _resolved(document, each)
        types = found.get("type", [])
        kinds |= {types} if isinstance(types, str) else set(types)
        if found is not schema and ("anyOf" in found or "oneOf" in found):
            kinds |= _kinds(document, found)
    return kinds


def _narrower(place: str, before: Schema, after: Schema) -> Iterator[str]:
    """Yields values that are no more taken."""
    if "enum" in after and (gone := set(before.get("enum", ())) - set(after["enum"])):
        yield f"{place}: no more {', '.join(sorted(map(str, gone)))}"
    if "enum" in after and "enum" not in before and "const" not in before:
        yield f"{place}: only certain values"
    for name in _AT_MOST:
        if name in after and after[name] < before.get(name, float("inf")):
            yield f"{place}: {name} {after[name]}"
    for name in _AT_LEAST:
        if name in after and after[name] > before.get(name, 0):
            yield f"{place}: {name} {after[name]}"


if __name__ == "__main__":
    RELEASED.write_bytes(gzip.compress(json.dumps(present(), sort_keys=True).encode(), mtime=0))
