"""`kai check-sql`: the guard's verdict on statements, without running them."""

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import IO, Literal, TypeAlias

from pydantic import ValidationError
from pydantic_settings import SettingsError

from app.core.errors import Problem
from app.core.settings import read_settings
from app.core.variables import UnknownVariable, value_error_text, variable_error_text
from app.modules.database_connection.engines.urls import read_url
from app.modules.database_connection.guard.check import check, check_shape
from app.modules.database_connection.guard.plans import without_explain
from app.modules.database_connection.limits import STATEMENT_CHARACTERS, ConnectionLimits
from app.modules.database_connection.scan.read import scan
from app.modules.database_connection.schema import Schema
from app.modules.database_connection.threads import Stop
from app.modules.sql.engine_data import DIALECTS
from app.modules.sql_generation.checking.check import Checked
from app.modules.sql_generation.checking.check import check as check_names
from app.modules.sql_generation.checking.names import SchemaNames
from app.terminal.console import database_url, say
from graph.errors import DatabaseUnavailable, StatementRefused

ALLOWED = 0
BLOCKED = 1
UNUSABLE = 2
"""Exit code if not everything could be judged: wrong options, files or databases."""
_BROKEN_PIPE = 141

Layer = Literal["input", "parse", "statement", "function", "table", "column", "cost"]

# The layer that each of the guard's rules belongs to.
_LAYERS: Mapping[str, Layer] = {
    "comment": "parse",
    "length": "parse",
    "nesting": "parse",
    "syntax": "parse",
    "text": "parse",
    "construct": "statement",
    "not-a-query": "statement",
    "one-statement": "statement",
    "placeholder": "statement",
    "function": "function",
    "table": "table",
    "amplification": "cost",
    "unconnected-join": "cost",
}
_LONGEST_LINE = 16 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_Json: TypeAlias = str | int | float | bool | list["_Json"] | dict[str, "_Json"] | None


class Unusable(Exception):
    """The request cannot be carried out. The argument is a line for users."""


@dataclass(frozen=True)
class StatementVerdict:
    """A verdict. `layer` refused the statement because of `reason`; both are None if it is allowed."""

    layer: Layer | None = None
    reason: str | None = None


@dataclass(frozen=True)
class _Line:
    """A line of input: its statement, or the error in it."""

    id: _Json = None
    sql: str | None = None
    fault: str = ""


@dataclass(frozen=True)
class Judge:
    """Judges statements of a dialect; with a schema, their tables and columns, too."""

    dialect: str
    schema: Schema | None = None
    names: SchemaNames | None = None
    max_characters: int = STATEMENT_CHARACTERS

    def verdict(self, sql: str) -> StatementVerdict:
        try:
            if self.schema is None or self.names is None:
                check_shape(sql, self.dialect, self.max_characters)
                return StatementVerdict()
            check(sql, self.schema, self.max_characters)
            inner = without_explain(sql, self.dialect).sql
        except StatementRefused as refused:
            return StatementVerdict(_LAYERS[refused.rule], refused.detail)
        return _of_names(inner, check_names(inner, self.names), self.names)


