"""Routes of the knowledge of a database as a file."""

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import ConfigDict, Field

from app.http.callers import MANAGE, READ, Owner
from app.http.router import Router
from app.http.routes import Body, ResponseBody, Text
from app.modules.context_store.portable import FileFormat
from app.modules.context_store.schemas import ConnectionId
from app.modules.context_store.transfer import ImportedEntry, KnowledgeFiles, Outcome

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "markdown": "text/markdown; charset=utf-8"}
_ENDINGS = {"csv": "csv", "markdown": "md"}

router = Router(prefix="/knowledge", tags=["context store"])


async def _files(request: Request) -> KnowledgeFiles:
    files: KnowledgeFiles = request.app.state.services.knowledge_files
    return files


Files = Annotated[KnowledgeFiles, Depends(_files)]


class ExportQuery(Body):
    """Selects the knowledge of a database, and the format of its file."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    db_connection_id: Annotated[Text, Query(max_length=100)]
    """Id of the database connection."""
    format: FileFormat = "csv"
    """Format of the file."""


class KnowledgeImport(Body):
    """A file of knowledge to import."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "db_connection_id": "019ab1c2-0000-7000-8000-000000000000",
                    "format": "csv",
                    "text": "kind,name,text\nterm,churn,No order for 90 days\n",
                }
            ]
        }
    )

    db_connection_id: ConnectionId
    """Id of the database connection."""
    format: FileFormat
    """Format of the file."""
    text: Annotated[Text, Field(max_length=900_000)]
    """Text of the file."""
    dry_run: bool = True
    """Only reports what the import would do."""


class ImportedEntryBody(ResponseBody):
    """What becomes of an entry of the file."""

    line: int
    """Line where the entry begins, counted from 1."""
    kind: str
    """`term`, `instruction`, `example`, `table` or `column`. Empty for a line that cannot be read."""
    name: str
    """Name of the entry. Empty for a line that cannot be read."""
    outcome: Outcome
    """`same` changes nothing."""
    reason: str | None
    """Why the entry is refused. Null if it is not."""


class KnowledgeImported(ResponseBody):
    """What an import did, or would do."""

    stored: bool
    """The new and changed entries are stored. False for a dry run, and while a line is refused."""
    new: int
    """Number of new entries."""
    changed: int
    """Number of entries that change a stored one."""
    same: int
    """Number of entries that are stored already."""
    refused: int
    """Number of refused entries and lines."""
    entries: list[ImportedEntryBody]
    """Every entry, in the order of the file."""


@router.get(
    "/file",
    summary="Export the knowledge of a database",
    dependencies=[READ],
    response_class=Response,
    responses={200: {"content": {"text/csv": {}, "text/markdown": {}}, "description": "The file."}},
)
async def export_knowledge(wanted: Annotated[ExportQuery, Query()], owner: Owner, files: Files) -> Response:
    """Returns a file with the verified examples, the glossary, the instructions, at most a thousand of each,
    and the descriptions and units of tables and columns. Needs scope `read`.

    In CSV, text that a spreadsheet would run as a formula has an apostrophe before it, which an import takes
    off again.
    """
    text = await files.export(owner, wanted.db_connection_id, wanted.format)
    name = f'attachment; filename="knowledge.{_ENDINGS[wanted.format]}"'
    return Response(text, media_type=_MEDIA_TYPES[wanted.format], headers={"Content-Disposition": name})


@router.post("/file", summary="Import the knowledge of a database", dependencies=[MANAGE])
async def import_knowledge(body: KnowledgeImport, owner: Owner, files: Files) -> KnowledgeImported:
    """Reports for each entry of a file whether it is new, changes a stored one, is the same, or is refused,
    with its line; unless `dry_run`, stores them. Needs scope `manage`; owner of the connection only (else
    403).

    While a line is refused, nothing is stored. Nothing is ever deleted, and an empty cell changes nothing.
    Answers 422 `file-not-knowledge` for a file without entries.
    """
    entries = await files.load(
        owner, body.db_connection_id, body.text, file_format=body.format, dry_run=body.dry_run
    )
    return _imported(entries, dry_run=body.dry_run)


def _imported(entries: list[ImportedEntry], *, dry_run: bool) -> KnowledgeImported:
    outcomes = [each.outcome for each in entries]
    refused = outcomes.count("refused")
    return KnowledgeImported(
        stored=not dry_run and refused == 0,
        new=outcomes.count("new"),
        changed=outcomes.count("changed"),
        same=outcomes.count("same"),
        refused=refused,
        entries=[ImportedEntryBody.model_validate(each) for each in entries],
    )
