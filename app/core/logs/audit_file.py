"""File of the audit log: append-only, mode 0600, reopened after rotation."""

import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

from app.core.errors import CannotRun
from app.core.logs.lines import AuditLines

_PRIVATE = 0o600

logger = logging.getLogger(__name__)


class AuditFileClosed(CannotRun):
    """KAI_AUDIT__FILE cannot be written."""


class AuditFile(WatchedFileHandler):
    """Logging handler. Raises `AuditFileClosed` on construction, before the first statement is recorded."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path, encoding="utf-8")
        except OSError as error:
            raise AuditFileClosed(
                f"The audit log cannot be written to {path} ({os.strerror(error.errno or 0)}). "
                "Set KAI_AUDIT__FILE to a file in a folder that KAI may write."
            ) from error
        self.setFormatter(AuditLines())

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _PRIVATE)
        os.fchmod(descriptor, _PRIVATE)  # for a file that existed before
        return os.fdopen(descriptor, "a", encoding=self.encoding)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # the file is missing and its folder is not writable
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Write to the ordinary log what the file cannot take, for example when the disk is full."""
        _, error, _ = sys.exc_info()
        logger.error("the audit log cannot be written", exc_info=error)
        logging.getLogger().handle(record)