def check_sql(sql: str | None, dialect: str | None, database: str | None, *, jsonl: str | None) -> int:
    """Print a verdict on one statement, or on each of a file of JSON lines. Returns the exit code."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what is refused anyway
    try:
        judge = replace(_judge(dialect, database), max_characters=_max_characters())
        return _judged(judge, sql, jsonl)
    except Unusable as unusable:
        sys.stderr.write(f"kai: {unusable}\n")
        return UNUSABLE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        return _BROKEN_PIPE


def _max_characters() -> int:
    """The longest statement that the settings allow. Raises `Unusable` for settings that cannot be read."""
    try:
        return read_settings().limits.statement_chars
    except ValidationError as error:
        raise Unusable(value_error_text(error)) from None
    except SettingsError as error:
        raise Unusable(variable_error_text(error)) from None
    except UnknownVariable as error:
        raise Unusable(str(error)) from None


def _judged(judge: Judge, sql: str | None, jsonl: str | None) -> int:
    if jsonl is not None and sql is None:
        return _judge_lines(judge, jsonl)
    if jsonl is not None or sql is None:
        raise Unusable(
            "Give either one statement or --jsonl, as in: kai check-sql --dialect sqlite 'SELECT 1'"
        )
    verdict = judge.verdict(sql)
    said = "allow" if verdict.layer is None else f"block ({verdict.layer}): {verdict.reason}"
    say(" ".join(said.split()))
    return ALLOWED if verdict.layer is None else BLOCKED


def _of_names(sql: str, checked: Checked, names: SchemaNames) -> StatementVerdict:
    """Returns the verdict on the names. In PostgreSQL a name in another case is an error. Other databases
    accept it, and KAI corrects text in double quotes.
    """
    if checked.faults:
        return StatementVerdict(
            "table" if checked.faults[0].kind == "unknown table" else "column", checked.report
        )
    if names.dialect == "postgres" and checked.sql != sql:
        return StatementVerdict(
            "column", f"A name is not written as the database has it; this is right: {checked.sql}"
        )
    return StatementVerdict()


def _judge(dialect: str | None, database: str | None) -> Judge:
    if dialect is None:
        raise Unusable(f"--dialect is missing: {', '.join(DIALECTS)}.")
    if dialect not in DIALECTS:
        raise Unusable(f"--dialect is one of {', '.join(DIALECTS)}, not {dialect!r}.")
    if database is None:
        return Judge(dialect)
    if "://" not in database and not Path(database).expanduser().is_file():
        raise Unusable(f"--db names a file that does not exist: {database}")
    try:
        opened = read_url(database_url(database))
        if opened.dialect != dialect:
            raise Unusable(f"--db is a {opened.dialect} database, but --dialect says {dialect}.")
        schema = scan(opened, ConnectionLimits(profile_seconds=0), Stop())
    except Problem as error:
        raise Unusable(_named(database, error.detail)) from None
    except DatabaseUnavailable as error:
        raise Unusable(_named(database, error.detail)) from None
    return Judge(dialect, schema, SchemaNames(schema))


def _named(database: str, detail: str) -> str:
    """Returns the error, with the file's name, but never with the URL of a server, which may hold a
    password.
    """
    file = database.rpartition(":///")[2]
    return detail if "@" in database or "://" in file else f"{detail} (--db {file})"


def _judge_lines(judge: Judge, source: str) -> int:
    number = 0
    for number, line in _lines(source):
        say(json.dumps(_answer(judge, number, line)))
    if number == 0:
        sys.stderr.write(f"kai: {_spoken(source)} holds no lines; nothing was checked.\n")
    return ALLOWED


def _answer(judge: Judge, number: int, line: bytes | None) -> dict[str, _Json]:
    """Returns a line of output for any line of input."""
    found = _read(line)
    if found.sql is None:
        verdict = StatementVerdict("input", f"Line {number} cannot be read: {found.fault}.")
    else:
        verdict = judge.verdict(found.sql)
    return {
        "id": found.id,
        "verdict": "allow" if verdict.layer is None else "block",
        "reason": verdict.reason,
        "layer": verdict.layer,
    }


def _read(line: bytes | None) -> _Line:
    if line is None:
        return _Line(fault=f"it is longer than {_LONGEST_LINE // 1024 // 1024} MiB")
    try:
        found: _Json = json.loads(line.decode(), parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError:
        return _Line(fault="it is not UTF-8")
    except json.JSONDecodeError as error:
        return _Line(fault=f"it is no JSON ({error.msg}, character {error.pos + 1})")
    except ValueError as error:
        return _Line(fault=f"it is no JSON ({error})")
    except RecursionError:
        return _Line(fault="its JSON is nested too deeply")
    if not isinstance(found, dict):
        return _Line(fault="it is no JSON object")
    sql = found.get("sql")
    if isinstance(sql, str):
        return _Line(found.get("id"), sql)
    return _Line(found.get("id"), fault="its sql is no text" if "sql" in found else "it has no sql")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _no_constant(text)


def _lines(source: str) -> Iterator[tuple[int, bytes | None]]:
    """Yields lines that are not blank, with their numbers from 1; None in place of a line that is
    too long.
    """
    with _opened(source) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            too_long = len(line) == _LONGEST_LINE and not line.endswith(b"\n")
            while too_long and (rest := file.readline(_LONGEST_LINE)):
                if rest.endswith(b"\n"):
                    break
            text = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if too_long or text.strip():
                yield number, None if too_long else text


@contextmanager
def _opened(source: str) -> Iterator[IO[bytes]]:
    if source == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise Unusable("Standard input is closed; --jsonl - reads from it.")
        yield sys.stdin.buffer
        return
    try:
        with Path(source).open("rb") as file:
            yield file
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else "it is no name of a file"
        raise Unusable(f"--jsonl {source} cannot be read: {said}.") from None


def _spoken(source: str) -> str:
    return "Standard input" if source == "-" else source
