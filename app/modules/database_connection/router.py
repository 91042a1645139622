"""Routes of database connections."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from app.http.callers import ASK, MANAGE, READ, Owner
from app.http.problems import PROBLEM_RESPONSES
from app.http.routes import PageOf, PageQuery
from app.modules.database_connection.schemas import (
    ConnectionBody,
    ConnectionChange,
    InspectedStatementBody,
    NewConnection,
    NewStatement,
    ResultColumnBody,
    SampleBody,
    ScanBody,
    TableBody,
    TableChange,
)
from app.modules.database_connection.service import DatabaseConnections

router = APIRouter(prefix="/database-connections", tags=["database connections"], responses=PROBLEM_RESPONSES)


def _service(request: Request) -> DatabaseConnections:
    service: DatabaseConnections = request.app.state.services.database_connections
    return service


Service = Annotated[DatabaseConnections, Depends(_service)]
Page = Annotated[PageQuery, Query()]


@router.post("", status_code=status.HTTP_201_CREATED, dependencies=[MANAGE])
async def register(body: NewConnection, owner: Owner, service: Service) -> ConnectionBody:
    """Try a database, then keep its URL, encrypted."""
    url = body.url.get_secret_value()
    connection = await service.register(owner, url, body.name, body.description, body.shared)
    return ConnectionBody.model_validate(connection)


@router.get("", dependencies=[READ])
async def list_connections(page: Page, owner: Owner, service: Service) -> PageOf[ConnectionBody]:
    connections, next_cursor = await service.page(owner, page.limit, page.cursor)
    items = [ConnectionBody.model_validate(connection) for connection in connections]
    return PageOf(items=items, next_cursor=next_cursor)


@router.get("/{connection_id}", dependencies=[READ])
async def read_connection(connection_id: str, owner: Owner, service: Service) -> ConnectionBody:
    return ConnectionBody.model_validate(await service.get(owner, connection_id))


@router.patch("/{connection_id}", dependencies=[MANAGE])
async def change_connection(
    connection_id: str, body: ConnectionChange, owner: Owner, service: Service
) -> ConnectionBody:
    """Share a connection with everybody, or no more; its owner alone may."""
    return ConnectionBody.model_validate(await service.share(owner, connection_id, body.shared))


@router.delete("/{connection_id}", status_code=status.HTTP_204_NO_CONTENT, dependencies=[MANAGE])
async def delete_connection(connection_id: str, owner: Owner, service: Service) -> None:
    """Forget a connection and its tables; its sessions stay readable."""
    await service.delete(owner, connection_id)


@router.post("/{connection_id}/scan", status_code=status.HTTP_202_ACCEPTED, dependencies=[MANAGE])
async def start_scan(connection_id: str, owner: Owner, service: Service) -> ScanBody:
    """Begin to read the schema anew, in the background; descriptions given by people stay."""
    return ScanBody.model_validate(await service.start_scan(owner, connection_id))


@router.get("/{connection_id}/scan", dependencies=[READ])
async def read_scan(connection_id: str, owner: Owner, service: Service) -> ScanBody:
    """How far the latest scan is; questions can be asked of the tables that are known already."""
    return ScanBody.model_validate(await service.scan_progress(owner, connection_id))


@router.get("/{connection_id}/tables", dependencies=[READ])
async def list_tables(connection_id: str, page: Page, owner: Owner, service: Service) -> PageOf[TableBody]:
    """The tables that the last scan has found, by name."""
    tables, next_cursor = await service.tables(owner, connection_id, page.limit, page.cursor)
    return PageOf(items=[TableBody.model_validate(table) for table in tables], next_cursor=next_cursor)


@router.get("/{connection_id}/tables/{table_name:path}/sample", dependencies=[READ])
async def sample_table(connection_id: str, table_name: str, owner: Owner, service: Service) -> SampleBody:
    """The first rows of a table, in no order, read through the guard and its limits."""
    result = await service.sample(owner, connection_id, table_name)
    return SampleBody(
        columns=[ResultColumnBody(name=column.name, type=column.type) for column in result.columns],
        rows=result.rows,
        truncated=result.truncated,
    )


@router.post("/{connection_id}/statements", dependencies=[ASK])
async def inspect_statement(
    connection_id: str, body: NewStatement, owner: Owner, service: Service
) -> InspectedStatementBody:
    """Check a statement without running it: laid out for reading, with the tables and columns it reads."""
    return InspectedStatementBody.model_validate(await service.inspect(owner, connection_id, body.sql))


@router.patch("/{connection_id}/tables/{table_name:path}", dependencies=[MANAGE])
async def describe_table(
    connection_id: str, table_name: str, body: TableChange, owner: Owner, service: Service
) -> TableBody:
    table = await service.describe_table(owner, connection_id, table_name, body.description)
    return TableBody.model_validate(table)
