"""One Typesense collection: batched imports, exact searches, exports and deletions.

Filters are written in Typesense's own syntax. A caller builds them from numbers and hashes only: Typesense
offers no safe way to quote user text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from typesense import AsyncClient
from typesense.async_.collection import AsyncCollection
from typesense.exceptions import ObjectAlreadyExists, TypesenseClientError
from typesense.types.collection import RegularCollectionFieldSchema
from typesense.types.document import DocumentSchema, FilterDeleteParameters

from typesense_checkpoint.searches import SEARCHES_PER_REQUEST, Search, SearchResult, shared_searches

DocumentT = TypeVar("DocumentT", bound=Mapping[str, object])
Field: TypeAlias = RegularCollectionFieldSchema
Action: TypeAlias = Literal["create", "update", "upsert"]

ImportResult: TypeAlias = Literal[True] | str | None
"""True for a written document, Typesense's error message for a refused one, None for one left unchanged."""

MAX_HITS = 250
"""The most documents that Typesense returns for one search."""

_IMPORT_CHARACTERS = 4_000_000
_FILTER_CHARACTERS = 3_000  # a URL's query string holds 4,000 at most
_VALUES_PER_FILTER = 60
_UNCHANGED_CODES = {404, 409}
_WRITTEN = '{"success":true}'  # almost every line of a response; it need not be parsed


class DocumentsRefused(TypesenseClientError):
    """Typesense refused a document of an import; the message is that of the first refusal."""


class SearchFailed(TypesenseClientError):
    """Typesense failed one of several searches; the message is Typesense's."""


