"""One Typesense collection, as its keepers need it: batches in, batches out, and no failure overlooked.

Filters are texts in Typesense's own syntax. Whoever builds them puts only numbers and hashes in, never
what somebody wrote: Typesense has no escape that holds.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from typesense import AsyncClient
from typesense.async_.documents import AsyncDocuments
from typesense.exceptions import ObjectAlreadyExists, TypesenseClientError
from typesense.types.collection import CollectionCreateSchema
from typesense.types.document import DeleteQueryParameters, DocumentExportParameters, DocumentSchema
from typesense.types.multi_search import MultiSearchRequestSchema

Document: TypeAlias = Mapping[str, object]
Fields: TypeAlias = Sequence[Mapping[str, object]]

MOST_FOUND = 250
"""Documents that Typesense gives for one search."""

_SEARCHES_AT_ONCE = 50
_BATCH_BYTES = 4_000_000
_VALUES_IN_A_URL = 60  # the query string of a request has 4,000 characters at most
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
        self._documents: AsyncDocuments[DocumentSchema] = AsyncDocuments(client.api_call, name)
        self.name = name

    async def make(self, fields: Fields) -> None:
        """Make the collection unless it is there."""
        schema = cast("CollectionCreateSchema", {"name": self.name, "fields": fields})
        try:
            await self._client.collections.create(schema)
        except ObjectAlreadyExists:
            return

    async def write(
        self, documents: Sequence[Document], action: Literal["create", "update", "upsert"]
    ) -> list[bool]:
        """Write documents in their order; tells of each whether it was written.

        One that `create` finds there, or `update` does not, is left as it is. Raises `DocumentsRefused`
        for any other failure, after which others of the batch may have been written.
        """
        written: list[bool] = []
        for lines in _batches(documents):
            answer = await self._documents.import_(lines, {"action": action})
            for line in answer.splitlines():
                result = json.loads(line)
                if not result["success"] and result.get("code") not in _LEFT_AS_IT_IS:
                    raise DocumentsRefused(f"Typesense refused a document: {result.get('error')}")
                written.append(result["success"])
        return written

    async def find(self, *searches: Mapping[str, object]) -> list[list[Document]]:
        """The documents that each search finds, by one request for up to fifty of them."""
        found: list[list[Document]] = []
        for start in range(0, len(searches), _SEARCHES_AT_ONCE):
            request = [
                {"collection": self.name, "q": "*", "per_page": MOST_FOUND, **search}
                for search in searches[start : start + _SEARCHES_AT_ONCE]
            ]
            answer = await self._client.multi_search.perform(
                cast("MultiSearchRequestSchema", {"searches": request})
            )
            found += [_hits(result) for result in cast("list[Mapping[str, object]]", answer["results"])]
        return found

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
        """Delete what meets the filter (up to 3,000 characters); returns how many."""
        deleted = await self._documents.delete(cast("DeleteQueryParameters", {"filter_by": where}))
        return deleted["num_deleted"]

    async def export_any(self, field: str, values: Sequence[str]) -> list[Document]:
        """All documents whose field has one of the (hashed) values."""
        return [each for where in _any_of(field, values) for each in await self.export(where)]

    async def delete_any(self, field: str, values: Sequence[str]) -> int:
        """Delete the documents whose field has one of the (hashed) values; returns how many."""
        return sum([await self.delete(where) for where in _any_of(field, values)])


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


def _hits(result: Mapping[str, object]) -> list[Document]:
    if "hits" not in result:
        raise SearchFailed(f"Typesense did not search: {result.get('error')}")
    return [hit["document"] for hit in cast("list[Mapping[str, Document]]", result["hits"])]
