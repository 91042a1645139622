"""A fake of Snowflake's server: fakesnow, which runs statements on DuckDB, and what it lacks.

Runs in an environment of its own (`snowflake_server.py`). Added here are accounts, roles and warehouses,
statements in the background, their status, their limit of time, cancelling, and the formats of TO_CHAR.
"""

import asyncio
import gzip
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import fakesnow.server
import jwt
import uvicorn
from fakesnow.dialect import parse_one
from fakesnow.instance import FakeSnow
from snowflake.connector.errors import ProgrammingError
from sqlglot import exp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

USER, PASSWORD, TOKEN = "ANALYST", "s3cret/with@signs", "a-token-that-is-valid"
ROLES = {"READER": ("SELECT", "USAGE"), "OWNER": ("SELECT", "INSERT", "OWNERSHIP"), "PUBLIC": ("USAGE",)}
_NO_WAREHOUSE = "No active warehouse selected in the current session."
_QUOTA = "Warehouse 'CAPPED' cannot be resumed because resource monitor 'MONTH' has exceeded its quota."
_WAREHOUSES: Mapping[str, tuple[str, str] | None] = {
    "ASKING": None,
    "SUSPENDED": ("000606", _NO_WAREHOUSE),
    "CAPPED": ("090073", _QUOTA),
}
_FORMATS = {"YYYY": "%Y", "MM": "%m", "DD": "%d"}
_FORMAT = re.compile("|".join(_FORMATS), re.IGNORECASE)
_PRIMARY_KEYS = """
select * from (values ('PUBLIC', 'CUSTOMERS', 'ID', 1), ('PUBLIC', 'ORDERS', 'ID', 1))
as t("schema_name", "table_name", "column_name", "key_sequence")"""
_IMPORTED_KEYS = """
select * from (values ('PUBLIC', 'CUSTOMERS', 'ID', 'PUBLIC', 'ORDERS', 'CUSTOMER_ID', 1, 'FK'))
as t("pk_schema_name", "pk_table_name", "pk_column_name", "fk_schema_name", "fk_table_name", "fk_column_name",
    "key_sequence", "fk_name")"""


@dataclass
class Session:
    warehouse: str | None
    role: str
    parameters: Mapping[str, Any]


@dataclass
class Run:
    """A statement. `ended_by` is a code and a message of the server's own."""

    token: str
    task: "asyncio.Task[Any] | None" = None
    ended_by: tuple[str, str] | None = None
    response: dict[str, Any] = field(default_factory=dict)


sessions: dict[str, Session] = {}
runs: dict[str, Run] = {}
keys: list[str] = []


def failure(code: str, message: str) -> dict[str, Any]:
    return {"success": False, "code": code, "message": message, "data": {"errorCode": code, "sqlState": "0"}}


def own_answer(sql: str, session: Session, connection: Any) -> str | None:
    """Returns the statement to run in place of one that fakesnow does not know."""
    asked = " ".join(sql.lower().split())
    if "to_char(" in asked:
        return write_formats(sql)
    if "query_history" in asked:
        return f"select {sum(each.task is not None and not each.task.done() for each in runs.values())}"
    if "current_warehouse()" in asked:
        names = connection.database if connection.database_set else None, session.warehouse
        return f"select {', '.join('null' if each is None else repr(each) for each in names)}"
    if asked == "select current_role()":
        return f"select {session.role!r}"
    if asked.startswith("show primary keys"):
        return _PRIMARY_KEYS
    if asked.startswith("show imported keys"):
        return _IMPORTED_KEYS
    if asked.startswith("show grants to role"):
        rights = ", ".join(f"('{each}', 'TABLE')" for each in ROLES[session.role])
        return f'select * from (values {rights}) as t("privilege", "granted_on")'
    return None


async def body_of(request: Request) -> dict[str, Any]:
    body = await request.body()
    if request.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    found: dict[str, Any] = json.loads(body)
    return found


