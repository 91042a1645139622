"""One Typesense collection, as its keepers need it: batches in, batches out, and no failure overlooked.

Filters are texts in Typesense's own syntax. Whoever builds them puts only numbers and hashes in, never
what somebody wrote: Typesense has no escape that holds.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from typesense import AsyncClient
from typesense.async_.collection import AsyncCollection
from typesense.exceptions import ObjectAlreadyExists, TypesenseClientError
from typesense.types.collection import CollectionCreateSchema, CollectionUpdateSchema
from typesense.types.document import DeleteQueryParameters, DocumentExportParameters, DocumentSchema
from typesense.types.multi_search import MultiSearchRequestSchema

Document: TypeAlias = Mapping[str, object]
Fields: TypeAlias = Sequence[Mapping[str, object]]

Action: TypeAlias = Literal["create", "update", "upsert"]
Written: TypeAlias = Literal[True] | str | None
"""Of one document: written, refused for this reason, or left as it was."""

MOST_FOUND = 250
"""Documents that Typesense gives for one search."""

_SEARCHES_AT_ONCE = 50
_BATCH_BYTES = 4_000_000
_CHARACTERS_IN_A_URL = 3_000  # a query string has 4,000 at most
_VALUES_IN_A_URL = 60
_LEFT_AS_IT_IS = {404, 409}


class DocumentsRefused(TypesenseClientError):
    """Typesense did not keep some documents of a batch; the first reason is the message."""


class SearchFailed(TypesenseClientError):
    """Typesense did not answer one of several searches."""


class TypesenseCollection:
    """Raises `typesense.exceptions.TypesenseClientError` or `httpx.HTTPError` when the server is away or
    refuses. Every write may be repeated."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client = client
        self._collection: AsyncCollection[DocumentSchema] = AsyncCollection(client.api_call, name)
        self._documents = self._collection.documents
        self.name = name

    async def make(self, fields: Fields) -> None:
        """Make the collection unless it is there."""
        schema = cast("CollectionCreateSchema", {"name": self.name, "fields": fields})
        try:
            await self._client.collections.create(schema)
        except ObjectAlreadyExists:
            return

    async def add_fields(self, fields: Fields) -> None:
        """Declare more fields; those that are there already are left as they are."""
        there = {field["name"] for field in (await self._collection.retrieve())["fields"]}
        new = [field for field in fields if field["name"] not in there]
        if new:
            await self._collection.update(cast("CollectionUpdateSchema", {"fields": new}))

    async def write(self, documents: Sequence[Document], action: Action) -> list[bool]:
        """Write documents in their order; tells of each whether it was written.

        One that `create` finds there, or `update` does not, is left as it is. Raises `DocumentsRefused`
        for any other failure, after which others of the batch may have been written.
        """
        return check_refusals(await self.send(documents, action))

    async def send(self, documents: Sequence[Document], action: Action) -> list[Written]:
        """What became of each document, refusals included."""
        written: list[Written] = []
        for lines in _batches(documents):
            answer = await self._documents.import_(lines, {"action": action})
            for line in answer.splitlines():
                result = json.loads(line)
                left = result.get("code") in _LEFT_AS_IT_IS
                written.append(result["success"] or (None if left else str(result.get("error"))))
        return written

    async def find(self, *searches: Mapping[str, object]) -> list[list[Document]]:
        """The documents that each search finds, by one request for up to fifty of them."""
        return [
            [hit["document"] for hit in cast("list[Mapping[str, Document]]", result["hits"])]
            for result in await self._search(searches)
        ]

    async def count(self, where: str) -> int:
        (result,) = await self._search([{"filter_by": where, "per_page": 0}])
        return cast("int", result["found"])

    async def _search(self, searches: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
        results: list[Mapping[str, object]] = []
        for start in range(0, len(searches), _SEARCHES_AT_ONCE):
            request = [
                {"collection": self.name, "q": "*", "per_page": MOST_FOUND, **search}
                for search in searches[start : start + _SEARCHES_AT_ONCE]
            ]
            answer = await self._client.multi_search.perform(
                cast("MultiSearchRequestSchema", {"searches": request})
            )
            results += cast("list[Mapping[str, object]]", answer["results"])
        for result in results:
            if "hits" not in result:
                raise SearchFailed(f"Typesense did not search: {result.get('error')}")
        return results

    async def find_all(self, search: Mapping[str, object]) -> list[Document]:
        """All documents that a search finds, however many; the newest written first, none left out."""
        found: dict[object, Document] = {}
        page = 0
        while True:
            page += 1
            (hits,) = await self.find({**search, "page": page})
            found.update((hit["id"], hit) for hit in hits)
            if len(hits) < MOST_FOUND:
                return list(found.values())

    async def export(self, where: str) -> list[Document]:
        """All documents that meet the filter (up to 3,000 characters)."""
        parameters = cast("DocumentExportParameters", {"filter_by": where})
        return [json.loads(line) for line in (await self._documents.export(parameters)).splitlines()]

    async def delete(self, where: str) -> int:
        """Delete what meets the filter; returns how many."""
        if len(where) > _CHARACTERS_IN_A_URL:
            found = await self.find_all({"filter_by": where, "include_fields": "id"})
            return await self.delete_any("id", [cast("str", each["id"]) for each in found])
        deleted = await self._documents.delete(cast("DeleteQueryParameters", {"filter_by": where}))
        return deleted["num_deleted"]

    async def export_any(self, field: str, values: Sequence[str]) -> list[Document]:
        """All documents whose field has one of the (hashed) values."""
        return [each for where in _any_of(field, values) for each in await self.export(where)]

    async def delete_any(self, field: str, values: Sequence[str]) -> int:
        """Delete the documents whose field has one of the (hashed) values; returns how many."""
        return sum([await self.delete(where) for where in _any_of(field, values)])


def check_refusals(written: Sequence[Written]) -> list[bool]:
    """Raises `DocumentsRefused` for the first refusal."""
    for each in written:
        if isinstance(each, str):
            raise DocumentsRefused(f"Typesense refused a document: {each}")
    return [each is True for each in written]


def by_ids(ids: Sequence[str]) -> list[dict[str, object]]:
    """Searches for all the documents of these (hashed) ids."""
    batches = (ids[start : start + MOST_FOUND] for start in range(0, len(ids), MOST_FOUND))
    return [{"filter_by": f"id:=[{','.join(batch)}]"} for batch in batches]


def _any_of(field: str, values: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(values), _VALUES_IN_A_URL):
        yield f"{field}:=[{','.join(values[start : start + _VALUES_IN_A_URL])}]"


def _batches(documents: Sequence[Document]) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    for document in documents:
        line = json.dumps(document)
        if lines and size + len(line) > _BATCH_BYTES:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield "\n".join(lines)
