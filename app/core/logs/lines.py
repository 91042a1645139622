"""Formatters of log records: JSON for programs, text for people. Both redact secrets and escape control
characters."""

import json
import re
from datetime import datetime
from logging import LogRecord

from pythonjsonlogger.core import RESERVED_ATTRS, LogData
from pythonjsonlogger.json import JsonFormatter

from app.core.logs.ids import ids_bound
from app.core.logs.redaction import inert, redacted, traceback_without_values

_NAMES = {"levelname": "level", "name": "logger", "exc_info": "traceback"}
_HEAD = ("time", "level", "logger", "message")


PLAIN = re.compile(r"[A-Za-z_]{1,10}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An id or a short word, which holds no secret. To look for one takes longer than to format the value."""


class JsonLines(JsonFormatter):
    """JSON lines: time, level, logger and message, then the bound ids, then the fields of the record."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname)s %(name)s %(message)s",
            rename_fields=_NAMES,
            timestamp="time",
            reserved_attrs=[*RESERVED_ATTRS, "color_message"],  # uvicorn's own
        )

    def formatException(self, ei: object) -> str:  # noqa: N802 - logging's name
        match ei:
            case (_, BaseException() as error, _):
                return traceback_without_values(error)
        return ""

    def add_fields(self, log_data: LogData, record: LogRecord, message_dict: LogData) -> None:
        super().add_fields(log_data, record, message_dict)
        if record.name == "asyncio":  # the other lines repeat the text of an exception
            log_data["message"] = str(log_data["message"]).partition("\n")[0]

    def process_log_record(self, log_data: LogData) -> LogData:
        head = {name: log_data.pop(name) for name in _HEAD}
        return {name: _safe(name, value) for name, value in {**head, **ids_bound(), **log_data}.items()}


class TextLines(JsonLines):
    """`14:03:12 WARNING app.core...: what happened (run_id=..., owner=...)`, in local time."""

    def jsonify_log_record(self, log_data: LogData) -> str:
        time, level, logger, message = (log_data.pop(name) for name in _HEAD)
        trace = log_data.pop("traceback", "")
        details = ", ".join(f"{name}={value}" for name, value in log_data.items())
        at = datetime.fromisoformat(str(time)).astimezone()
        line = f"{at:%H:%M:%S} {level} {logger}: {message}" + (f" ({details})" if details else "")
        return f"{line}\n{trace}" if trace else line


class AuditLines(JsonLines):
    """JSON lines of the audit log, without level and logger."""

    def process_log_record(self, log_data: LogData) -> LogData:
        safe = super().process_log_record(log_data)
        return {name: value for name, value in safe.items() if name not in ("level", "logger")}

    def jsonify_log_record(self, log_data: LogData) -> str:
        return json.dumps(log_data, ensure_ascii=False)


def _safe(name: str, value: object) -> object:
    match value:
        case str() if PLAIN.fullmatch(value):
            return value
        case bool() | int() | float() | None:
            return value
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case _ if name == "traceback":
            return redacted(str(value))
        case _:
            return inert(redacted(str(value)))
