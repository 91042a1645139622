"""Statements in sessions of Snowflake. They run in the background, so that they can be cancelled."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from snowflake.connector import SnowflakeConnection
from snowflake.connector.cursor import SnowflakeCursor
from snowflake.connector.errors import Error

from app.modules.database_connection.engines.databases import SCAN_AGAIN, stopped
from app.modules.database_connection.engines.snowflake.types import result_type
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

_QUERY = re.compile(r"[\s(]*(SELECT|WITH|EXPLAIN)\b", re.IGNORECASE)
_PROCEDURE = re.compile(r"\bAS\s+PROCEDURE\b", re.IGNORECASE)
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.02, 0.5
_BLOCK_ROWS = 1_000
_HEAD = re.compile(r"^(?:\d{6}(?: \(\w+\))?: ?)+")
_IDS = re.compile(r"\s*\((?:request_id|sfqid)=[^)]*\)\s*$")
_STOPPED = {604, 630}
_ROLE_CURE = "An administrator allows KAI's role to read it: GRANT SELECT ON the table TO ROLE the role."
_CURES: Mapping[int, str] = {2003: f"{SCAN_AGAIN} Or: {_ROLE_CURE}", 3001: _ROLE_CURE}
"""What helps, by Snowflake's number of an error."""
_NO_WAREHOUSE = (
    "the warehouse is suspended or the role may not use it; an administrator resumes it (ALTER WAREHOUSE its "
    "name SET AUTO_RESUME = TRUE) or allows it (GRANT USAGE ON WAREHOUSE its name TO ROLE the role)"
)
_UNAVAILABLE: Mapping[int, str] = {
    606: _NO_WAREHOUSE,
    90073: "the warehouse has used up the quota of its resource monitor; an administrator raises it",
    390189: (
        "the role does not exist, or the user may not take it; GRANT ROLE its name TO USER the user allows it"
    ),
    390201: _NO_WAREHOUSE,
    390422: "a network policy of the account does not let KAI's address in",
}
_BAD_SECRETS = {390100, 390101, 390144, 390303, 390318}
_BAD_TOKENS = range(394300, 394500)
_SECRETS: Mapping[str, str] = {
    "password": "the user name or the password is wrong",
    "private_key": (
        "the private key is not the user's, or it was replaced; ALTER USER its name SET RSA_PUBLIC_KEY takes "
        "the public key of it"
    ),
    "token": "the token is wrong or has expired; make a new one and change the address of the database",
}
"""What is wrong, by what the user signs in with."""
NO_ENCRYPTION = "no agreement on encryption was reached"


class StoppableCursor(SnowflakeCursor):
    """Cursor whose statements are stopped in the server when `stop` is due."""

    stop: Stop

    def execute(  # type: ignore[override]  # one statement, no file
        self, operation: str, parameters: Sequence[Any] | dict[str, Any] | None = None
    ) -> "StoppableCursor":
        """Run one statement to its end. Raises the driver's errors."""
        limit = {"STATEMENT_TIMEOUT_IN_SECONDS": int(self.stop.seconds) + 1}
        started = self.execute_async(operation, parameters, 1, _statement_params=limit)
        query = str(started["queryId"])
        wait = _FIRST_WAIT_SECONDS
        while self.connection.is_still_running(self.connection.get_query_status(query)):
            if self.stop.due:
                self.abort_query(query)
                break
            time.sleep(wait)
            wait = min(wait * 1.5, _LONGEST_WAIT_SECONDS)
        self.query_result(query)
        return self


class StoppableConnection(SnowflakeConnection):
    """Connection whose cursors are stoppable."""

    def __init__(self, stop: Stop, **options: Any) -> None:
        self.stop = stop
        super().__init__(**options)

    def cursor(self) -> StoppableCursor:  # type: ignore[override]  # of one class
        cursor: StoppableCursor = super().cursor(StoppableCursor)
        cursor.stop = self.stop
        return cursor


@dataclass(frozen=True)
class SnowflakeSession:
    """Session for one statement. Only queries are sent; the role is what refuses all else in the server."""

    connection: StoppableConnection
    stop: Stop
    secret: str
    """Name of what the user signs in with."""

    def execute(self, sql: str) -> RawRows:
        if not _QUERY.match(sql) or _PROCEDURE.search(sql):
            raise StatementFailed("Only queries may run: SELECT, WITH ... SELECT, and EXPLAIN of them.")
        cursor = self.connection.cursor()
        with self._translate_errors():
            cursor.execute(sql)
            described = cursor.description or ()
        kinds = [result_type(each.type_code, each.scale) for each in described]
        are_json = [kind == "json" for kind in kinds]
        return RawRows([each.name for each in described], kinds, self._fetch(cursor, are_json))

    def _fetch(self, cursor: StoppableCursor, are_json: Sequence[bool]) -> Iterator[Sequence[object]]:
        while not self.stop.due:
            with self._translate_errors():
                block = cursor.fetchmany(_BLOCK_ROWS)
            for row in block:
                yield [_read_json(cell) if each else cell for cell, each in zip(row, are_json, strict=True)]
            if len(block) < _BLOCK_ROWS:
                return
        raise stopped(self.stop)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raises `StatementFailed` and `DatabaseUnavailable` in place of the driver's errors."""
        try:
            yield
        except Error as error:
            raise _translated(error, self.stop, self.secret) from None


def _translated(error: Error, stop: Stop, secret: str) -> StatementFailed | DatabaseUnavailable:
    if stop.due or error.errno in _STOPPED:
        return stopped(stop)
    if error.errno in _UNAVAILABLE or error.errno in _BAD_SECRETS or _is_transport(error):
        return DatabaseUnavailable(f"The database cannot be used: {cause(error, secret)}.")
    parts = (_message(error), _CURES.get(error.errno))
    return StatementFailed(". ".join(part.strip().rstrip(".") for part in parts if part) + ".")


def _message(error: Error) -> str:
    """Returns the server's message without codes and ids."""
    return _HEAD.sub("", _IDS.sub("", str(error))).removeprefix("SQL compilation error:").strip()


def cause(error: Error, secret: str) -> str:
    """Returns why the server cannot be used, without secrets."""
    if error.errno in _UNAVAILABLE:
        return _UNAVAILABLE[error.errno]
    if error.errno in _BAD_SECRETS or error.errno in _BAD_TOKENS:
        return _SECRETS[secret]
    said = str(error).lower()
    if "404" in said:
        return "Snowflake has no account of this name"
    if any(each in said for each in ("certificate", "tls", "ssl")):
        return NO_ENCRYPTION
    if _is_transport(error):
        return "nothing listens at this host and port, or it did not answer in time"
    return "the server refused the connection"


def _is_transport(error: Error) -> bool:
    return 250_000 <= (error.errno or 0) < 251_000


def _read_json(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return cell
