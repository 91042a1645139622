"""Routes of database connections."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, status

from app.http.callers import ASK, MANAGE, READ, Owner
from app.http.entity_tags import located
from app.http.parameters import CreatedQuery, CreationSort, PageParameters
from app.http.rate_limits import count_question
from app.http.router import Router
from app.http.routes import PageOf
from app.modules.database_connection.schemas import (
    CheckedDatabaseBody,
    ConnectionBody,
    ConnectionChange,
    ConnectionStepBody,
    ConnectionStepsBody,
    ConnectionTest,
    DatabaseSchemaBody,
    DatabaseSchemasBody,
    InspectedStatementBody,
    NewConnection,
    NewStatement,
    ResultColumnBody,
    SampleBody,
    ScanBody,
    StepCountsBody,
    TableBody,
    TableChange,
)
from app.modules.database_connection.service import DatabaseConnections
from app.modules.database_connection.step_counts import count_steps

router = Router(prefix="/database-connections", tags=["database connections"])


async def _service(request: Request) -> DatabaseConnections:
    service: DatabaseConnections = request.app.state.services.database_connections
    return service


Service = Annotated[DatabaseConnections, Depends(_service)]
ConnectionId = Annotated[str, Path(description="Id of the connection.")]


class ConnectionsQuery(CreatedQuery):
    """Selects database connections, and a page of them."""

    sort: CreationSort = "created_at"


TableName = Annotated[str, Path(description="Name of the table, as the list of tables spells it.")]


@router.post(
    "",
    summary="Register a database",
    status_code=status.HTTP_201_CREATED,
    dependencies=[MANAGE, located("/database-connections/{id}")],
)
async def register_connection(body: NewConnection, owner: Owner, service: Service) -> ConnectionBody:
    """Tests the database with a read-only session and stores its URL encrypted. Needs scope `manage`.

    The schema is scanned when the first question needs it, or on request. Answers 422 if the URL is not
    supported (`database-url-not-supported`), if no session can be opened or a pattern of `schemas` fits none
    (`database-unreachable`), or if its account may not take one of the roles (`database-roles-refused`).
    """
    url = body.url.get_secret_value()
    roles = None if body.roles is None else body.roles.to_roles()
    connection = await service.register(
        owner,
        url,
        body.name,
        description=body.description,
        shared=body.shared,
        roles=roles,
        schemas=body.schemas,
    )
    return ConnectionBody.model_validate(connection)


@router.post("/test", summary="Test a database", dependencies=[MANAGE])
async def test_database(body: ConnectionTest, owner: Owner, service: Service) -> CheckedDatabaseBody:
    """Opens a read-only session, as registering does, and stores nothing. Needs scope `manage`.

    Answers 422 with the cause: `database-url-not-supported`, `database-unreachable` or
    `database-roles-refused`. With `db_connection_id`, owner only (else 403).
    """
    tested = await service.test(owner, body.url.get_secret_value(), body.db_connection_id)
    return CheckedDatabaseBody.model_validate(tested)


@router.post("/test/steps", summary="Test a database step by step", dependencies=[MANAGE])
async def test_database_steps(body: ConnectionTest, owner: Owner, service: Service) -> ConnectionStepsBody:
    """Tests what registering tests, one step after another, and says of each whether it passed. Stores
    nothing. Needs scope `manage`. With `db_connection_id`, owner only (else 403).

    The first that fails says why and what helps; those behind it are `skipped`. No text repeats a password.
    """
    steps = await service.test_steps(owner, body.url.get_secret_value(), body.db_connection_id)
    return ConnectionStepsBody(
        items=[ConnectionStepBody.model_validate(each) for each in steps],
        is_usable=all(each.state == "passed" for each in steps),
    )


@router.get("", summary="List database connections", dependencies=[READ])
async def list_connections(
    query: Annotated[ConnectionsQuery, Query()], owner: Owner, service: Service
) -> PageOf[ConnectionBody]:
    """Lists the caller's connections and those shared with all users, by default oldest first. Needs scope
    `read`.
    """
    found = await service.repository.page(owner, query.wanted())
    return query.page_of([ConnectionBody.model_validate(each) for each in found.items], found)


@router.get("/{db_connection_id}", summary="Get a database connection", dependencies=[READ])
async def read_connection(db_connection_id: ConnectionId, owner: Owner, service: Service) -> ConnectionBody:
    """Returns a connection of the caller, or a shared one. Needs scope `read`.

    The answer holds no secret: `masked_url` has no password. Any other connection is unknown (404).
    """
    return ConnectionBody.model_validate(await service.repository.get(owner, db_connection_id))


@router.patch("/{db_connection_id}", summary="Change a database connection", dependencies=[MANAGE])
async def change_connection(
    db_connection_id: ConnectionId, body: ConnectionChange, owner: Owner, service: Service
) -> ConnectionBody:
    """Changes a connection: all of the fields, or none if one is refused. Needs scope `manage`; owner only
    (else 403).

    A new `url` is tested before it replaces the old one, and a scan of it starts, as with `schemas`; what
    users have written of tables and columns of the same names is kept. A password is never returned, and
    never sent to another server than the one it was given for. Answers 422 as registering does, for a
    database of another dialect, and for `roles` of a connection that was registered without
    (`database-roles-refused`).

    All users can ask about a shared connection. Their sessions on one that is private again take no more
    questions (409 `connection-gone`).
    """
    url = None if body.url is None else body.url.get_secret_value()
    return ConnectionBody.model_validate(await service.change(owner, db_connection_id, body.edit(), url=url))


@router.delete(
    "/{db_connection_id}",
    summary="Delete a database connection",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[MANAGE],
)
async def delete_connection(db_connection_id: ConnectionId, owner: Owner, service: Service) -> None:
    """Deletes the connection with its scanned schema, examples, glossary and instructions, and stops a
    running scan. Needs scope `manage`; owner only (else 403). The database itself is not touched.

    Sessions on the connection stay readable; a new question in one of them answers 409 (`connection-gone`).
    """
    await service.delete(owner, db_connection_id)


@router.post(
    "/{db_connection_id}/scan",
    summary="Start a scan of the schema",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[MANAGE],
)
async def start_scan(db_connection_id: ConnectionId, owner: Owner, service: Service) -> ScanBody:
    """Starts to read the tables, keys and column values in the background. Needs scope `manage`; owner only
    (else 403).

    Answers 202 with the progress; a second request joins the running scan. Questions use the previous scan
    until the new one has found the tables. Answers 503 (`database-unavailable`) if the stored URL cannot be
    used.
    """
    return ScanBody.model_validate(await service.start_scan(owner, db_connection_id))


@router.get("/{db_connection_id}/scan", summary="Get the progress of the latest scan", dependencies=[READ])
async def read_scan(db_connection_id: ConnectionId, owner: Owner, service: Service) -> ScanBody:
    """Returns the state of the running or latest scan; poll it after starting one. Needs scope `read`.

    Questions can be asked as soon as the tables are known (`tables_total` is not null).
    """
    return ScanBody.model_validate(await service.scan_progress(owner, db_connection_id))


@router.delete(
    "/{db_connection_id}/scan",
    summary="Stop a running scan",
    status_code=status.HTTP_204_NO_CONTENT,
    dependencies=[MANAGE],
)
async def stop_scan(db_connection_id: ConnectionId, owner: Owner, service: Service) -> None:
    """Stops the scan that runs, if any, also a query of the catalog in the database. Needs scope `manage`;
    owner only (else 403).

    What was read is kept and can be asked about. The next scan begins with the tables whose values this one
    has not read.
    """
    await service.stop_scan(owner, db_connection_id)


@router.get("/{db_connection_id}/schemas", summary="List the schemas of the database", dependencies=[READ])
async def list_schemas(db_connection_id: ConnectionId, owner: Owner, service: Service) -> DatabaseSchemasBody:
    """Lists the schemas that the account may use, with the number of tables that the latest scan found in
    each. Needs scope `read`; owner only (else 403). Answers 503 (`database-unavailable`).
    """
    found = await service.database_schemas(owner, db_connection_id)
    return DatabaseSchemasBody(items=[DatabaseSchemaBody.model_validate(each) for each in found])


@router.get("/{db_connection_id}/tables", summary="List the scanned tables", dependencies=[READ])
async def list_tables(
    db_connection_id: ConnectionId, page: PageParameters, owner: Owner, service: Service
) -> PageOf[TableBody]:
    """Lists the tables and views that the latest scan found, by name, with columns, keys and value profiles.
    Needs scope `read`. The list is empty before the first scan.
    """
    tables, next_cursor = await service.editable_tables(
        owner, db_connection_id, page.limit, cursor=page.cursor
    )
    return PageOf(items=[TableBody.model_validate(table) for table in tables], next_cursor=next_cursor)


@router.get(
    "/{db_connection_id}/tables/{table_name:path}/sample",
    summary="Get sample rows of a table",
    dependencies=[READ],
)
async def sample_table(
    db_connection_id: ConnectionId, table_name: TableName, owner: Owner, service: Service
) -> SampleBody:
    """Runs a read-only query for the first 20 rows of a table, in no particular order. Needs scope `read`.

    Waits for the first scan if there was none. Answers 404 for an unknown table, 422 (`statement-failed`) and
    503 (`database-unavailable`).
    """
    result = await service.sample(owner, db_connection_id, table_name)
    return SampleBody(
        columns=[ResultColumnBody(name=column.name, type=column.type) for column in result.columns],
        rows=result.rows,
        truncated=result.truncated,
    )


@router.post(
    "/{db_connection_id}/statements",
    summary="Check a statement without running it",
    dependencies=[ASK, Depends(count_question)],
)
async def inspect_statement(
    db_connection_id: ConnectionId, body: NewStatement, owner: Owner, service: Service
) -> InspectedStatementBody:
    """Checks a statement with the guard and returns it formatted, with the tables and columns it reads and
    what each of its queries does. Needs scope `ask` and counts as a question. No model takes part, and
    nothing runs in the database, except that the first call may wait for the first scan.

    Answers 422 (`statement-failed`, with the reason) if the guard refuses the statement.
    """
    return InspectedStatementBody.model_validate(await service.inspect(owner, db_connection_id, body.sql))


@router.post(
    "/{db_connection_id}/statements/counts",
    summary="Count the rows of a statement step by step",
    dependencies=[ASK, Depends(count_question)],
)
async def count_steps_of_statement(
    db_connection_id: ConnectionId, body: NewStatement, owner: Owner, service: Service
) -> StepCountsBody:
    """Counts the rows of each source, after each join, after WHERE and after the groups. Needs scope `ask`
    and counts as a question.

    Each count is a statement of its own under the same guard and limits; all together take at most 30
    seconds. Answers 422 (`statement-failed`, with the reason) if the guard refuses the statement, and 503
    (`database-unavailable`).
    """
    return StepCountsBody.model_validate(await count_steps(service, owner, db_connection_id, sql=body.sql))


@router.patch(
    "/{db_connection_id}/tables/{table_name:path}",
    summary="Describe a table and its columns",
    dependencies=[MANAGE],
)
async def describe_table(
    db_connection_id: ConnectionId, table_name: TableName, body: TableChange, owner: Owner, service: Service
) -> TableBody:
    """Changes what users and the model read about a scanned table and its columns. Needs scope `manage`;
    owner only (else 403). Answers 404 if the latest scan found no table or column of this name.

    A hidden column is in no prompt, and statements, also those that people write, run as if the table had no
    such column.
    """
    table = await service.describe_table(
        owner, db_connection_id, table_name, description=body.description, columns=body.edits()
    )
    return TableBody.model_validate(table)