def refusal(data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the code and the message of a sign-in that fails."""
    authenticator = str(data.get("AUTHENTICATOR") or "SNOWFLAKE").upper()
    if str(data.get("LOGIN_NAME", USER)).upper() != USER:
        return "390100", "Incorrect username or password was specified."
    if authenticator == "SNOWFLAKE_JWT":
        try:
            jwt.decode(data["TOKEN"], keys[0], algorithms=["RS256"])
        except jwt.PyJWTError:
            return "390144", "JWT token is invalid. [7fb87e37-2f26-4a10-9f9c-72276ea898bf]"
        return None
    if authenticator in {"OAUTH", "PROGRAMMATIC_ACCESS_TOKEN"}:
        if data.get("TOKEN") == TOKEN:
            return None
        return "390318", "OAuth access token expired. [7fb87e37-2f26-4a10-9f9c-72276ea898bf]"
    if data.get("PASSWORD") != PASSWORD:
        return "390100", "Incorrect username or password was specified."
    return None


async def login(request: Request) -> JSONResponse:
    data = (await body_of(request))["data"]
    role = request.query_params.get("roleName") or "READER"
    if refused := refusal(data):
        return JSONResponse(failure(*refused))
    if role.upper() not in ROLES:
        said = f"Role '{role}' specified in the connect string does not exist or not authorized."
        return JSONResponse(failure("390189", said))
    answer = json.loads(bytes((await fakesnow.server.login_request(request)).body))
    token = answer["data"]["token"]
    connection = fakesnow.server.sessions[token]
    if connection.database_set and not connection.schema_set:
        with suppress(ProgrammingError), connection.cursor() as cursor:
            cursor.execute("use schema public")  # as Snowflake does
    warehouse = (request.query_params.get("warehouse") or "").upper()
    sessions[token] = Session(
        warehouse if warehouse in _WAREHOUSES else None, role.upper(), data["SESSION_PARAMETERS"]
    )
    answer["data"] |= {"masterToken": "master", "validityInSeconds": 3600, "masterValidityInSeconds": 14400}
    answer["data"]["sessionId"] = 1
    answer["data"]["sessionInfo"] = {
        "databaseName": connection.database if connection.database_set else None,
        "schemaName": connection.schema if connection.schema_set else None,
        "warehouseName": sessions[token].warehouse,
        "roleName": role.upper(),
    }
    return JSONResponse(answer)


async def execute(request: Request, run: Run, seconds: float) -> None:
    work = asyncio.create_task(fakesnow.server.query_request(request))
    await asyncio.wait([work], timeout=seconds or None)
    if not work.done():
        run.ended_by = ("000630", f"Statement reached its timeout of {seconds:g} second(s) and was canceled.")
        interrupt(run)
    answer = await work
    run.response = failure(*run.ended_by) if run.ended_by else json.loads(bytes(answer.body))


def interrupt(run: Run) -> None:
    fakesnow.server.sessions[run.token]._duck_conn.interrupt()


async def query(request: Request) -> JSONResponse:
    asked = await body_of(request)
    token = fakesnow.server.to_token(request)
    session = sessions[token]
    parameters = {**session.parameters, **(asked.get("parameters") or {})}
    sql = asked["sqlText"]
    if (own := own_answer(sql, session, fakesnow.server.sessions[token])) is not None:
        request._body = json.dumps({**asked, "sqlText": own}).encode()
        request.scope["headers"] = [
            each for each in request.scope["headers"] if each[0].lower() != b"content-encoding"
        ]
        request.__dict__.pop("_headers", None)
    run = Run(token)
    query_id = str(uuid4())
    reads_tables = " from " in " ".join(sql.lower().split()) and "information_schema" not in sql.lower()
    stops = (
        (_WAREHOUSES[session.warehouse] if session.warehouse else ("000606", _NO_WAREHOUSE))
        if reads_tables
        else None
    )
    runs[query_id] = run
    if stops:
        run.response = failure(*stops)
    else:
        seconds = float(parameters.get("STATEMENT_TIMEOUT_IN_SECONDS", 0))
        run.task = asyncio.create_task(execute(request, run, seconds))
    if asked.get("asyncExec"):
        data = {"queryId": query_id, "getResultUrl": f"/queries/{query_id}/result"}
        return JSONResponse({"success": True, "code": "333334", "message": "in progress", "data": data})
    return await result_of(query_id)


async def result_of(query_id: str) -> JSONResponse:
    run = runs[query_id]
    if run.task:
        await run.task
    if run.response.get("data"):
        run.response["data"]["queryId"] = query_id
    return JSONResponse(run.response)


async def result(request: Request) -> JSONResponse:
    return await result_of(request.path_params["query_id"])


async def status(request: Request) -> JSONResponse:
    query_id = request.path_params["query_id"].strip("/")
    run = runs[query_id]
    found = {"id": query_id, "status": "RUNNING"}
    if run.task is None or run.task.done():
        found["status"] = "SUCCESS" if run.response.get("success") else "FAILED_WITH_ERROR"
        if not run.response.get("success"):
            found |= {"errorCode": run.response["code"], "errorMessage": run.response["message"]}
    return JSONResponse({"success": True, "data": {"queries": [found]}})


async def abort(request: Request) -> JSONResponse:
    run = runs[request.path_params["query_id"]]
    run.ended_by = ("000604", "SQL execution canceled")
    interrupt(run)
    return JSONResponse({"success": True, "data": None})


class _Server(uvicorn.Server):
    async def startup(self, *arguments: Any, **options: Any) -> None:
        await super().startup(*arguments, **options)
        sys.stdout.write("ready\n")
        sys.stdout.flush()


def write_formats(sql: str) -> str:
    """Returns a statement whose TO_CHAR with a format is DuckDB's function: fakesnow drops the format."""
    tree = parse_one(sql)
    for call in list(tree.find_all(exp.ToChar)):
        form = call.args.get("format")
        if isinstance(form, exp.Literal):
            text = _FORMAT.sub(lambda found: _FORMATS[found[0].upper()], form.name)
            made = exp.Anonymous(this="STRFTIME", expressions=[call.this.copy(), exp.Literal.string(text)])
            call.replace(made)
    return str(tree.sql(dialect="snowflake"))


def main(port: int, folder: Path) -> None:
    keys.append((folder / "key.pem").read_text(encoding="ascii"))
    fakesnow.server.shared_fs = FakeSnow(create_database_on_connect=False, create_schema_on_connect=False)
    connection = fakesnow.server.shared_fs.connect()
    with connection.cursor() as cursor:
        for statement in (folder / "script.sql").read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                cursor.execute(statement)
    own = [
        Route("/session/v1/login-request", login, methods=["POST"]),
        Route("/queries/v1/query-request", query, methods=["POST"]),
        Route("/queries/{query_id}/result", result, methods=["GET"]),
        Route("/queries/{query_id}/abort-request", abort, methods=["POST"]),
        Route("/monitoring/queries/{query_id:path}", status, methods=["GET"]),
    ]
    app = Starlette(routes=[*own, *fakesnow.server.routes])
    server = _Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
    server.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
