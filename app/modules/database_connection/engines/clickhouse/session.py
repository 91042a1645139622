"""Statements in read-only sessions of ClickHouse."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, Error, StreamFailureError
from urllib3.exceptions import SSLError

from app.core.settings import MAX_RESULT_ROWS
from app.core.values.numbers import of_single_precision
from app.modules.database_connection.engines.clickhouse.types import column_type
from app.modules.database_connection.engines.databases import stopped
from app.modules.database_connection.results import RawRows
from app.modules.database_connection.threads import Stop
from graph.errors import DatabaseUnavailable, StatementFailed

_Rows: TypeAlias = Iterable[Sequence[object]]

_QUERY = re.compile(r"[\s(]*(SELECT|WITH|EXPLAIN)\b", re.IGNORECASE)
_SAID = re.compile(r"Code: \d+\. DB::Exception: (?P<said>.*?)(?:\. )?\([A-Z_]+\)", re.DOTALL)
_SAID_CODE = re.compile(r"Code: (\d+)\. DB::Exception")
_STOPPED = {159, 160, 394}
_TOO_MUCH_READ = "Add filters, best on the columns that the table is sorted or partitioned by."
_CURES: Mapping[int, str] = {
    60: "If it was removed since the last scan, scan the database again",
    158: _TOO_MUCH_READ,
    241: "Add filters, or aggregate earlier",
    307: _TOO_MUCH_READ,
    497: "An administrator allows KAI's account to read it: GRANT SELECT ON the table TO the account",
}
"""What helps, by ClickHouse's code of an error."""
_UNAVAILABLE: Mapping[int, str] = {
    81: "the server has no database of this name",
    192: "the user name or the password is wrong",
    193: "the user name or the password is wrong",
    194: "the user name or the password is wrong",
    202: "it runs too many statements now; try again in a moment",
    516: "the user name or the password is wrong",
}


@dataclass(kw_only=True)
class ClickhouseSession:
    """Session for one statement. The server takes one statement a request, and refuses all but reading."""

    client: Client
    stop: Stop
    _opened: ExitStack = field(default_factory=ExitStack, init=False)
    _reading: bool = field(default=False, init=False)

    def execute(self, sql: str) -> RawRows:
        if not _QUERY.match(sql):
            raise StatementFailed("Only queries may run: SELECT, WITH ... SELECT, and EXPLAIN of them.")
        settings = {
            "max_execution_time": int(self.stop.seconds) + 1,  # in case this process dies
            # The summary comes before the rows: it counts all that was read only if the server waits with
            # them, and it keeps no more of them than any limit of a result allows.
            "wait_end_of_query": 1,
            "limit": MAX_RESULT_ROWS + 1,
        }
        with _translate_errors(self.stop):
            found = self.client.query_row_block_stream(sql, settings=settings)
            blocks = self._opened.enter_context(found)
            self._reading = True
        names = list(blocks.source.column_names)
        kinds = [each.name for each in blocks.source.column_types]
        return RawRows(
            names,
            [column_type(kind) for kind in kinds],
            self._fetch(blocks, kinds),
            rows_read=_count_of(blocks.source.summary, "read_rows"),
            bytes_read=_count_of(blocks.source.summary, "read_bytes"),
        )

    def _fetch(self, blocks: Iterable[_Rows], kinds: Sequence[str]) -> Iterator[Sequence[object]]:
        are_single = [kind.endswith(("Float32", "Float32)")) for kind in kinds]
        with _translate_errors(self.stop):
            for block in blocks:
                for row in block:
                    yield [
                        of_single_precision(cell) if is_single and isinstance(cell, float) else cell
                        for cell, is_single in zip(row, are_single, strict=True)
                    ]
        self._reading = False

    def abandon(self, cancel: Callable[[], None]) -> None:
        """Stop the statement if rows are left: closing the answer reads all of them."""
        if self._reading:
            cancel()
        with suppress(ClickHouseError):
            self._opened.close()


def _count_of(summary: Mapping[str, object], name: str) -> int | None:
    """Returns a count that the server has reported. None if it has not."""
    found = str(summary.get(name, ""))
    return int(found) if found.isdecimal() else None


@contextmanager
def _translate_errors(stop: Stop) -> Iterator[None]:
    """Raises `StatementFailed` and `DatabaseUnavailable` in place of the driver's errors."""
    try:
        yield
    except ClickHouseError as error:
        raise _translated(error, stop) from None


def _translated(error: ClickHouseError, stop: Stop) -> StatementFailed | DatabaseUnavailable:
    said = str(error)
    found = _SAID_CODE.search(said)
    code = int(found[1]) if found else _code(error)
    if stop.due or code in _STOPPED:
        return stopped(stop)
    if code is None or code in _UNAVAILABLE:
        return DatabaseUnavailable(f"The database cannot be used: {cause(error)}.")
    message = _SAID.search(said)
    parts = (message["said"] if message else "The statement failed", _CURES.get(code))
    return StatementFailed(". ".join(part.strip().rstrip(".") for part in parts if part) + ".")


def _code(error: Exception) -> int | None:
    return error.code if isinstance(error, Error) else None


def has_failed_encryption(error: Exception) -> bool:
    """True if the connection ended before its encryption began. The driver's own text does not say so."""
    return isinstance(getattr(error.__cause__, "reason", error.__cause__), SSLError)


def cause(error: Exception) -> str:
    """Returns why the server cannot be used, without secrets."""
    code = _code(error)
    if isinstance(error, StreamFailureError) and code is None:
        return "the server broke the connection off"
    if code is not None and code in _UNAVAILABLE:
        return _UNAVAILABLE[code]
    if code == 164 or "readonly" in str(error).lower():
        return "its account has readonly = 1, so that KAI can set no limits; readonly = 2 allows it"
    if has_failed_encryption(error):
        return "no agreement on encryption was reached; see the parameter secure"
    if code is not None:
        return "the server refused the connection"
    return "nothing listens at this host and port, or it did not answer in time"
