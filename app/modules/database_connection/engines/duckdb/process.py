"""A DuckDB connection in a child process, which can be killed and has its own memory limit."""

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from app.modules.database_connection.limits import STATEMENT_MEMORY_BYTES

_CHILD = Path(__file__).parent / "child.py"
_PAIRS = TypeAdapter(list[tuple[JsonValue, JsonValue]])
_MEMORY_BYTES = 2 * STATEMENT_MEMORY_BYTES  # of the process; DuckDB does not count all its memory
_CONFIGURATION: Mapping[str, str | bool | int] = {
    "enable_external_access": False,  # no file, no network, no ATTACH, COPY, INSTALL or LOAD
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # no Python variable is a table
    "memory_limit": f"{STATEMENT_MEMORY_BYTES}B",
    "temp_directory": "",
    "threads": 2,
    "lock_configuration": True,
}


class ChildEnded(Exception):
    """The process was killed or exceeded its memory limit."""


class DuckdbRefused(Exception):
    """An error of DuckDB: the name of its class, and its message."""

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(said)
        self.kind = kind


class _Answer(BaseModel):
    """An answer of the child with one of these fields; empty after it has opened the file."""

    model_config = ConfigDict(extra="forbid")

    error: tuple[str, str] | None = None
    columns: list[tuple[str, str]] = []
    rows: list[list[JsonValue]] = []


@dataclass
class DuckdbProcess:
    """A child process. It starts with the first statement, and again with the first one after a kill.

    One thread makes requests; any thread may kill it. Requests raise `ChildEnded` and `DuckdbRefused`.
    """

    path: Path
    parquet: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The Parquet files of each table, in place of a DuckDB file."""
    columns: Sequence[tuple[str, str]] = ()
    """Name and type of each column of the last statement."""
    _process: "subprocess.Popen[str] | None" = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def open(self) -> None:
        with self._lock:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                cwd="/",
                env={},
            )
        self._ask(
            path=str(self.path),
            parquet={name: list(paths) for name, paths in self.parquet.items()},
            memory_bytes=_MEMORY_BYTES,
            configuration=dict(_CONFIGURATION),
        )

    def query(self, sql: str) -> None:
        """Run one query. Raises `DuckdbRefused` of kind `NotOneQuery` for anything else."""
        self._execute(sql=sql)

    def execute(self, sql: str, parameters: Sequence[JsonValue]) -> None:
        """Run a trusted statement with parameters."""
        self._execute(sql=sql, parameters=list(parameters))

    def fetch(self, rows: int) -> list[tuple[object, ...]]:
        """Returns at most this many of the remaining rows."""
        return [tuple(_value(cell) for cell in row) for row in self._ask(fetch=rows).rows]

    def kill(self) -> None:
        """Kill the process, if it runs."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        self.kill()
        with self._lock:
            if self._process is not None:
                self._process.communicate()
                self._process = None

    def _execute(self, **request: JsonValue) -> None:
        if self._process is None:
            self.open()
        self.columns = self._ask(**request).columns

    def _ask(self, **request: JsonValue) -> _Answer:
        child = self._process
        if child is None or child.stdin is None or child.stdout is None:
            raise ChildEnded
        try:
            child.stdin.write(json.dumps(request) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line.endswith("\n"):
            self.close()
            raise ChildEnded
        answer = _Answer.model_validate_json(line)
        if answer.error is not None:
            raise DuckdbRefused(*answer.error)
        return answer


def _value(cell: JsonValue) -> object:
    """Returns the Python value of a cell that the child has written as JSON."""
    match cell:
        case list():
            return [_value(each) for each in cell]
        case {"$": ["map", list(pairs)]}:
            return {str(_value(key)): _value(each) for key, each in _PAIRS.validate_python(pairs)}
        case {"$": [str(kind), str(text)]}:
            return _tagged(kind, text)
    return cell


def _tagged(kind: str, text: str) -> object:
    match kind:
        case "bytes":
            return base64.b64decode(text)
        case "date":
            return date.fromisoformat(text)
        case "datetime":
            return datetime.fromisoformat(text)
        case "decimal":
            return Decimal(text)
        case "float":
            return float(text)
        case "time":
            return time.fromisoformat(text)
    days, seconds, microseconds = map(int, text.split())
    return timedelta(days, seconds, microseconds)