class TypesenseCollection(Generic[DocumentT]):
    """A collection of documents of one type.

    Every write can be repeated safely. Every method raises `typesense.exceptions.TypesenseClientError` when
    Typesense refuses a request, and `httpx.HTTPError` when the server is unavailable.
    """

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client = client
        self._collection: AsyncCollection[DocumentSchema] = AsyncCollection(client.api_call, name)
        self._documents = self._collection.documents
        self._searches = shared_searches(client)
        self.name = name

    async def create_if_missing(self, fields: Sequence[Field]) -> None:
        """Create the collection with these fields. An existing collection is left unchanged."""
        try:
            await self._client.collections.create({"name": self.name, "fields": [*fields]})
        except ObjectAlreadyExists:
            return

    async def add_fields(self, fields: Sequence[Field]) -> None:
        """Add fields to the schema. Existing fields are left unchanged."""
        existing = {field["name"] for field in (await self._collection.retrieve())["fields"]}
        missing = [field for field in fields if field["name"] not in existing]
        if missing:
            await self._collection.update({"fields": [*missing]})

    async def write(self, documents: Sequence[DocumentT], action: Action) -> list[bool]:
        """Write documents in order; returns for each whether it was written.

        `create` leaves an existing document unchanged, `update` ignores a missing one: the result is False.
        Raises `DocumentsRefused` for any other failure; other documents may have been written by then.
        """
        return check_refusals(await self.import_documents(documents, action))

    async def import_documents(self, documents: Sequence[DocumentT], action: Action) -> list[ImportResult]:
        """Write documents in order; returns the result of each, refusals included."""
        results: list[ImportResult] = []
        for lines in _import_bodies(documents):
            response = await self._documents.import_(lines, {"action": action})
            for line in response.splitlines():
                if line == _WRITTEN:
                    results.append(True)
                    continue
                result = json.loads(line)
                unchanged = result.get("code") in _UNCHANGED_CODES
                results.append(result["success"] or (None if unchanged else str(result.get("error"))))
        return results

    async def find(self, *searches: Search) -> list[list[DocumentT]]:
        """Returns the documents of each search, at most `MAX_HITS`.

        Searches of the same moment share a request, of up to fifty.
        """
        return [documents for documents, _ in await self._run(searches)]

    async def find_near(self, *searches: Search) -> list[list[tuple[DocumentT, float]]]:
        """Returns the documents of each search by a vector, with the cosines of their vectors."""
        return [
            [(hit["document"], 1 - _distance(hit)) for hit in result["hits"]]
            for result in await self._results(searches)
        ]

    async def find_all(self, search: Search) -> list[DocumentT]:
        """Run one search page by page; returns every match.

        Without `sort_by` the latest written come first, so documents written meanwhile displace none.
        """
        found: dict[object, DocumentT] = {}
        page = 0
        while True:
            page += 1
            (documents,) = await self.find({**search, "page": page})
            found.update((document["id"], document) for document in documents)
            if len(documents) < MAX_HITS:
                return list(found.values())

    async def count(self, filter_by: str) -> int:
        """Count the documents that match a filter."""
        ((_, found),) = await self._run([{"filter_by": filter_by, "per_page": 0}])
        return found

    async def _run(self, searches: Sequence[Search]) -> list[tuple[list[DocumentT], int]]:
        """Returns the documents of each search, and the number of all its matches."""
        return [
            ([hit["document"] for hit in result["hits"]], result["found"])
            for result in await self._results(searches)
        ]

    async def _results(self, searches: Sequence[Search]) -> list[SearchResult]:
        results: list[SearchResult] = []
        for start in range(0, len(searches), SEARCHES_PER_REQUEST):
            batch: list[Search] = [
                {"collection": self.name, "q": "*", "per_page": MAX_HITS, **search}
                for search in searches[start : start + SEARCHES_PER_REQUEST]
            ]
            for result in await self._searches.perform(batch):
                if "hits" not in result:
                    raise SearchFailed(f"Typesense failed a search: {result.get('error')}")
                results.append(result)
        return results

    async def export(self, filter_by: str) -> list[DocumentT]:
        """Returns all documents that match a filter of at most 3,000 characters, in no set order."""
        exported = await self._documents.export({"filter_by": filter_by})
        return [json.loads(line) for line in exported.splitlines()]

    async def export_any(self, field: str, values: Sequence[str]) -> list[DocumentT]:
        """Returns all documents whose field has one of the (hashed) values, in no set order."""
        return [document for where in _filters(field, values) for document in await self.export(where)]

    async def find_ids(self, filter_by: str) -> list[str]:
        """Returns the ids of all documents that match a filter, in no set order."""
        if len(filter_by) > _FILTER_CHARACTERS:
            found = await self.find_all({"filter_by": filter_by, "include_fields": "id"})
            return [str(document["id"]) for document in found]
        exported = await self._documents.export({"filter_by": filter_by, "include_fields": "id"})
        return [str(json.loads(line)["id"]) for line in exported.splitlines()]

    async def delete(self, filter_by: str) -> int:
        """Delete the documents that match a filter; returns their number."""
        if len(filter_by) > _FILTER_CHARACTERS:
            return await self.delete_any("id", await self.find_ids(filter_by))
        parameters: FilterDeleteParameters = {"filter_by": filter_by}
        return (await self._documents.delete(parameters))["num_deleted"]

    async def delete_any(self, field: str, values: Sequence[str]) -> int:
        """Delete the documents whose field has one of the (hashed) values; returns their number."""
        return sum([await self.delete(where) for where in _filters(field, values)])


def check_refusals(results: Sequence[ImportResult]) -> list[bool]:
    """Returns for each document whether it was written. Raises `DocumentsRefused` for the first refusal."""
    for result in results:
        if isinstance(result, str):
            raise DocumentsRefused(f"Typesense refused a document: {result}")
    return [result is True for result in results]


def searches_by_id(ids: Sequence[str]) -> list[Search]:
    """Returns the searches that together find the documents of these (hashed) ids."""
    batches = (ids[start : start + MAX_HITS] for start in range(0, len(ids), MAX_HITS))
    return [{"filter_by": f"id:=[{','.join(batch)}]"} for batch in batches]


def _filters(field: str, values: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(values), _VALUES_PER_FILTER):
        yield f"{field}:=[{','.join(values[start : start + _VALUES_PER_FILTER])}]"


def _import_bodies(documents: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yields the documents as JSON lines, a few megabytes at a time."""
    lines: list[str] = []
    size = 0
    for document in documents:
        line = json.dumps(document, separators=(",", ":"))
        if lines and size + len(line) > _IMPORT_CHARACTERS:
            yield "\n".join(lines)
            lines = []
            size = 0
        lines.append(line)
        size += len(line)
    if lines:
        yield "\n".join(lines)


def _distance(hit: Mapping[str, object]) -> float:
    """Returns the cosine distance of a hit, which the client's types leave out."""
    distance = hit["vector_distance"]
    if not isinstance(distance, float | int):
        raise SearchFailed(f"Typesense gave the distance {distance!r}")
    return distance
