"""ClickHouse's own engine, chdb, behind its HTTP interface: `python -m tests.support.clickhouse_server`.

chdb has the parser, the functions, the settings and the limits of a server, but no accounts and no HTTP. Both
are made here: one account, the parameters of a request as settings of its statement, and the refusal of INTO
OUTFILE, which only clients write.
"""

import base64
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from app.core.servers import free_port
from tests.support.fakes import run_fake, statements_of

if TYPE_CHECKING:
    from chdb.state.sqlitelike import Connection

ACCOUNT = "analyst:s3cret/with@signs"
_NO_SETTINGS = {
    "wait_end_of_query",
    "client_protocol_version",
    "database",
    "default_format",
    "query",
    "query_id",
    "session_id",
}
_STREAMED = re.compile(r"^[\s(]*(SELECT|WITH)\b", re.IGNORECASE)
_OUTFILE = re.compile(r"\bINTO\s+OUTFILE\b", re.IGNORECASE)
_CODE = re.compile(r"Code: (\d+)\.")
_FORBIDDEN = "Code: 516. DB::Exception: analyst: Authentication failed. (AUTHENTICATION_FAILED)"


@dataclass(frozen=True)
class ClickhouseServer:
    port: int

    def url(self, database: str = "shop") -> str:
        return f"clickhouse://analyst:s3cret%2Fwith%40signs@127.0.0.1:{self.port}/{database}"

    def run(self, script: str, database: str = "shop") -> None:
        """Run statements, each of which ends a line with a semicolon, with the right to write."""
        import clickhouse_connect

        dsn = self.url(database).replace("clickhouse", "http", 1)
        with closing(clickhouse_connect.get_client(dsn=dsn, settings={"mutations_sync": 2})) as client:
            for statement in statements_of(script):
                client.command(statement)


@contextmanager
def clickhouse_server(script: str) -> Iterator[ClickhouseServer]:
    """A server in a process of its own, which has run the statements of a script."""
    server = ClickhouseServer(free_port())
    with tempfile.TemporaryDirectory(prefix="kai-clickhouse-") as folder:
        (Path(folder) / "script.sql").write_text(script, encoding="utf-8")
        command = [sys.executable, "-m", __name__, str(server.port), folder]
        with run_fake(command):
            yield server


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = ""

    def do_POST(self) -> None:
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        sql = "\n".join(part for part in (parameters.get("query"), body) if part)
        basic = base64.b64encode(ACCOUNT.encode()).decode()
        if self.headers.get("Authorization") != f"Basic {basic}":
            self._fail(_FORBIDDEN)
            return
        from chdb.state.sqlitelike import connect

        if _OUTFILE.search(sql):
            self._fail("Code: 358. DB::Exception: INTO OUTFILE is not allowed. (INTO_OUTFILE_NOT_ALLOWED)")
            return
        connection = connect(self.folder)
        try:
            _prepare(connection, parameters)
            self._answer(connection, sql, parameters)
        except RuntimeError as error:
            self._fail(str(error))
        finally:
            connection.close()

    def _answer(self, connection: "Connection", sql: str, parameters: Mapping[str, str]) -> None:
        form = self.headers.get("X-ClickHouse-Format") or parameters.get("default_format", "TabSeparated")
        if not _STREAMED.match(sql):
            self._begin(form)
            self._send_whole(connection.query(sql, form).bytes())
            return
        if parameters.get("wait_end_of_query") == "1":
            # The server holds the answer, so that its head says what was read for it.
            whole = connection.query(sql, form)
            read = {"read_rows": whole.storage_rows_read(), "read_bytes": whole.storage_bytes_read()}
            self._begin(form, {name: str(count) for name, count in read.items()})
            self._send_whole(whole.bytes())
            return
        with connection.send_query(sql, form) as found:
            chunk = found.fetch()  # an error comes before the first byte
            data = b"" if chunk is None else chunk.bytes()
            self._begin(form)
            try:
                self._send(data or connection.query(sql, form).bytes())  # the names of columns without rows
                while data and (chunk := found.fetch()) is not None and (data := chunk.bytes()):
                    self._send(data)
                self._send(b"")
            except (RuntimeError, OSError):  # an error after rows: a server breaks the answer off, too
                self.close_connection = True

    def _begin(self, form: str, summary: Mapping[str, str] | None = None) -> None:
        self.send_response(200)
        if summary:
            self.send_header("X-ClickHouse-Summary", json.dumps(summary))
        self.send_header("X-ClickHouse-Format", form)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _send_whole(self, data: bytes) -> None:
        if data:  # a piece without bytes ends the answer
            self._send(data)
        self._send(b"")

    def _send(self, data: bytes) -> None:
        self.wfile.write(b"%X\r\n%s\r\n" % (len(data), data))

    def _fail(self, said: str) -> None:
        code = _CODE.search(said)
        body = said.encode()
        self.send_response(500)
        self.send_header("X-ClickHouse-Exception-Code", code[1] if code else "1000")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _prepare(connection: "Connection", parameters: Mapping[str, str]) -> None:
    if database := parameters.get("database"):
        connection.query(f"USE `{database}`")
    settings = [f"{name} = '{value}'" for name, value in parameters.items() if name not in _NO_SETTINGS]
    if settings:
        connection.query(f"SET {', '.join(settings)}")


def main(port: int, folder: str) -> None:
    from chdb.state.sqlitelike import connect

    _Requests.folder = f"{folder}/data"
    connection = connect(_Requests.folder)
    for statement in statements_of((Path(folder) / "script.sql").read_text(encoding="utf-8")):
        connection.query(statement)
    server = ThreadingHTTPServer(("127.0.0.1", port), _Requests)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
