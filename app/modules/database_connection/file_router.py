"""Routes of uploaded files."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Depends, Path, Query, Request, status
from starlette.requests import ClientDisconnect

from app.http.callers import MANAGE, Owner
from app.http.entity_tags import located
from app.http.router import Router
from app.http.routes import Text
from app.modules.database_connection.file_connections import FileConnections
from app.modules.database_connection.file_schemas import FileBody, FileCorrection
from app.modules.database_connection.model import Connection
from app.modules.database_connection.schemas import ConnectionBody
from app.modules.database_connection.uploads.errors import FileNotReadable
from app.modules.database_connection.uploads.model import ImportReport

UPLOAD_PATH = "/database-connections/files"

router = Router(prefix="/database-connections", tags=["database connections"])


async def _service(request: Request) -> FileConnections:
    service: FileConnections = request.app.state.services.file_connections
    return service


Service = Annotated[FileConnections, Depends(_service)]
ConnectionId = Annotated[str, Path(description="Id of the connection.")]


@router.post(
    "/files",
    summary="Make a database of a file",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/database-connections/{connection[id]}/file")],
    openapi_extra={
        "requestBody": {
            "description": "The file's bytes.",
            "required": True,
            "content": {
                "application/octet-stream": {
                    "schema": {"type": "string", "format": "binary"},
                    "example": "day,amount\n2026-01-31,12.50\n",
                }
            },
        }
    },
)
async def upload_file(
    request: Request,
    owner: Owner,
    service: Service,
    *,
    file_name: Annotated[
        Text,
        Query(
            min_length=1,
            max_length=255,
            description="Name of the file; its ending says what it is: .csv, .tsv, .txt, .xlsx or .parquet.",
        ),
    ],
    name: Annotated[
        Text | None,
        Query(min_length=1, max_length=200, description="Name for users. Default: the file's name."),
    ] = None,
) -> FileBody:
    """Reads a CSV, Excel or Parquet file into a database of the caller, who alone sees it, and answers with
    the types that were inferred from all cells, with samples. Needs scope `manage`.

    The body is the file itself. Types are corrected by `PATCH .../file`. Answers 413 above
    `KAI_UPLOADS__MAX_BYTES`, 422 (`file-not-readable`) with the reason and the cure, 429 (`upload-quota`,
    `upload-under-way`), 403 (`uploads-off`).
    """
    connection, reading = await service.create(
        owner, file_name, _content(request), name=name, is_abandoned=request.is_disconnected
    )
    return _body(connection, reading)


@router.get("/{db_connection_id}/file", summary="Get how a file was read", dependencies=[MANAGE])
async def read_file(db_connection_id: ConnectionId, owner: Owner, service: Service) -> FileBody:
    """Returns the tables of an uploaded file with the types of their columns, samples, and the cells that do
    not fit. Needs scope `manage`; owner only (else 403). Answers 404 for a database that was registered by
    its URL.
    """
    return _body(*await service.read(owner, db_connection_id))


@router.patch("/{db_connection_id}/file", summary="Correct the types of a file", dependencies=[MANAGE])
async def correct_file(
    db_connection_id: ConnectionId, body: FileCorrection, owner: Owner, service: Service
) -> FileBody:
    """Reads the uploaded file again with these types, replaces the database and scans it again. Needs scope
    `manage`; owner only (else 403).

    Cells that do not fit become NULL and are counted in `not_fitting`, with samples. The corrections replace
    all earlier ones. Answers 422 (`file-not-readable`) for an unknown table or column; the database is then
    as it was.
    """
    corrections = [each.to_correction() for each in body.tables]
    return _body(*await service.correct(owner, db_connection_id, corrections))


async def _content(request: Request) -> AsyncGenerator[bytes]:
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise FileNotReadable("The upload was interrupted.") from None


def _body(connection: Connection, reading: ImportReport) -> FileBody:
    return FileBody(
        version=connection.version,
        connection=ConnectionBody.model_validate(connection),
        tables=list(reading.tables),
        notes=list(reading.notes),
    )
